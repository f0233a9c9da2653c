"""Parameters of ``/v1``: parsed strictly, as they need not follow Connect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Path, Query
from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from connect_core.errors import BadRequestError
from connect_core.rest.entities import Body
from connect_core.rest.links import Links

__all__ = ["FromRequest", "Limit", "Page", "Sequence", "checked"]

_LARGEST = 2**63 - 1

Limit = Annotated[int, Query(ge=1, le=1000, description="Maximum number of results")]
Sequence = Annotated[int, Path(ge=1, le=_LARGEST, description="Number of the interval")]


@dataclass(frozen=True, slots=True)
class _Wanted:
    limit: int
    before: int | None


def _page(
    limit: Limit = 50,
    before: Annotated[int | None, Query(ge=1, le=_LARGEST, description="The `next` of the previous page")] = None,
) -> _Wanted:
    return _Wanted(limit, before)


Page = Annotated[_Wanted, Depends(_page)]
"""A page of a list: at most ``limit`` lines, older than ``before``."""

Entity = TypeVar("Entity", bound=BaseModel)
"""The type of a body."""


def checked(kind: type[Entity], body: Body) -> Entity:
    """Parse and return a body. Raise BadRequestError with each error and its place."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        found = [f"{'.'.join(map(str, one['loc'])) or 'the body'}: {one['msg']}" for one in error.errors()]
        raise BadRequestError("; ".join(found)) from error


def _links(request: Request) -> Links:
    links: Links = request.app.state.links
    return links


FromRequest = Annotated[Links, Depends(_links)]
"""The links to pages outside the API."""

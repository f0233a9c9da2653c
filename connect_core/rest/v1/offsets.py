"""Previews of changed offsets, rewinding to an interval, and the history of offsets."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from connect_core.errors import BadRequestError
from connect_core.herder import offsets, rewind
from connect_core.herder.context import Herder
from connect_core.rest.access import Editor, Reader
from connect_core.rest.answers import answer
from connect_core.rest.entities import Body
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.openapi_extra import request_body
from connect_core.rest.routes.parameters import Name
from connect_core.rest.v1.entities import (
    OffsetsPreviewRequest,
    RewindRequest,
)
from connect_core.rest.v1.parameters import Page, checked

__all__ = ["list_moves", "preview", "rewind_to", "router"]

router = APIRouter(prefix="/v1/connectors/{connector}", route_class=ConnectRoute, tags=["beyond Connect"])


def _wanted(body: Body) -> OffsetsPreviewRequest:
    wanted = checked(OffsetsPreviewRequest, body)
    if [wanted.to is not None, wanted.reset, wanted.offsets is not None].count(True) != 1:
        raise BadRequestError("Give one of: to (an interval), reset (true), offsets (as for PATCH)")
    return wanted


def _target(body: Body) -> RewindRequest:
    return checked(RewindRequest, body)


@router.post(
    "/offsets/preview",
    summary="What a change of offsets would read again",
    response_model=rewind.OffsetsPreview,
    openapi_extra=request_body(OffsetsPreviewRequest),
)
def preview(connector: Name, herder: Reader, wanted: Annotated[OffsetsPreviewRequest, Depends(_wanted)]) -> Response:
    """Return which intervals and how many records would be read again; changes nothing."""
    return answer(_previewed(herder, connector, wanted))


def _previewed(herder: Herder, connector: str, wanted: OffsetsPreviewRequest) -> rewind.OffsetsPreview:
    if wanted.to is not None:
        return rewind.preview_rewind(herder, connector, wanted.to)
    if wanted.offsets is None:
        return rewind.preview_reset(herder, connector)
    return rewind.preview_alter(herder, connector, wanted.offsets)


@router.post(
    "/rewind",
    summary="Rewind the offsets to the start of an interval",
    response_model=rewind.Rewound,
    openapi_extra=request_body(RewindRequest),
)
def rewind_to(connector: Name, herder: Editor, target: Annotated[RewindRequest, Depends(_target)]) -> Response:
    """Move a stopped connector's offsets back to those before an interval."""
    return answer(rewind.rewind(herder, connector, target.to))


@router.get("/offsets/history", summary="Changes of a connector's offsets", response_model=offsets.OffsetMoveList)
def list_moves(connector: Name, herder: Reader, page: Page) -> Response:
    """Return the moves of offsets, each with its cause, its actor and both offsets, the newest first."""
    return answer(offsets.list_moves(herder, connector, page.limit, page.before))

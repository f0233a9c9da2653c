"""A connector's offsets: read, alter, reset (KIP-875)."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response
from typing_extensions import TypedDict

from connect_core.herder import offsets
from connect_core.herder.offsets import ConnectorOffsets
from connect_core.rest.access import Editor, Reader
from connect_core.rest.answers import answer
from connect_core.rest.entities import OffsetsBody
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.openapi_extra import request_body
from connect_core.rest.routes.parameters import Name

__all__ = ["Message", "alter_offsets", "get_offsets", "reset_offsets", "router"]

router = APIRouter(prefix="/connectors/{connector}/offsets", route_class=ConnectRoute, tags=["offsets"])


class Message(TypedDict):
    """A message about what was done."""

    message: str


@router.get("", summary="Offsets of a connector", response_model=ConnectorOffsets)
def get_offsets(connector: Name, herder: Reader) -> Response:
    """Return Connect's ``ConnectorOffsets``."""
    return answer(ConnectorOffsets(offsets=offsets.get(herder, connector)))


@router.patch(
    "",
    summary="Alter offsets of a stopped connector",
    response_model=Message,
    openapi_extra=request_body(ConnectorOffsets),
)
def alter_offsets(connector: Name, herder: Editor, entries: OffsetsBody) -> Response:
    """Alter offsets; null forgets one."""
    return answer(Message(message=offsets.alter(herder, connector, entries)))


@router.delete("", summary="Reset the offsets of a stopped connector", response_model=Message)
def reset_offsets(connector: Name, herder: Editor) -> Response:
    """Forget all offsets."""
    return answer(Message(message=offsets.reset(herder, connector)))

"""Going back: previews of changed offsets, rewinding to an interval, the history of offsets."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.responses import Response

from connect_core.errors import BadRequestError
from connect_core.herder import offsets, rewind
from connect_core.herder.context import Herder
from connect_core.rest.access import Editor, Reader
from connect_core.rest.answers import answer
from connect_core.rest.described import takes
from connect_core.rest.entities import Body
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.routes.parameters import Name
from connect_core.rest.v1.entities import (
    OffsetMoveList,
    OffsetsPreview,
    OffsetsPreviewRequest,
    RewindRequest,
    Rewound,
)
from connect_core.rest.v1.parameters import Page, checked

__all__ = ["list_moves", "preview", "rewind_to", "router"]

router = APIRouter(prefix="/v1/connectors/{connector}", route_class=ConnectRoute, tags=["beyond Connect"])


def _wanted(body: Body) -> OffsetsPreviewRequest:
    wanted = checked(OffsetsPreviewRequest, body)
    if [wanted.to is not None, wanted.reset, wanted.offsets is not None].count(True) != 1:
        raise BadRequestError("Say one of: to (an interval), reset (true), offsets (as for PATCH)")
    return wanted


def _target(body: Body) -> RewindRequest:
    return checked(RewindRequest, body)


@router.post(
    "/offsets/preview",
    summary="What a change of offsets would read again",
    response_model=OffsetsPreview,
    openapi_extra=takes(OffsetsPreviewRequest),
)
def preview(connector: Name, herder: Reader, wanted: Annotated[OffsetsPreviewRequest, Depends(_wanted)]) -> Response:
    """Change nothing: say which intervals and how many records would be read again."""
    return answer(_shown(_previewed(herder, connector, wanted)))


def _previewed(herder: Herder, connector: str, wanted: OffsetsPreviewRequest) -> rewind.Preview:
    if wanted.to is not None:
        return rewind.preview_rewind(herder, connector, wanted.to)
    if wanted.offsets is None:
        return rewind.preview_reset(herder, connector)
    return rewind.preview_alter(herder, connector, [one.model_dump() for one in wanted.offsets])


def _shown(found: rewind.Preview) -> dict[str, Any]:
    return {
        "changes": found.changes,
        "intervals": found.intervals,
        "records": found.records,
        "obstacle": found.obstacle,
    }


@router.post(
    "/rewind",
    summary="Read again from before an interval",
    response_model=Rewound,
    openapi_extra=takes(RewindRequest),
)
def rewind_to(connector: Name, herder: Editor, target: Annotated[RewindRequest, Depends(_target)]) -> Response:
    """Move a stopped connector's offsets to where they stood before an interval."""
    message, found = rewind.rewind(herder, connector, target.to)
    return answer({"message": message, "preview": _shown(found)})


@router.get("/offsets/history", summary="Moves of a connector's offsets", response_model=OffsetMoveList)
def list_moves(connector: Name, herder: Reader, page: Page) -> Response:
    """Return who moved which offset from where to where, the newest first."""
    moves = offsets.list_moves(herder, connector, page.limit + 1, page.before)
    shown = moves[: page.limit]
    lines = [
        {
            "id": one.id,
            "partition": one.partition,
            "before": one.before,
            "after": one.after,
            "cause": one.cause,
            "actor": one.actor,
            "sequence": one.sequence,
            "moved_at": one.moved_at,
        }
        for one in shown
    ]
    return answer({"moves": lines, "next": shown[-1].id if len(moves) > page.limit else None})

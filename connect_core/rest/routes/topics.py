"""The topics a connector has used (KIP-558)."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from connect_core.herder import topics
from connect_core.herder.context import Herder
from connect_core.herder.topics import ActiveTopics
from connect_core.rest.access import Editor, Reader
from connect_core.rest.answers import answer, empty
from connect_core.rest.errors import ForbiddenError
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.routes.parameters import Name

__all__ = ["get_topics", "reset_topics", "router"]

router = APIRouter(prefix="/connectors/{connector}/topics", route_class=ConnectRoute, tags=["topics"])


@router.get("", summary="Topics a connector has used", response_model=dict[str, ActiveTopics])
def get_topics(connector: Name, herder: Reader) -> Response:
    """Return the topics by the connector's name."""
    _ensure(herder, "topic.tracking.enable", "Topic tracking is disabled.")
    return answer({connector: ActiveTopics(topics=topics.list_active(herder, connector))})


@router.put("/reset", status_code=202, response_class=Response, summary="Reset the topics a connector has used")
def reset_topics(connector: Name, herder: Editor) -> Response:
    """Forget the topics; those used from now on are tracked again."""
    _ensure(herder, "topic.tracking.enable", "Topic tracking is disabled.")
    _ensure(herder, "topic.tracking.allow.reset", "Topic tracking reset is disabled.")
    topics.reset_active(herder, connector)
    return empty(202)


def _ensure(herder: Herder, setting: str, refusal: str) -> None:
    if not herder.worker.values[setting]:
        raise ForbiddenError(refusal)

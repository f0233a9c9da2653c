"""Dependencies that give a route its herder, only after checking the caller's right to what the route does.

A route declares it before its body, so that rights are checked before a body is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Annotated, Any

from fastapi import Depends
from starlette.requests import Request

from connect_core.errors import NotFoundError
from connect_core.herder.connectors import get_config
from connect_core.herder.context import Herder
from connect_core.herder.raw import RawConfig
from connect_core.rest.auth import Method
from connect_core.rest.errors import ForbiddenError

__all__ = [
    "Administrator",
    "Creator",
    "Deleter",
    "Editor",
    "Reader",
    "Visible",
    "create_access",
    "ensure_allowed",
    "ensure_settings_allowed",
]


def ensure_allowed(request: Request, method: Method, connector: str | None) -> Herder:
    """Return the herder acting on behalf of the caller. Raise ForbiddenError."""
    state = request.app.state
    caller = request.state.caller
    if not state.authorizer.allows(caller, method, connector):
        what = f"connector {connector}" if connector is not None else "this"
        raise ForbiddenError(f"User {caller.name} may not {_VERBS[method]} {what}", connector)
    made: Herder = state.herder_factory(caller.name)
    return made


def ensure_settings_allowed(request: Request, herder: Herder, connector: str, config: RawConfig) -> None:
    """Raise ForbiddenError for new settings that name pools or assets which the caller may not use."""
    given = {key: value for key in _FAR_REACHING if (value := config.get(key))}
    try:
        stored = get_config(herder, connector) if given else {}
    except NotFoundError:
        stored = {}
    fresh = {key: value for key, value in given.items() if value != stored.get(key)}
    refusal = request.app.state.authorizer.refusal(request.state.caller, connector, fresh) if fresh else None
    if refusal is not None:
        raise ForbiddenError(f"User {request.state.caller.name} may not {refusal}", connector)


_FAR_REACHING = ("schedule", "schedule.pool", "schedule.outlets")
_VERBS = {"GET": "see", "POST": "create", "PUT": "change", "DELETE": "delete"}


def create_access(method: Method) -> Callable[[Request], Herder]:
    """Return a dependency that checks a right to the connector of the path."""

    def herder(request: Request) -> Herder:
        return ensure_allowed(request, method, request.path_params.get("connector"))

    return herder


Reader = Annotated[Herder, Depends(create_access("GET"))]
Creator = Annotated[Herder, Depends(create_access("POST"))]
Editor = Annotated[Herder, Depends(create_access("PUT"))]
Deleter = Annotated[Herder, Depends(create_access("DELETE"))]


def _administrator(request: Request) -> Herder:
    caller = request.state.caller
    if not request.app.state.authorizer.allows(caller, "PUT", None):
        raise ForbiddenError(
            f"User {caller.name} may not read another cluster, which requires permission to change what belongs to no "
            "connector. Ask an administrator, or import the connectors that you may create, one by one"
        )
    return ensure_allowed(request, "PUT", None)


Administrator = Annotated[Herder, Depends(_administrator)]
"""Who may change what belongs to no connector: in Airflow, who may change its configuration."""


def _visible(request: Request) -> Callable[[Collection[str]], Collection[str]]:
    authorizer: Any = request.app.state.authorizer
    caller = request.state.caller
    return lambda names: authorizer.visible(caller, names)


Visible = Annotated[Callable[[Collection[str]], Collection[str]], Depends(_visible)]
"""Filters names of connectors: returns those that the caller may see."""

"""All routes of the API, in the order they are mounted."""

from __future__ import annotations

from functools import cache
from inspect import signature
from typing import Any

from fastapi import APIRouter
from starlette.routing import BaseRoute

from connect_core.rest import documentation
from connect_core.rest.answers import ErrorMessage
from connect_core.rest.routes import config, connectors, internal, lifecycle, loggers, offsets, plugins, root, topics
from connect_core.rest.v1 import configs as v1_configs
from connect_core.rest.v1 import connectors as v1_connectors
from connect_core.rest.v1 import intervals as v1_intervals
from connect_core.rest.v1 import metrics as v1_metrics
from connect_core.rest.v1 import migration as v1_migration
from connect_core.rest.v1 import offsets as v1_offsets
from connect_core.rest.v1 import slots as v1_slots
from connect_core.rest.v1 import verification as v1_verification

__all__ = ["routes"]

_CONNECT = (root, plugins, connectors, config, lifecycle, offsets, topics, loggers, internal)
_BEYOND = (v1_connectors, v1_intervals, v1_slots, v1_offsets, v1_configs, v1_metrics, v1_verification, v1_migration)

_ROUTERS = tuple(module.router for module in (*_CONNECT, *_BEYOND, documentation))
_ADMIN = loggers.router
"""The routes controlled by ``admin.listeners``."""

# FastAPI has it from 0.132 on; Airflow 3.1 uses an older version.
_STRICT: dict[str, Any] = {name: True for name in ("strict_content_type",) if name in signature(APIRouter).parameters}


@cache
def routes(*, has_admin: bool) -> tuple[BaseRoute, ...]:
    """Return the routes; cached and shared by all applications, as building them takes longest."""
    responses: dict[int | str, dict[str, Any]] = {
        "default": {"model": ErrorMessage, "description": "Why it was rejected"}
    }
    whole = APIRouter(responses=responses, **_STRICT)
    for router in _ROUTERS:
        if has_admin or router is not _ADMIN:
            whole.include_router(router)
    return tuple(whole.routes)

"""Every router of the API, in the order they are mounted."""

from __future__ import annotations

from connect_core.rest.routes import config, connectors, internal, lifecycle, loggers, offsets, plugins, root, topics

__all__ = ["ROUTERS"]

ROUTERS = tuple(
    module.router for module in (root, plugins, connectors, config, lifecycle, offsets, topics, loggers, internal)
)

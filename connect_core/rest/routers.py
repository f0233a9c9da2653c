"""Every router of the API, in the order they are mounted."""

from __future__ import annotations

from connect_core.rest import documentation
from connect_core.rest.routes import config, connectors, internal, lifecycle, loggers, offsets, plugins, root, topics
from connect_core.rest.v1 import configs as v1_configs
from connect_core.rest.v1 import connectors as v1_connectors
from connect_core.rest.v1 import intervals as v1_intervals
from connect_core.rest.v1 import metrics as v1_metrics
from connect_core.rest.v1 import offsets as v1_offsets

__all__ = ["ADMIN", "ROUTERS"]

_CONNECT = (root, plugins, connectors, config, lifecycle, offsets, topics, loggers, internal)
_BEYOND = (v1_connectors, v1_intervals, v1_offsets, v1_configs, v1_metrics)

ROUTERS = tuple(module.router for module in (*_CONNECT, *_BEYOND, documentation))
ADMIN = loggers.router
"""What ``admin.listeners`` is about."""

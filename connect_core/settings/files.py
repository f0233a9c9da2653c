"""Where a worker's settings come from: its properties file and the environment."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from connect_core.errors import ConfigError
from connect_core.java.properties import read_properties
from connect_core.settings.environment import WORKER_CONFIG_VARIABLE
from connect_core.settings.keys import WorkerMode
from connect_core.settings.worker import Resolve, WorkerSettings

__all__ = ["load_worker_settings", "log_worker_settings"]

_LOG = logging.getLogger(__name__)


def load_worker_settings(
    path: Path | None, environment: Mapping[str, str], mode: WorkerMode | None = None, resolve: Resolve = dict
) -> WorkerSettings:
    """Read a worker's file, by default ``CONNECT_WORKER_CONFIG``; log the keys without effect.

    Without a file, the environment must contain all settings. Raise ConfigError.
    """
    named = environment.get(WORKER_CONFIG_VARIABLE)
    file = path or (Path(named) if named else None)
    try:
        settings = WorkerSettings.from_properties(read_properties(file) if file else {}, environment, mode, resolve)
    except ConfigError as error:
        if file is None:
            remedy = f"Give a worker file as an argument or with {WORKER_CONFIG_VARIABLE}."
            raise ConfigError(f"{error}\n{remedy}") from error
        raise
    log_worker_settings(settings)
    return settings


def log_worker_settings(settings: WorkerSettings) -> None:
    """Log once, at warning level, each given key that has no effect."""
    for key, reason in settings.not_needed().items():
        _LOG.warning("Worker setting %s is not needed here: %s", key, reason)
    for key in settings.unknown():
        _LOG.warning("Worker setting %s is unknown and has no effect: check its spelling", key)

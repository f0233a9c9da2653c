"""The last good list of connectors, for parsing while the database is down."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from connect_core.errors import ConfigError, ConnectError
from connect_core.interval.values import ConnectorType
from connect_core.store.schedules import ScheduledConnector

__all__ = ["read_one_or_last_good", "read_or_last_good"]

_LOG = logging.getLogger(__name__)

Reader: TypeAlias = Callable[[], Sequence[ScheduledConnector]]


def read_or_last_good(read: Reader, file: Path) -> tuple[ScheduledConnector, ...]:
    """Return what ``read`` returns, by name, and save it in ``file``; if it fails, what was saved.

    Raises the reader's ConnectError when nothing was saved: an empty list would
    make Airflow drop every DAG.
    """
    try:
        connectors = tuple(sorted(read(), key=lambda connector: connector.name))
    except ConnectError as error:
        return _last_good(file, error)
    _keep(connectors, file)
    return connectors


def read_one_or_last_good(read: Reader, file: Path) -> tuple[ScheduledConnector, ...]:
    """Return what ``read`` returns, the connector of one DAG; if it fails, all that was saved.

    Raises the reader's ConnectError when nothing was saved.
    """
    try:
        return tuple(read())
    except ConnectError as error:
        return _last_good(file, error)


def _last_good(file: Path, error: ConnectError) -> tuple[ScheduledConnector, ...]:
    if not file.exists():
        raise error
    _LOG.warning("The DAGs are made from %s: %s", file, error)
    return _parse(file)


def _keep(connectors: Sequence[ScheduledConnector], file: Path) -> None:
    text = json.dumps([_to_json(connector) for connector in connectors], indent=1, sort_keys=True)
    if file.exists() and file.read_text() == text:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    # Several processes parse at once: a reader must never see half a file.
    with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=file.name, delete=False) as staged:
        staged.write(text)
    Path(staged.name).replace(file)


def _parse(file: Path) -> tuple[ScheduledConnector, ...]:
    try:
        return tuple(_from_json(entry) for entry in json.loads(file.read_text()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"Cannot read {file} ({error}): delete it once the database answers again.") from error


def _to_json(connector: ScheduledConnector) -> dict[str, Any]:
    return {**asdict(connector), "type": connector.type.value}


def _from_json(entry: dict[str, Any]) -> ScheduledConnector:
    return ScheduledConnector(**{**entry, "type": ConnectorType(entry["type"]), "outlets": tuple(entry["outlets"])})

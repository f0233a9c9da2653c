"""The duty of the housekeeping DAG that keeps histories from growing for ever."""

from __future__ import annotations

from connect_core.dag.wiring import open_database, worker_settings
from connect_core.store.retention import Retention, sweep

__all__ = ["sweep_histories"]


def sweep_histories() -> dict[str, int]:
    """Drop what ``history.retention.ms`` and ``history.retention.count`` no longer keep → how many lines went."""
    database = open_database()
    try:
        return sweep(database, Retention.of(worker_settings()))
    finally:
        database.close()

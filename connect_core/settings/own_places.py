"""The worker's own files and folders: state, settings, and code that is executed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from connect_core.settings.environment import WORKER_CONFIG_VARIABLE

__all__ = ["EXCLUDED", "database_files", "own_places"]

EXCLUDED = "file.roots.excluded"
_VARIABLES = (
    "AIRFLOW_HOME",
    "AIRFLOW_CONFIG",
    "AIRFLOW__CORE__DAGS_FOLDER",
    "AIRFLOW__CORE__PLUGINS_FOLDER",
    "CONNECT_AIRFLOW_PASSWORD_FILE",
    "CONNECT_HOME",
    "CONNECT_SECRET_KEY_FILE",
    WORKER_CONFIG_VARIABLE,
)
_OF_PROJECT = ("config", "dags", "plugins", ".venv", ".git")


def own_places(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the folders and files that an environment names as the worker's own; they need not exist."""
    for variable in _VARIABLES:
        if environment.get(variable):
            yield Path(environment[variable])
    project = environment.get("CONNECT_PROJECT")
    if project:
        yield from (Path(project, name) for name in _OF_PROJECT)


def database_files(database: Path) -> Iterator[Path]:
    """Yield an SQLite database file and the files SQLite creates beside it."""
    yield from (database.with_name(f"{database.name}{suffix}") for suffix in ("", "-journal", "-shm", "-wal"))

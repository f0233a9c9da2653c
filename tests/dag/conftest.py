"""Keeps Airflow, which unit tests only import, away from the user's own; starts a real one for those that ask."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="airflow-"))

from connect_core.dag.scheduler import AirflowScheduler
from connect_core.dag.wiring import airflow_api, worker_settings
from connect_core.dev.processes import marked
from connect_core.dev.services import AIRFLOW_NAMES, CELERY_NAMES
from connect_core.dev.stack import Stack
from connect_core.store import Database, migrate
from tests.conftest import ONE_AIRFLOW
from tests.dag.live import STUB, Live
from tests.dag.stub import stub_world
from tests.shared_servers import shared


@pytest.fixture(scope="session")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Airflow over the stand-in of the engine."""
    with shared(ONE_AIRFLOW, started(tmp_path_factory.mktemp("live"), ("postgres", *AIRFLOW_NAMES))) as stack:
        yield stack


@pytest.fixture(scope="module")
def live(airflow: Stack) -> Iterator[Live]:
    """What tests ask of it."""
    with opened(airflow) as found:
        yield found


@pytest.fixture(scope="module")
def live_celery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """The same on two Celery workers."""
    services = ("postgres", *AIRFLOW_NAMES, *CELERY_NAMES)
    # Shorter than in config/airflow.env, where a task without a heartbeat is found in 20 s, and a lost message in 60 s.
    settings = {
        "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor",
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "12",
        "CONNECT_RUN_LOST_AFTER_MS": "10000",
    }
    with started(tmp_path_factory.mktemp("celery"), services, settings) as stack, opened(stack) as found:
        yield found


@contextmanager
def started(folder: Path, services: tuple[str, ...], more: Mapping[str, str] | None = None) -> Iterator[Stack]:
    """Start a real Airflow for a block."""
    stub_folder = folder / "world"
    stub_folder.mkdir()
    settings = {
        "PYTHONPATH": f"{STUB}:{Path.cwd()}",
        "CONNECT_STUB_FOLDER": str(stub_folder),
        "AIRFLOW__DAG_PROCESSOR__DAG_VERSION_INFLATION_CHECK_LEVEL": "error",
        **(more or {}),
    }
    stack = Stack(folder / "stack", services=services, settings=settings)
    try:
        stack.up()
        yield stack
    finally:
        stack.down()
    assert marked(stack.home.path) == set()


@contextmanager
def opened(stack: Stack) -> Iterator[Live]:
    """Read its database and ask its Airflow for a block."""
    environment = stack.environment()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr(stub_world, "FOLDER", Path(environment["CONNECT_STUB_FOLDER"]))
        found = worker_settings()
        database = Database(found.database_url)
        migrate(database)
        scheduler = AirflowScheduler(airflow_api(found))
        # The API's part for tasks is built at its first request, which takes seconds.
        httpx.get(f"{found.values['airflow.url']}/execution/health", timeout=120)
        yield Live(stack, database, scheduler._api, scheduler)

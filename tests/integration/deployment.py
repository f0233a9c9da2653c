"""A whole deployment under test: herder, Airflow and the metadata database of one stack."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from connect_core.configs import load_worker, providers_of
from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.airflow_client import ServiceIdentity
from connect_core.dag.naming import dag_id_of
from connect_core.dag.scheduler import AirflowScheduler
from connect_core.herder.connectors import delete, put_config
from connect_core.herder.context import Herder
from connect_core.herder.rewriting import rewrite_offsets
from connect_core.herder.status import get_status
from connect_core.interval.values import IntervalState
from connect_core.kafka.internal_topics import create_internal_topics
from connect_core.settings import WorkerMode
from connect_core.store import Database, migrate
from connect_core.store.interval_history import PastInterval, list_intervals

Value = TypeVar("Value")
"""What is waited for."""


def eventually(read: Callable[[], Value], is_good: Callable[[Value], bool], seconds: float = 120) -> Value:
    """Read until the value is good and return it; fail with the last one."""
    end = time.monotonic() + seconds
    while True:
        value = read()
        if is_good(value):
            return value
        assert time.monotonic() < end, f"after {seconds} s still {value!r}"
        time.sleep(0.3)


@dataclass(frozen=True, slots=True)
class Deployment:
    """What a test asks of connectors that run through Airflow."""

    herder: Herder
    airflow: AirflowApi

    @classmethod
    def open(cls, environment: Mapping[str, str]) -> Deployment:
        """Migrate the stack's database, create the internal topics and return the deployment."""
        os.environ.update(environment)
        settings = load_worker(None, os.environ, WorkerMode.DISTRIBUTED)
        migrate(settings.database_url)
        create_internal_topics(settings)
        identity = ServiceIdentity(
            environment["CONNECT_AIRFLOW_URL"],
            environment["CONNECT_AIRFLOW_USER"],
            settings.airflow_password_file,  # type: ignore[arg-type]
        )
        api = AirflowApi(identity)
        providers = providers_of(settings, os.environ)
        database = Database(settings.database_url)
        return cls(Herder(database, settings, AirflowScheduler(api), rewrite_offsets, providers, "test"), api)

    @classmethod
    @contextmanager
    def in_environment(cls, environment: Mapping[str, str]) -> Iterator[Deployment]:
        """Open it with these variables also in this process's environment, until the block ends."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            yield cls.open(environment)

    def put(self, name: str, config: Mapping[str, str]) -> None:
        """Create the connector, as PUT /connectors/{name}/config does."""
        put_config(self.herder, name, dict(config))

    def delete(self, name: str) -> None:
        """Delete the connector."""
        delete(self.herder, name)

    def intervals(self, name: str) -> list[PastInterval]:
        """Return the connector's intervals, the oldest first."""
        with self.herder.database.read() as connection:
            return sorted(list_intervals(connection, name, 1000), key=lambda one: one.row.key.sequence)

    def committed(self, name: str) -> int:
        """Return how many records committed intervals have moved."""
        return sum(one.counts.records for one in self.intervals(name) if one.row.state is IntervalState.COMMITTED)

    def await_records(self, name: str, count: int, seconds: float = 180) -> int:
        """Wait until committed intervals have moved so many records."""
        try:
            return eventually(lambda: self.committed(name), lambda moved: moved >= count, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error} of {count}\n{self.picture(name)}") from None

    def picture(self, name: str) -> str:
        """Return what is known of a connector, for the message of a failed test."""
        told = [f"status: {get_status(self.herder, name).to_json()}"]
        told += [f"run {run_id}: {state}" for run_id, state in self.runs(name)]
        told += [f"{one.row.state} {one.row.key} by {one.worker}: {one.counts}" for one in self.intervals(name)]
        logs = Path(os.environ["CONNECT_HOME"]).glob(f"airflow*/**/dag_id={dag_id_of(name)}/**/*.log")
        for log in sorted(logs, key=lambda path: path.stat().st_mtime):
            told += [f"-- {log}", *log.read_text(errors="replace").splitlines()[-15:]]
        return "\n".join(told)

    def state(self, name: str) -> str:
        """Return the connector's state, as REST shows it."""
        return str(get_status(self.herder, name).to_json()["connector"]["state"])

    def runs(self, name: str) -> list[tuple[str, str]]:
        """Return the id and state of the connector's latest DAG runs."""
        return [(run.run_id, run.state) for run in self.airflow.latest_runs(dag_id_of(name), 10)]

"""A real Airflow over a stand-in of the engine, and what tests ask of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.naming import dag_id_of
from connect_core.dag.scheduler import AirflowScheduler
from connect_core.dev.stack import Stack
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import Database, connectors, dag_states
from tests.dag.stub import stub_world

Found = TypeVar("Found")
"""What is waited for."""

STUB = Path(__file__).with_name("stub")


def eventually(look: Callable[[], Found | None], seconds: float = 60.0) -> Found:
    """Wait until something is found and return it."""
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, "not found in time"
        time.sleep(0.05)


@dataclass
class Live:
    """Airflow, the metadata database and the stand-in's world."""

    stack: Stack
    database: Database
    api: AirflowApi
    scheduler: AirflowScheduler

    def create(self, name: str, **config: str) -> str:
        """Store a connector and deploy it → its DAG id."""
        with self.database.write() as connection:
            new = connectors.NewConfig(ConnectorType.SINK, config)
            connectors.create(connection, name, new, TargetState.STARTED)
        self.scheduler.deploy(name)
        return dag_id_of(name)

    def runs(self, name: str) -> list[dict[str, Any]]:
        """The runs of a connector that the stand-in saw."""
        return [event for event in stub_world.events(name) if event["event"] == "run"]

    def ended(self, name: str) -> list[dict[str, Any]]:
        """The ends of runs that the stand-in saw."""
        return [event for event in stub_world.events(name) if event["event"] == "end"]

    def task(self, name: str, run_id: str) -> dict[str, Any]:
        """The task of a run, as Airflow shows it."""
        found: dict[str, Any] = self.api.call(
            "GET", f"/dags/{dag_id_of(name)}/dagRuns/{quote(run_id, safe='')}/taskInstances/run"
        )
        return found

    def links(self, name: str, run_id: str) -> dict[str, str]:
        """The links on the page of a run's task."""
        path = f"/dags/{dag_id_of(name)}/dagRuns/{quote(run_id, safe='')}/taskInstances/run/links"
        found: dict[str, str] = self.api.call("GET", path)["extra_links"]
        return found

    def pool(self) -> dict[str, int]:
        """How many slots are taken."""
        found: dict[str, int] = self.api.call("GET", "/pools/default_pool")
        return found

    def is_watched(self, name: str) -> bool:
        """Whether something waits in the triggerer for work of the connector."""
        asset = f"work-{dag_id_of(name)}"
        answer = self.api.call("GET", "/assets", params={"name_pattern": asset})
        return any(one["watchers"] for one in answer["assets"] if one["name"] == asset)

    def asset_runs(self, name: str) -> list[str]:
        """The ids of the runs that were made because there was work."""
        runs = self.api.latest_runs(dag_id_of(name), 100)
        return [run.run_id for run in runs if run.run_type == "asset_triggered"]

    def state(self, name: str, run_id: str) -> str:
        """The state of a run's task."""
        return str(self.task(name, run_id)["state"])

    def until_state(self, name: str, run_id: str, *states: str) -> str:
        """Wait for one of the states."""
        return eventually(lambda: next((one for one in states if self.state(name, run_id) == one), None), 60.0)

    def mark(self, name: str, run_id: str, state: str) -> None:
        """Do what Airflow's button does."""
        path = f"/dags/{dag_id_of(name)}/dagRuns/{quote(run_id, safe='')}/taskInstances/run"
        self.api.call("PATCH", path, json={"new_state": state})

    def is_mirrored_as_paused(self, name: str) -> bool | None:
        """What the mirror says."""
        with self.database.read() as connection:
            return {dag.connector: dag.is_paused for dag in dag_states.list_dags(connection)}.get(name)

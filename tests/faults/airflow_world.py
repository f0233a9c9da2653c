"""The whole stack under faults: Airflow starts the runs, and nobody but Airflow starts them again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.airflow_client import ServiceIdentity
from connect_core.dag.scheduler import AirflowScheduler
from connect_core.dev.services import AIRFLOW_NAMES
from connect_core.errors import ConnectError
from connect_core.herder.lifecycle import stop
from tests.faults.world import CHECKOUT, World


@dataclass(slots=True)
class AirflowWorld(World):
    """A world whose connectors are DAGs: ``drive`` deploys one, and healing is the scheduler's."""

    api: AirflowApi = field(init=False)
    deployed: list[str] = field(default_factory=list)

    def __enter__(self) -> AirflowWorld:
        """Start the servers."""
        self.services = (*self.services, *AIRFLOW_NAMES, "rest")
        # A run takes seconds to start.
        self.batches, self.pause_seconds = 40, 1.5
        World.__enter__(self)
        settings = self.herder.worker
        found = self.environment
        password = settings.airflow_password_file
        assert password is not None
        self.api = AirflowApi(ServiceIdentity(found["CONNECT_AIRFLOW_URL"], found["CONNECT_AIRFLOW_USER"], password))
        self.herder = replace(self.herder, scheduler=AirflowScheduler(self.api))
        return self

    def drive(self, connector: str, more: Mapping[str, str] | None = None, within: Sequence[str] = ()) -> None:
        """Deploy the connector's DAG."""
        self.deployed.append(connector)
        self.herder.ask("deploy", connector)

    def heal(self, *connectors: str) -> None:
        """Leave it to Airflow."""

    def end_drivers(self) -> None:
        """Stop what was deployed."""
        for connector in self.deployed:
            with suppress(ConnectError):
                stop(self.herder, connector)
        self.deployed = []

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        """Start one more scheduler."""
        with (self.folder / "drivers.log").open("ab") as output:
            command = [sys.executable, "-m", "airflow", "scheduler", "--skip-serve-logs"]
            return subprocess.Popen(command, cwd=CHECKOUT, env=self.whole(), stdout=output, stderr=output)

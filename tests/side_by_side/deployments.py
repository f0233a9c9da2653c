"""Whatever serves Connect's REST API, and how it is taken down and brought up again."""

from __future__ import annotations

import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from connect_core.dev.stack import Stack
from tests.integration.ports import free_port
from tests.integration.test_standalone import plain_environment
from tests.integration.topics import Topics

__all__ = ["AirflowDeployment", "ApacheConnect", "Deployment", "Standalone", "eventually"]

_TIMEOUT_SECONDS = 180.0
_CONVERTERS = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


def eventually(read: Callable[[], Any], is_good: Callable[[Any], bool], seconds: float = _TIMEOUT_SECONDS) -> Any:
    """Read until the value is good, or the time is over; return the last one."""
    end = time.monotonic() + seconds
    while not is_good(value := read()) and time.monotonic() < end:
        time.sleep(0.2)
    return value


@dataclass
class Deployment(ABC):
    """One server of the REST API; ``folder`` is open to its file connectors."""

    folder: Path
    topics: Topics
    name: str = ""
    client: httpx.Client = field(init=False)

    @abstractmethod
    def start(self) -> None:
        """Start it, or again, and wait until it answers."""

    @abstractmethod
    def end(self, *, is_clean: bool) -> None:
        """End all processes that run connectors, in good order or by SIGKILL."""

    def bounce(self, *, is_clean: bool) -> None:
        """End it and start it again."""
        self.end(is_clean=is_clean)
        self.start()

    def put(self, name: str, config: Mapping[str, str]) -> httpx.Response:
        """Create a connector or configure it again."""
        return self.client.put(f"/connectors/{name}/config", json={"name": name, "tasks.max": "1", **config})

    def act(self, method: str, name: str, path: str = "", body: Any = None) -> int:
        """Act on a connector → the status."""
        return self.client.request(method, f"/connectors/{name}{path}", json=body).status_code

    def states(self, name: str) -> list[str]:
        """Return the states of the connector and its tasks, none where it is not answered."""
        try:
            found = self.client.get(f"/connectors/{name}/status")
        except httpx.HTTPError:
            return []
        if found.status_code != 200:
            return []
        status = found.json()
        return [part["state"] for part in (status["connector"], *status["tasks"])]

    def await_states(self, name: str, wanted: set[str], parts: int = 1) -> list[str]:
        """Wait until connector and tasks, at least so many parts, are in these states → what they are in."""
        return list(eventually(lambda: self.states(name), lambda found: len(found) >= parts and set(found) == wanted))

    def delete(self, name: str) -> None:
        """Delete a connector, if it is there."""
        eventually(lambda: self.act("DELETE", name), lambda status: status in (204, 404), 60)

    def _await_answer(self, base: str) -> None:
        self.client = httpx.Client(base_url=base, timeout=120)

        def is_up() -> bool:
            try:
                return self.client.get("/connectors").status_code == 200
            except httpx.HTTPError:
                return False

        assert eventually(is_up, bool), f"{self.name} does not answer at {base}"


@dataclass
class _Process(Deployment):
    """A worker that is one process of its own."""

    process: subprocess.Popen[bytes] | None = None
    port: int = field(default_factory=free_port)

    def _run(self, command: list[str]) -> None:
        with (self.folder / "worker.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=plain_environment(), stdout=log, stderr=log, start_new_session=True
            )
        self._await_answer(f"http://127.0.0.1:{self.port}")

    def end(self, *, is_clean: bool) -> None:
        if self.process is not None and self.process.poll() is None:
            (self.process.terminate if is_clean else self.process.kill)()
            self.process.wait(90)

    def _properties(self, more: Mapping[str, str]) -> str:
        file = self.folder / "worker.properties"
        settings = {
            "bootstrap.servers": self.topics.bootstrap,
            **_CONVERTERS,
            "offset.flush.interval.ms": "1000",
            **more,
        }
        file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        return str(file)


@dataclass
class ApacheConnect(_Process):
    """Apache Kafka Connect's distributed worker, with exactly-once sources switched on."""

    name: str = "Apache Kafka Connect 4.3.1"
    jars: Path = Path()
    more: Mapping[str, str] = field(default_factory=dict)

    def start(self) -> None:
        kinds = {f"{kind}.storage.topic": f"apache-{kind}" for kind in ("config", "offset", "status")}
        factors = {f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")}
        file = self._properties(
            {
                **kinds,
                **factors,
                "group.id": "apache",
                "exactly.once.source.support": "enabled",
                "listeners": f"http://127.0.0.1:{self.port}",
                "plugin.path": f"{self.jars}/plugins/file",
                "plugin.discovery": "only_scan",
                "session.timeout.ms": "10000",
                "scheduled.rebalance.max.delay.ms": "0",
                **self.more,
            }
        )
        self._run(
            ["java", "-Xmx1g", "-cp", f"{self.jars}/runtime/*", "org.apache.kafka.connect.cli.ConnectDistributed", file]
        )


@dataclass
class Standalone(_Process):
    """``connect standalone``."""

    name: str = "connect standalone"

    def start(self) -> None:
        own = {"offset.storage.file.filename": str(self.folder / "offsets"), "file.roots": str(self.folder)}
        file = self._properties({**own, "listeners": f"http://127.0.0.1:{self.port}"})
        self._run([sys.executable, "-m", "connect_core.cli.app", "standalone", file])


@dataclass
class AirflowDeployment(Deployment):
    """``connect rest`` over Airflow and Spark, in a whole embedded stack."""

    name: str = "connect-core on Airflow"
    stack: Stack | None = None

    def start(self) -> None:
        assert self.stack is not None
        for name in _CARRIERS:
            self.stack.service(name).start(120)
        self._await_answer(self.stack.environment()["CONNECT_REST_URL"])

    def end(self, *, is_clean: bool) -> None:
        """Let everything go that carries runs; Airflow's tasks are children of its scheduler."""
        assert self.stack is not None
        for name in _CARRIERS:
            service = self.stack.service(name)
            if not is_clean:
                service.kill()
            service.stop()


_CARRIERS = ("spark", "airflow-scheduler", "airflow-triggerer", "rest")

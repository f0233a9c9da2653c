"""What many connectors cost on the embedded stack: ``python -m tests.benchmarks.many_connectors [--connectors N]``.

Most are idle sinks of one empty topic; ``--busy`` ones have a topic each, in which one record a minute appears. Prints
how long Airflow takes to parse the file of all DAGs, what a task takes to parse its own, the processor time of every
service and the rows written to the databases while nothing happens and while the busy ones work, how soon a busy one's
record is in its file, how many tasks Airflow starts and how long they run, and how quick the REST API is. Goals are
those of the issue, for two quiet cores.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from connect_core.dag.naming import TAG, dag_id_of
from connect_core.dev.stack import Stack
from tests.benchmarks.comparison import machine
from tests.deployments.stack import token_of
from tests.integration.topics import Topics

__all__ = ["main"]

MINUTE = 60.0
_CLIENTS = 8
_SETTLED_SECONDS, _DRAIN_SECONDS = 900.0, 300.0
_REQUESTS = 300
_GOALS = {
    "DAG file parsed": (3.0, "s"),
    "a task's own DAG, times that of one connector": (1.2, "x"),
    "idle, whole stack": (45.0, "% of a core"),
    "task starts a second, busy": (1.5, ""),
    "GET status, p99": (10.0, "ms"),
    "GET /v1/connectors, p50": (100.0, "ms"),
}
_CHILDREN = {"airflow-scheduler": "airflow tasks", "spark": "Spark's Python workers"}
_DATABASES = {"metadata": "CONNECT_DATABASE_URL", "airflow": "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"}
_WRITES = """
SELECT xact_commit, tup_inserted + tup_updated + tup_deleted FROM pg_stat_database WHERE datname = current_database()
"""
_PARSE = """
import sys, time
from airflow.sdk.definitions._internal.dag_parsing_context import _airflow_parsing_context_manager as context
import connect_core.dag.stored as stored
took = []
for _ in range(7):
    began = time.process_time()
    with context(dag_id=sys.argv[1], task_id="run"):
        assert list(stored.stored_dags()) == [sys.argv[1]]
    took.append(time.process_time() - began)
print(sorted(took)[3])
"""


@dataclass(frozen=True)
class Deployment:
    """The stack, its topics, its REST API and Airflow's."""

    stack: Stack
    topics: Topics
    rest: httpx.Client
    airflow: httpx.Client
    folder: Path

    def create(self, names: Sequence[str], topics: Sequence[str]) -> float:
        """Create sinks, a few at once → the seconds until all are RUNNING."""
        began = time.monotonic()
        with ThreadPoolExecutor(_CLIENTS) as clients:
            list(clients.map(self._create, names, topics))
        wanted = set(names)
        while not wanted <= self._running():
            if time.monotonic() - began > _SETTLED_SECONDS:
                raise TimeoutError(f"{len(wanted - self._running())} connectors are not RUNNING")
            time.sleep(1)
        return time.monotonic() - began

    def _create(self, name: str, topic: str) -> None:
        config = {"connector.class": "FileSystemSink", "topics": topic, "path": str(self.folder / name)}
        text = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
        self.rest.post("/connectors", json={"name": name, "config": config | text}).raise_for_status()

    def _running(self) -> set[str]:
        found = self.rest.get("/connectors", params={"expand": "status"}).raise_for_status().json()
        states = {name: (one["status"]["connector"], *one["status"]["tasks"]) for name, one in found.items()}
        return {name for name, of in states.items() if len(of) > 1 and {one["state"] for one in of} == {"RUNNING"}}

    def tasks_started(self, since: float, until: float) -> int:
        """Return how many tasks of connectors Airflow started between two times (seconds since 1970)."""
        return int(self._tasks(since, until)["total_entries"])

    def task_seconds(self, since: float, until: float) -> float:
        """Return the median of how long those tasks ran."""
        found = [one["duration"] for one in self._tasks(since, until)["task_instances"]]
        return float(statistics.median(seconds for seconds in found if seconds))

    def _tasks(self, since: float, until: float) -> dict[str, Any]:
        moments = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment)) for moment in (since, until)]
        asked: dict[str, Any] = {"start_date_gte": moments[0], "start_date_lte": moments[1], "limit": 100}
        answer = self.airflow.get("/api/v2/dags/~/dagRuns/~/taskInstances", params=asked).raise_for_status()
        return dict(answer.json())

    def parse_seconds(self) -> float:
        """Return how long Airflow's last parse of the DAG file took, with what it stores."""
        asked: dict[str, Any] = {"tags": [TAG], "limit": 1}
        (dag,) = self.airflow.get("/api/v2/dags", params=asked).raise_for_status().json()["dags"]
        return float(dag["last_parse_duration"])

    def own_parse_seconds(self, connector: str) -> float:
        """Return the processor time that a task takes to parse the file for its own DAG."""
        command = [sys.executable, "-c", _PARSE, dag_id_of(connector)]
        environment = {**self.stack.environment()}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return float(done.stdout.split()[-1])

    def processor_seconds(self) -> dict[str, float]:
        """Return the processor time that each service has used, with its processes that have ended.

        The scheduler's tasks and Spark's Python workers are its children, and counted by themselves.
        """
        found: dict[str, float] = {}
        for service in self.stack.services:
            pid = self.stack.service(service).pid
            if pid is None:
                continue
            root = psutil.Process(pid)
            own, ended = _used(root)
            children = ended + sum(sum(_used(process)) for process in root.children(recursive=True))
            if service in _CHILDREN:
                found |= {service: own, _CHILDREN[service]: children}
            else:
                found[service] = own + children
        return found

    def database_writes(self) -> dict[str, float]:
        """Return how many transactions each database has committed, and how many rows they changed."""
        addresses = self.stack.environment()
        found: dict[str, float] = {}
        for name, key in _DATABASES.items():
            with psycopg.connect(addresses[key].replace("+psycopg", "")) as connection:
                row = connection.execute(_WRITES).fetchone()
            assert row is not None
            found |= {f"{name}, commits": float(row[0]), f"{name}, rows": float(row[1])}
        return found


def _used(process: psutil.Process) -> tuple[float, float]:
    """Return the processor time of a process, and that of its children that have ended."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0, 0.0
    return float(times.user + times.system), float(times.children_user + times.children_system)


@dataclass
class Busy:
    """Connectors with one record a minute each; ``waits``: seconds from each record's writing to its file."""

    deployment: Deployment
    names: Sequence[str]
    waits: list[float] = field(default_factory=list)
    _written: dict[str, list[float]] = field(default_factory=dict)
    _rows: dict[Path, int] = field(default_factory=dict)

    def work(self, minutes: int) -> None:
        """Write the records, evenly spread, and look for them until all are there. Raise TimeoutError."""
        steps = [(turn * MINUTE + number * MINUTE / len(self.names), name) for turn in range(minutes)
                 for number, name in enumerate(self.names)]  # fmt: skip
        began = time.monotonic()
        for at, name in steps:
            while time.monotonic() - began < at:
                self._look()
                time.sleep(0.1)
            self.deployment.topics.write(name, [b"x"], 1)
            self._written.setdefault(name, []).append(time.monotonic())
        ended = time.monotonic()
        while len(self.waits) < len(steps):
            if time.monotonic() - ended > _DRAIN_SECONDS:
                late = [name for name, written in self._written.items() if written]
                status = self.deployment.rest.get(f"/v1/connectors/{late[0]}").text
                raise TimeoutError(f"{len(steps) - len(self.waits)} records are in no file: of {late}; {status}")
            self._look()
            time.sleep(0.1)

    def _look(self) -> None:
        """Note the records that have come: a connector's are in the order in which they were written."""
        for name, written in self._written.items():
            if not written:
                continue
            for file in _published(self.deployment.folder / name):
                if file not in self._rows:
                    self._rows[file] = rows = pq.read_metadata(file).num_rows
                    self.waits += [time.monotonic() - at for at in written[:rows]]
                    del written[:rows]


def _published(folder: Path) -> Iterator[Path]:
    """Yield the files that a sink has published in a folder; its own folders begin with ``_``."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (Path(place) / name for name in files if name.endswith(".parquet"))


@contextmanager
def deployed(folder: Path) -> Iterator[Deployment]:
    """Start the embedded stack for the block."""
    data = folder / "data"
    data.mkdir()
    stack = Stack(folder / "stack", settings={"CONNECT_FILE_ROOTS": str(data)})
    stack.up()
    try:
        found = stack.environment()
        address = f"http://127.0.0.1:{stack.service('airflow-api-server').port}"
        password = Path(found["CONNECT_AIRFLOW_PASSWORD_FILE"]).read_text().strip()
        token = token_of(address, found["CONNECT_AIRFLOW_USER"], password)
        with (
            httpx.Client(base_url=found["CONNECT_REST_URL"], timeout=60) as rest,
            httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60) as airflow,
        ):
            yield Deployment(stack, Topics(found["CONNECT_BOOTSTRAP_SERVERS"]), rest, airflow, data)
    finally:
        stack.down()


def measure(deployment: Deployment, options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures by name; processor time in percent of a core, for each service."""
    connectors, busy = options.connectors, options.busy
    topic = deployment.topics.create(1, "empty")
    deployment.create(["idle-0"], [topic])
    one = deployment.own_parse_seconds("idle-0")
    found: dict[str, Any] = {}
    idle = [f"idle-{number}" for number in range(1, connectors - busy)]
    found[f"{len(idle)} created at once, RUNNING after, s"] = deployment.create(idle, [topic] * len(idle))
    names = [deployment.topics.create(1, f"busy-{number}") for number in range(busy)]
    deployment.create(names, names)
    time.sleep(options.rest)
    found["DAG file parsed"] = deployment.parse_seconds()
    found["a task's own DAG, times that of one connector"] = deployment.own_parse_seconds("idle-0") / one
    found |= request_times(deployment.rest, "idle-0")
    found |= use_of(deployment, "idle", lambda: time.sleep(options.rest))
    work, began = Busy(deployment, names), time.time()
    found |= use_of(deployment, "busy", lambda: work.work(options.minutes))
    ended = time.time()
    found["task starts a second, busy"] = deployment.tasks_started(began, ended) / (ended - began)
    found["a task ran for, busy, p50, s"] = deployment.task_seconds(began, ended)
    waits = sorted(work.waits)
    found["busy, record to file, p50, s"] = statistics.median(waits)
    found["busy, record to file, p95, s"] = waits[int(len(waits) * 0.95)]
    found["busy, record to file, max, s"] = waits[-1]
    return found


def use_of(deployment: Deployment, phase: str, act: Callable[[], None]) -> dict[str, Any]:
    """Return what each service uses while ``act`` runs, in percent of a core, and what the databases write a second."""
    before, written, began = deployment.processor_seconds(), deployment.database_writes(), time.monotonic()
    act()
    took, after = time.monotonic() - began, deployment.processor_seconds()
    shares = {name: 100 * (after[name] - before.get(name, 0.0)) / took for name in after}
    writes = {name: (count - written[name]) / took for name, count in deployment.database_writes().items()}
    return {
        phase: shares,
        f"{phase}, whole stack": sum(shares.values()),
        **{f"{phase}, {name} a second": count for name, count in writes.items()},
    }


def request_times(rest: httpx.Client, name: str) -> dict[str, float]:
    """Return milliseconds of requests by one client."""
    status = _milliseconds(rest, f"/connectors/{name}/status", _REQUESTS)
    listed = _milliseconds(rest, "/v1/connectors", _REQUESTS // 10)
    return {"GET status, p99": status[int(len(status) * 0.99)], "GET /v1/connectors, p50": statistics.median(listed)}


def _milliseconds(rest: httpx.Client, path: str, count: int) -> list[float]:
    took = []
    for _ in range(count):
        began = time.perf_counter()
        rest.get(path).raise_for_status()
        took.append((time.perf_counter() - began) * 1000)
    return sorted(took)


def show(console: Console, found: Mapping[str, Any]) -> bool:
    """Print the figures with their goals → whether all goals are reached."""
    table, is_reached = Table("what", "found", "wanted"), True
    for name, value in found.items():
        if isinstance(value, Mapping):
            for service, share in value.items():
                table.add_row(f"  {name}: {service}", f"{share:.1f} % of a core", "")
            continue
        goal = _GOALS.get(name)
        table.add_row(name, f"{value:.2f}" + (f" {goal[1]}" if goal else ""), f"at most {goal[0]:g}" if goal else "")
        is_reached &= goal is None or value <= goal[0]
    console.print(table)
    return is_reached


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; 1 where a goal is not reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connectors", type=int, default=1_000)
    parser.add_argument("--busy", type=int, default=50, help="so many of them have a record a minute")
    parser.add_argument("--minutes", type=int, default=5, help="how long the busy ones work")
    parser.add_argument("--rest", type=float, default=120.0, help="seconds for which it comes to rest, then is idle")
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="connect-many-") as folder, deployed(Path(folder)) as deployment:
        found = measure(deployment, options)
    is_reached = show(Console(width=110), found)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "figures": found}, indent=1) + "\n")
    return 0 if is_reached else 1


if __name__ == "__main__":
    sys.exit(main())

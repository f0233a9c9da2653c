"""Three workers of Apache Kafka Connect with thirty connectors under load, moved here one by one, half of them back.

Meanwhile the command, two of the workers and the broker are killed. What is in each topic, file and table afterwards is
counted: sources are exactly once on both sides, as are sinks here and Apache's Iceberg sink there; Connect's file sinks
repeat lines after a kill.
"""

from __future__ import annotations

import itertools
import json
import operator
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from connect_core.dev.java_runtime import java_runtime
from connect_core.migration.steps import Step
from tests.connectors.jdbc.clusters import Cluster, cluster
from tests.deployments.stack import Deployments, running_deployments
from tests.integration import test_debezium as debezium_plugins
from tests.integration.deployment import Deployment, eventually
from tests.integration.topics import Topics
from tests.java_plugins.apache_iceberg import iceberg_jars
from tests.java_plugins.debezium import debezium
from tests.java_plugins.equipment import silent
from tests.migration.iceberg import Lake
from tests.migration.live import (
    SECRET,
    connect,
    connect_jars,
    file_provider,
    heartbeat,
    kill_command_at,
    missing_and_repeated,
    sink,
    source,
    url_of,
)
from tests.side_by_side.deployments import ApacheConnect

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(6000)]

FILES, COPIES, TABLES = 9, 7, 3
LINES, PAUSE_SECONDS = 5, 0.25


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployments]:
    plugins = {
        "CONNECT_PLUGIN_PATH": f"{debezium('postgres')},{debezium('jdbc')}",
        "CONNECT_JAVA_PLUGIN_LIBS": str(java_runtime(silent)),
        "CONNECT_JAVA_PLUGIN_HEAP": "256m",
    }
    with running_deployments(tmp_path_factory.mktemp("moved"), plugins) as running:
        yield running


@pytest.fixture(scope="module")
def deployment(stack: Deployments) -> Iterator[Deployment]:
    with Deployment.in_environment(stack.stack.environment()) as opened:
        yield opened


@pytest.fixture(scope="module")
def broker(deployment: Deployment) -> Topics:
    return Topics(os.environ["CONNECT_BOOTSTRAP_SERVERS"])


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("moved-postgres")) as server:
        server.execute("ALTER SYSTEM SET wal_level = 'logical'")
        server.stop()
        server.start()
        for number in range(TABLES):
            server.execute(f"CREATE TABLE orders{number} (id int PRIMARY KEY, customer text NOT NULL)")
        yield server


@pytest.fixture(scope="module")
def workers(stack: Deployments, broker: Topics) -> Iterator[list[ApacheConnect]]:
    """Three workers of one group."""
    plugins = {name: next(one for one in debezium(name).iterdir() if one.is_dir()) for name in ("postgres", "jdbc")}
    plugins["iceberg"] = iceberg_jars()
    jars = connect_jars(stack.folder / "jars", plugins)
    more = file_provider(stack.folder)
    with ExitStack() as ending:
        found = []
        for number in range(3):
            folder = stack.folder / f"worker{number}"
            folder.mkdir()
            one = ApacheConnect(folder, broker, jars=jars, more=more)
            one.start()
            ending.callback(one.end, is_clean=False)
            found.append(one)
        yield found


@dataclass
class Moved:
    """The connectors, and what they read."""

    folder: Path
    broker: Topics
    database: Cluster
    configs: dict[str, Mapping[str, str]] = field(default_factory=dict)
    acts: dict[str, str] = field(default_factory=dict)
    """Connector → what is done to it when it runs."""
    written: list[int] = field(default_factory=lambda: [0])

    def define(self) -> None:
        """Name all thirty connectors."""
        shaped = {
            "transforms": "hoist,insert",
            "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
            "transforms.hoist.field": "line",
            "transforms.insert.type": "org.apache.kafka.connect.transforms.InsertField$Value",
            "transforms.insert.static.field": "by",
            "transforms.insert.static.value": f"${{file:{self.folder}/secrets.properties:password}}",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
        }
        for number in range(FILES):
            self.broker.create(1, f"lines{number}")
            self.input(number).touch()
            # The last two have transforms, one of them with a secret.
            self.configs[f"file-{number}"] = source(
                self.input(number), f"lines{number}", **(shaped if number >= COPIES else {})
            )
        for number in range(COPIES):
            self.configs[f"copy-{number}"] = sink(f"lines{number}", self.copy(number))
        for number in range(TABLES):
            self.broker.create(1, f"db{number}.public.orders{number}")
            table = debezium_plugins.source(self.database, f"db{number}")
            self.configs[f"table-{number}"] = {**table, "table.include.list": f"public.orders{number}"}
            self.configs[f"upsert-{number}"] = debezium_plugins.sink(
                self.database, f"db{number}.public.orders{number}", f"copied{number}"
            )
        for number, act in enumerate(("pause", "pause", "stop", "stop")):
            self.broker.create(1, f"quiet{number}")
            (self.folder / f"quiet{number}.txt").write_text("one\n")
            self.configs[f"quiet-{number}"] = source(self.folder / f"quiet{number}.txt", f"quiet{number}")
            self.acts[f"quiet-{number}"] = act
        self.configs["failed"] = sink("lines0", self.folder / "nowhere" / "lines.out")
        self.lake.create()
        for number in range(COPIES, FILES):
            self.broker.create(1, f"control{number}")
            self.configs[f"lake-{number}"] = self.lake.sink(
                f"lines{number}", f"db.lines{number}", **{"iceberg.control.topic": f"control{number}"}
            )
        self.configs["heartbeat"] = heartbeat(self.broker)

    @property
    def lake(self) -> Lake:
        return Lake(self.database, self.folder / "warehouse")

    def input(self, number: int) -> Path:
        return self.folder / f"lines{number}.txt"

    def copy(self, number: int) -> Path:
        return self.folder / f"lines{number}.out"

    @contextmanager
    def load(self) -> Iterator[None]:
        """Append to all files and tables while the block lasts."""
        stop = threading.Event()

        def run() -> None:
            for first in itertools.count(0, LINES):
                if stop.is_set():
                    return
                lines = "".join(f"{first + one}\n" for one in range(LINES))
                for number in range(FILES):
                    with self.input(number).open("a") as file:
                        file.write(lines)
                with self.database.client() as client:
                    for number in range(TABLES):
                        rows = f"SELECT i, 'c' || i FROM generate_series({first}, {first + LINES - 1}) i"
                        client.execute(f"INSERT INTO orders{number} {rows}")
                self.written[0] = first + LINES
                time.sleep(PAUSE_SECONDS)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def numbers_in_topic(self, number: int) -> Counter[int]:
        values = [value or b"" for value in self.broker.read(f"lines{number}", self.written[0])]
        return Counter(int(json.loads(one)["line"] if one.startswith(b"{") else one) for one in values)

    def numbers_in_file(self, number: int) -> Counter[int]:
        return Counter(int(line) for line in self.copy(number).read_text().splitlines())

    def numbers_of_table(self, number: int) -> Counter[int]:
        values = self.broker.read(f"db{number}.public.orders{number}", self.written[0])
        return Counter(json.loads(value)["payload"]["id"] for value in values if value)


def create(workers: list[ApacheConnect], moved: Moved) -> None:
    for number, (name, config) in enumerate(moved.configs.items()):
        answer = workers[number % 3].put(name, config)
        assert answer.is_success, answer.text
    for name in moved.configs:
        wanted = {"RUNNING", "FAILED"} if name.startswith("failed") else {"RUNNING"}
        assert set(workers[0].await_states(name, wanted, parts=2)) == wanted, f"{name}: {workers[0].states(name)}"
    for name, act in moved.acts.items():
        workers[0].act("PUT", name, f"/{act}")


def switched(name: str, *arguments: str) -> None:
    done = connect("switch", name, *arguments)
    assert done.returncode == 0, f"{name}: {done.stderr}{done.stdout}"


def test_thirty_connectors_are_moved_one_by_one_and_half_of_them_back(
    stack: Deployments, deployment: Deployment, broker: Topics, database: Cluster, workers: list[ApacheConnect]
) -> None:
    moved = Moved(stack.folder, broker, database)
    moved.define()
    assert len(moved.configs) == 30
    names = [name for name in moved.configs if name != "heartbeat"]
    with moved.load():
        create(workers, moved)
        report = imported(workers[0], names)
        for number, name in enumerate(names):
            if number % 7 == 3:
                kill_command_at(first_step(moved, name).value, "switch", name)
            if number in (5, 15):
                workers[1 if number == 5 else 2].end(is_clean=False)
            if number == 10:
                stack.stack.service("kafka").kill()
                stack.stack.service("kafka").await_healthy(90)
            switched(name)
        check_states(deployment, report)
        for number, name in enumerate(names[::2]):
            if number % 7 == 3:
                kill_command_at(Step.STOP_HERE.value, "switch", name, "--back")
            switched(name, "--back")
    check_counts(moved)


def first_step(moved: Moved, name: str) -> Step:
    """What a switch does first after it has recorded the connector's state."""
    return Step.TAKE_OFFSETS if moved.acts.get(name) == "stop" else Step.STOP_THERE


def imported(there: ApacheConnect, names: list[str]) -> Mapping[str, Mapping[str, str]]:
    """Import all, by a command that is killed and one that is not → the report by connector."""
    dry = connect("import", "--from", url_of(there), "--dry-run", "--json")
    report = {one["name"]: one for one in json.loads(dry.stdout)["connectors"]}
    assert report.pop("heartbeat")["kind"] == "not possible"
    assert set(report) == set(names)
    assert {name: one["reasons"] for name, one in report.items() if one["reasons"]} == {}
    kinds = {name: one["kind"] for name, one in report.items()}
    java = {name for name in names if name.startswith(("table", "upsert"))}
    assert kinds == {name: "Java plugin" if name in java else "native" for name in names}
    kill_command_at("created", "import", "--from", url_of(there))
    done = connect("import", "--from", url_of(there))
    assert SECRET not in dry.stdout + done.stdout
    return report


def check_states(deployment: Deployment, report: Mapping[str, Mapping[str, str]]) -> None:
    """What was paused or stopped there is so here, and all others run."""
    for name, one in report.items():
        wanted = one["state"] if one["state"] in ("PAUSED", "STOPPED") else "RUNNING"
        eventually(partial(deployment.state, name), partial(operator.eq, wanted))


def check_counts(moved: Moved) -> None:
    """Count each topic, file and table, and print it."""
    total = moved.written[0]
    for number in range(FILES):
        found = missing_and_repeated(moved.numbers_in_topic(number), total)
        print(f"lines{number}: {total} lines, missing and repeated {found}")
        assert found == (0, 0)
    for number in range(COPIES):
        counted = eventually(partial(moved.numbers_in_file, number), lambda lines: len(lines) >= total, 180)
        found = missing_and_repeated(counted, total)
        print(f"lines{number}.out: {total} lines, missing and repeated {found}")
        assert found[0] == 0
    for number in range(COPIES, FILES):
        counted = eventually(partial(moved.lake.lines, f"db.lines{number}"), lambda lines: len(lines) >= total, 180)
        found = missing_and_repeated(counted, total)
        print(f"db.lines{number}: {total} lines, missing and repeated {found}")
        assert found == (0, 0)
    for number in range(TABLES):
        found = missing_and_repeated(moved.numbers_of_table(number), total)
        print(f"orders{number}: {total} rows, missing and repeated {found} in the topic")
        assert found == (0, 0)
        rows = debezium_plugins.rows(moved.database, f"orders{number}")
        assert len(rows) == total
        eventually(partial(debezium_plugins.rows, moved.database, f"copied{number}"), partial(operator.eq, rows), 180)

"""A real Connect worker and a whole deployment on one broker: imported, switched under load and back, killed between.

Lines are counted in the topic and the file they end in: whatever died, each is there once. ``make test`` kills the
sink's commands; in ``make matrix`` (CONNECT_MATRIX=1) both connectors' die after each step, and are killed.
"""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from connect_core.migration.cluster import open_api
from connect_core.migration.steps import Step
from connect_core.migration.switching import Switch
from connect_core.rest import LoopbackAuthorizer, create_app, serve_in_thread
from connect_core.settings import Listener
from tests.deployments.stack import Deployments
from tests.full_run import IS_FULL_RUN
from tests.integration.deployment import Deployment, eventually
from tests.integration.topics import Topics
from tests.migration.fake_connect import Died
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

pytestmark = [pytest.mark.servers, pytest.mark.timeout(1500)]


@pytest.fixture(scope="module")
def root(deployments: Deployments) -> Path:
    folder = deployments.folder / "live"
    folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def deployment(deployments: Deployments) -> Iterator[Deployment]:
    with Deployment.in_environment(deployments.stack.environment()) as opened:
        yield opened


@pytest.fixture(scope="module")
def broker(deployment: Deployment) -> Topics:
    return Topics(os.environ["CONNECT_BOOTSTRAP_SERVERS"])


@pytest.fixture(scope="module")
def there(deployment: Deployment, broker: Topics, root: Path) -> Iterator[ApacheConnect]:
    """Apache Kafka Connect's distributed worker, with a file provider, on the deployment's broker."""
    home = root / "connect"
    worker = ApacheConnect(home, broker, jars=connect_jars(home / "jars"), more=file_provider(root))
    worker.start()
    yield worker
    worker.end(is_clean=True)


def created(there: ApacheConnect, name: str, config: dict[str, str], act: str | None = None) -> None:
    answer = there.put(name, config)
    assert answer.is_success, answer.text
    there.await_states(name, {"RUNNING"}, parts=2)
    if act is not None:
        there.act("PUT", name, f"/{act}")
        eventually(lambda: there.states(name)[0], lambda state: state == {"pause": "PAUSED", "stop": "STOPPED"}[act])


@contextmanager
def load(write: Callable[[int], None], pause: float = 0.02) -> Iterator[Callable[[], int]]:
    """Write numbered lines for as long as the block lasts; give how many there are."""
    stop, numbers = threading.Event(), itertools.count()
    written = [0]

    def run() -> None:
        while not stop.is_set():
            write(next(numbers))
            written[0] += 1
            time.sleep(pause)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield lambda: written[0]
    finally:
        stop.set()
        thread.join()


def die_after_each_step(deployment: Deployment, there: ApacheConnect, name: str, *, back: bool) -> list[Step]:
    """Switch by commands that are each killed after one step, until nothing is left."""
    steps: list[Step] = []

    def die(done: Step) -> None:
        steps.append(done)
        raise Died(done.name)

    with open_api(url_of(there)) as api:
        while True:
            try:
                assert Switch(deployment.herder, api, name, back, seconds=120).run(die) == []
            except Died:
                continue
            return steps


def test_report_and_import(deployment: Deployment, there: ApacheConnect, broker: Topics, root: Path) -> None:
    topic = broker.create(1)
    (root / "paused.txt").write_text("one\ntwo\n")
    created(there, "paused-source", source(root / "paused.txt", topic), "pause")
    created(there, "stopped-sink", sink(topic, root / "stopped.out"), "stop")
    smt = {
        "transforms": "hoist,insert",
        "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
        "transforms.hoist.field": "line",
        "transforms.insert.type": "org.apache.kafka.connect.transforms.InsertField$Value",
        "transforms.insert.static.field": "by",
        "transforms.insert.static.value": f"${{file:{root}/secrets.properties:password}}",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "producer.override.linger.ms": "5",
        "producer.override.max.block.ms": "60000",
    }
    shaped = broker.create(1)
    (root / "shaped.txt").write_text("first\n")
    created(there, "shaped-source", source(root / "shaped.txt", shaped, **smt))
    broker.read(shaped, 1)
    eventually(lambda: offsets_there(there, "shaped-source"), bool)

    created(there, "heartbeat", heartbeat(broker))

    dry = connect("import", "--from", url_of(there), "--dry-run", "--json")
    assert dry.returncode == 1, dry.stderr + dry.stdout
    report = {one["name"]: one for one in json.loads(dry.stdout)["connectors"]}
    alien = report.pop("heartbeat")
    assert (alien["kind"], alien["state"]) == ("not possible", "RUNNING")
    assert "there is no plugin org.apache.kafka.connect.mirror.MirrorHeartbeatConnector here" in alien["reasons"][0]
    assert {(one["kind"], one["state"]) for one in report.values()} == {
        ("native", "PAUSED"), ("native", "STOPPED"), ("native", "RUNNING"),
    }  # fmt: skip
    keys = {one["key"]: one["treatment"] for one in report["shaped-source"]["keys"]}
    assert keys["transforms.insert.static.value"] == "honoured"
    assert keys["producer.override.max.block.ms"] == "not needed"
    assert "missing" not in keys.values()
    assert [one["keys"] for one in report["shaped-source"]["secrets"]] == [["password"]]
    assert shaped in report["shaped-source"]["topics"]
    done = connect("import", "--from", url_of(there))
    assert done.returncode == 1, done.stderr + done.stdout
    assert "created shaped-source, 1 offset" in done.stdout
    again = connect("import", "--from", url_of(there))
    assert again.stdout.count("unchanged") == 3, again.stdout
    assert SECRET not in dry.stdout + done.stdout + again.stdout
    assert {deployment.state(name) for name in report} == {"STOPPED"}

    # Paused there is paused here, stopped stays so, and transforms and secret give the same records.
    for name in report:
        switched = connect("switch", name)
        assert switched.returncode == 0, switched.stderr + switched.stdout
    assert deployment.state("paused-source") == "PAUSED"
    assert deployment.state("stopped-sink") == "STOPPED"
    with (root / "shaped.txt").open("a") as file:
        file.write("second\n")
    assert [json.loads(value or b"") for value in broker.read(shaped, 2)] == [
        {"line": "first", "by": SECRET},
        {"line": "second", "by": SECRET},
    ]
    for name in report:
        assert connect("switch", name, "--back").returncode == 0
    assert there.states("paused-source")[0] == "PAUSED"
    assert there.states("stopped-sink")[0] == "STOPPED"
    assert set(there.states("heartbeat")) == {"RUNNING"}
    there.delete("heartbeat")
    for name in report:
        there.delete(name)
        deployment.delete(name)


def offsets_there(there: ApacheConnect, name: str) -> list[object]:
    return list(there.client.get(f"/connectors/{name}/offsets").json().get("offsets", ()))


def dying_there_and_back(deployment: Deployment, there: ApacheConnect, name: str) -> None:
    """Switch there and back by commands that each die after one step."""
    forward = die_after_each_step(deployment, there, name, back=False)
    assert forward == [Step.BEGIN, Step.STOP_THERE, Step.TAKE_OFFSETS, Step.START_HERE, Step.END]
    began = deployment.committed(name)
    eventually(lambda: deployment.committed(name), lambda moved: moved > began)
    backward = die_after_each_step(deployment, there, name, back=True)
    assert backward == [Step.BEGIN, Step.STOP_HERE, Step.GIVE_OFFSETS, Step.START_THERE, Step.END]
    there.await_states(name, {"RUNNING"}, parts=2)


def killed_there_and_back(deployment: Deployment, there: ApacheConnect, name: str) -> None:
    """Switch there and back by commands that SIGKILL ends half way."""
    time.sleep(3)
    kill_command_at(Step.STOP_THERE.value, "switch", name)
    done = connect("switch", name)
    assert done.returncode == 0, done.stderr + done.stdout
    began = deployment.committed(name)
    eventually(lambda: deployment.committed(name), lambda moved: moved > began)
    kill_command_at(Step.STOP_HERE.value, "switch", name, "--back")
    done = connect("switch", name, "--back")
    assert done.returncode == 0, done.stderr + done.stdout
    there.await_states(name, {"RUNNING"}, parts=2)


@pytest.mark.matrix
def test_a_source_under_load(deployment: Deployment, there: ApacheConnect, broker: Topics, root: Path) -> None:
    topic, file = broker.create(1), root / "live.txt"
    file.touch()

    def write(number: int) -> None:
        with file.open("a") as lines:
            lines.writelines(f"{number * 20 + index}\n" for index in range(20))

    with load(write) as written:
        created(there, "live-source", source(file, topic))
        assert connect("import", "--from", url_of(there), "--only", "live-source").returncode == 0
        dying_there_and_back(deployment, there, "live-source")
        if IS_FULL_RUN:
            killed_there_and_back(deployment, there, "live-source")
    total = written() * 20
    found = Counter(int(value or b"-1") for value in broker.read(topic, total))
    print(f"source: {total} lines, missing and repeated: {missing_and_repeated(found, total)}")
    assert missing_and_repeated(found, total) == (0, 0)
    deployment.delete("live-source")
    there.delete("live-source")


@contextmanager
def served(deployment: Deployment) -> Iterator[httpx.Client]:
    """The deployment's REST API."""
    app = create_app(lambda actor: replace(deployment.herder, actor=actor), LoopbackAuthorizer())
    server = serve_in_thread(app, Listener("http", "127.0.0.1", 0))
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=150) as client:
        yield client
    server.stop()


def switched_by_rounds(rest: httpx.Client, name: str, *, back: bool) -> tuple[list[str], int]:
    """Switch by requests that begin steps for a fraction of a second each → the steps, and how many requests."""
    steps: list[str] = []
    for number in itertools.count(1):
        answer = rest.post(f"/v1/connectors/{name}/switch", json={"back": back, "seconds": 0.2})
        assert answer.is_success, answer.text
        steps += answer.json()["steps"]
        if answer.json()["next"] is None:
            return steps, number
    raise AssertionError("it never ends")


@pytest.mark.matrix
def test_over_rest_under_load(deployment: Deployment, there: ApacheConnect, broker: Topics, root: Path) -> None:
    topic, file = broker.create(1), root / "rest.txt"
    file.touch()

    def write(number: int) -> None:
        with file.open("a") as lines:
            lines.writelines(f"{number * 20 + index}\n" for index in range(20))

    with load(write) as written, served(deployment) as rest:
        created(there, "rest-source", source(file, topic))
        eventually(lambda: offsets_there(there, "rest-source"), bool)
        report = rest.post("/v1/import/report", json={"url": url_of(there), "names": ["rest-source"]}).json()
        assert [(one["name"], one["kind"], one["state"]) for one in report["connectors"]] == [
            ("rest-source", "native", "RUNNING")
        ]
        made = rest.post("/v1/connectors/rest-source/import", json={"url": url_of(there)})
        assert (made.status_code, made.json()["outcome"], made.json()["offsets"]) == (201, "created", 1), made.text
        steps, requests = switched_by_rounds(rest, "rest-source", back=False)
        assert steps[-3:] == ["stored its offsets here", "started here", "recorded that it has moved"]
        assert requests > 1
        began = deployment.committed("rest-source")
        eventually(lambda: deployment.committed("rest-source"), lambda moved: moved > began)
        steps, _ = switched_by_rounds(rest, "rest-source", back=True)
        assert ("wrote its offsets there" in steps, steps[-1]) == (True, "recorded that it has moved")
        there.await_states("rest-source", {"RUNNING"}, parts=2)
        assert rest.get("/v1/connectors/rest-source/switch").json()["newest"] == "there"
    total = written() * 20
    found = Counter(int(value or b"-1") for value in broker.read(topic, total))
    print(f"over REST: {total} lines, missing and repeated: {missing_and_repeated(found, total)}")
    assert missing_and_repeated(found, total) == (0, 0)
    deployment.delete("rest-source")
    there.delete("rest-source")


@pytest.mark.matrix
def test_a_sink_under_load(deployment: Deployment, there: ApacheConnect, broker: Topics, root: Path) -> None:
    topic, file = broker.create(4), root / "live.out"

    def write(number: int) -> None:
        broker.write(topic, [str(number * 20 + index).encode() for index in range(20)])

    with load(write, 0.1) as written:
        created(there, "live-sink", sink(topic, file))
        assert connect("import", "--from", url_of(there), "--only", "live-sink").returncode == 0
        if IS_FULL_RUN:
            dying_there_and_back(deployment, there, "live-sink")
        killed_there_and_back(deployment, there, "live-sink")
    total = written() * 20

    def counted() -> Counter[int]:
        return Counter(int(line) for line in file.read_text().splitlines())

    found = eventually(counted, lambda lines: len(lines) >= total, 180)
    print(f"sink: {total} records, missing and repeated: {missing_and_repeated(found, total)}")
    assert missing_and_repeated(found, total) == (0, 0)
    deployment.delete("live-sink")
    there.delete("live-sink")

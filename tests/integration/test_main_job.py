"""The main job through Airflow and Spark, on real servers: every line exactly once, whatever happens."""

from __future__ import annotations

import itertools
import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from connect_core.dag.naming import VERIFICATION_DAG_ID, dag_id_of
from connect_core.dev.stack import Stack
from connect_core.interval.values import IntervalState
from tests.deployments.stack import Deployments
from tests.integration.deployment import Deployment, eventually
from tests.integration.topics import Topics

pytestmark = pytest.mark.servers

WRAPPED = {
    "transforms": "MakeMap, InsertSource",
    "transforms.MakeMap.type": "org.apache.kafka.connect.transforms.HoistField$Value",
    "transforms.MakeMap.field": "line",
    "transforms.InsertSource.type": "org.apache.kafka.connect.transforms.InsertField$Value",
    "transforms.InsertSource.static.field": "data_source",
    "transforms.InsertSource.static.value": "test-file-source",
}


@pytest.fixture(scope="module")
def root(deployments: Deployments) -> Path:
    folder = deployments.folder / "main_job"
    folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def deployment(deployments: Deployments) -> Iterator[Deployment]:
    with Deployment.in_environment(deployments.stack.environment()) as opened:
        yield opened


@pytest.fixture(scope="module")
def broker(deployment: Deployment) -> Topics:
    return Topics(os.environ["CONNECT_BOOTSTRAP_SERVERS"])


def source(file: Path, topic: str, **more: str) -> dict[str, str]:
    return {"connector.class": "FileStreamSource", "tasks.max": "1", "file": str(file), "topic": topic, **more}


def parquet(path: Path, topic: str, **more: str) -> dict[str, str]:
    return {"connector.class": "FileSystemSink", "tasks.max": "4", "path": str(path), "topics": topic, **more}


def write_lines(file: Path, first: int, count: int) -> None:
    with file.open("a") as target:
        target.writelines(f"line {number}\n" for number in range(first, first + count))


def lines_in_kafka(broker: Topics, topic: str, at_least: int) -> list[int]:
    values = broker.read(topic, at_least)
    return sorted(int(json.loads(value or b"{}")["line"].split()[1]) for value in values)


def lines_in_parquet(path: Path, topic: str) -> list[int]:
    table = ds.dataset(str(path / topic), format="parquet").to_table()
    return sorted(int(line.split()[1]) for line in table["line"].to_pylist())


def test_lines_reach_kafka_parquet_and_text_exactly_once(deployment: Deployment, broker: Topics, root: Path) -> None:
    topic, file = broker.create(4), root / "live.txt"
    write_lines(file, 0, 1000)
    deployment.put("lines", source(file, topic, **WRAPPED))
    deployment.put("export", parquet(root / "parquet", topic))
    text = {"connector.class": "FileStreamSink", "tasks.max": "2", "file": str(root / "out.txt"), "topics": topic}
    deployment.put("text", text)
    for name in ("lines", "export", "text"):
        deployment.await_records(name, 1000)
    write_lines(file, 1000, 500)
    for name in ("lines", "export", "text"):
        assert deployment.await_records(name, 1500) == 1500
    assert lines_in_kafka(broker, topic, 1500) == list(range(1500))
    assert lines_in_parquet(root / "parquet", topic) == list(range(1500))
    assert len((root / "out.txt").read_text().splitlines()) == 1500
    ends = [interval.row.ranges for interval in deployment.intervals("export")]
    for before, after in itertools.pairwise(ends):
        assert [part.end for part in before] == [part.start for part in after]
    for name in ("lines", "export", "text"):
        deployment.delete(name)


@pytest.mark.matrix
def test_cron_connector_moves_what_is_there_when_triggered(deployment: Deployment, broker: Topics, root: Path) -> None:
    topic, file = broker.create(1), root / "cron.txt"
    write_lines(file, 0, 10)
    deployment.put("yearly", source(file, topic, schedule="0 0 1 1 *", **WRAPPED))
    deployment.herder.scheduler.trigger("yearly")
    deployment.await_records("yearly", 10)
    eventually(lambda: deployment.runs("yearly")[0][1], lambda state: state == "success")
    run_id = deployment.runs("yearly")[0][0]
    deployment.airflow.clear(dag_id_of("yearly"), run_id)
    eventually(lambda: deployment.runs("yearly")[0][1], lambda state: state == "success")
    assert lines_in_kafka(broker, topic, 10) == list(range(10))
    deployment.delete("yearly")


@pytest.mark.matrix
def test_pause_holds_and_unpause_goes_on_without_loss(deployment: Deployment, broker: Topics, root: Path) -> None:
    topic, file = broker.create(1), root / "paused.txt"
    write_lines(file, 0, 10)
    deployment.put("pausing", source(file, topic, **WRAPPED))
    deployment.await_records("pausing", 10)
    deployment.airflow.set_paused([dag_id_of("pausing")], True)
    eventually(lambda: deployment.state("pausing"), lambda state: state == "PAUSED", 30)
    write_lines(file, 10, 10)
    time.sleep(5)
    assert deployment.committed("pausing") == 10
    deployment.airflow.set_paused([dag_id_of("pausing")], False)
    deployment.await_records("pausing", 20)
    assert lines_in_kafka(broker, topic, 20) == list(range(20))
    eventually(lambda: deployment.state("pausing"), lambda state: state == "RUNNING", 30)
    deployment.delete("pausing")


@pytest.mark.matrix
def test_exports_are_recounted_on_a_schedule(deployment: Deployment, broker: Topics, root: Path) -> None:
    topic = broker.create(1)
    broker.write(topic, [b'{"line": "%d"}' % number for number in range(10)], 1)
    deployment.put("recounted", parquet(root / "recounted", topic))
    deployment.await_records("recounted", 10)

    def outcome() -> str:
        run_id = deployment.airflow.trigger(VERIFICATION_DAG_ID)

        def state() -> str:
            return next(
                run.state for run in deployment.airflow.latest_runs(VERIFICATION_DAG_ID, 5) if run.run_id == run_id
            )

        return eventually(state, lambda found: found in ("success", "failed"))

    assert outcome() == "success"
    next((root / "recounted" / topic).rglob("*.parquet")).unlink()
    assert outcome() == "failed"
    deployment.delete("recounted")


@pytest.mark.timeout(420)
def test_killed_drivers_leave_every_line_exactly_once(deployment: Deployment, broker: Topics, root: Path) -> None:
    topic, file, count = broker.create(4), root / "killed.txt", 600_000
    write_lines(file, 0, count)
    deployment.put("killed-source", source(file, topic, **WRAPPED))
    kill_driver(deployment, "killed-source")
    eventually(lambda: len(broker.read(topic, count, 1)), lambda found: found >= count, 240)
    deployment.put("killed-export", parquet(root / "killed", topic))
    kill_driver(deployment, "killed-export")
    deployment.await_records("killed-export", count, 240)
    assert lines_in_kafka(broker, topic, count) == list(range(count))
    assert lines_in_parquet(root / "killed", topic) == list(range(count))
    for name in ("killed-source", "killed-export"):
        deployment.delete(name)


@pytest.mark.matrix
@pytest.mark.timeout(420)
def test_main_job_by_spark_submit(deployments: Deployments, root: Path) -> None:
    """The last one of those that share the stack, which it leaves restarted."""
    environment = spark_submit(deployments.stack)
    deployment = Deployment.open(environment)
    topic, file = Topics(environment["CONNECT_BOOTSTRAP_SERVERS"]).create(4), root / "submitted.txt"
    configs = {
        "submitted-lines": source(file, topic, schedule="@none", **WRAPPED),
        "submitted-export": parquet(root / "submitted", topic, schedule="@none"),
    }
    for name, config in configs.items():
        deployment.put(name, config)
    for total in (1000, 1500):
        write_lines(file, deployment.committed("submitted-lines"), total - deployment.committed("submitted-lines"))
        for name in configs:
            deployment.herder.scheduler.trigger(name)
            assert deployment.await_records(name, total) == total
            eventually(partial(newest_run_state, deployment, name), "success".__eq__)
    assert lines_in_kafka(Topics(environment["CONNECT_BOOTSTRAP_SERVERS"]), topic, 1500) == list(range(1500))
    assert lines_in_parquet(root / "submitted", topic) == list(range(1500))
    for name in configs:
        deployment.delete(name)


def newest_run_state(deployment: Deployment, name: str) -> str:
    return deployment.runs(name)[0][1]


def spark_submit(before: Stack) -> dict[str, str]:
    """Restart the stack so that runs are spark-submits of the provider's operator → its environment."""
    connection = {"conn_type": "spark", "host": "local[4]", "extra": {"spark-binary": "spark-submit"}}
    more = {"CONNECT_SPARK_MODE": "submit", "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps(connection)}
    stack = replace(before, settings={**(before.settings or {}), **more})
    stack.up()
    return stack.environment()


def kill_driver(deployment: Deployment, name: str) -> None:
    """SIGKILL the process that drives the connector's first interval, while its job runs."""

    def running() -> int | None:
        for interval in deployment.intervals(name):
            if interval.row.state is IntervalState.RUNNING:
                return int(interval.worker.rpartition(":")[2])
        return None

    process = eventually(running, lambda found: found is not None)
    assert process is not None
    os.kill(process, signal.SIGKILL)

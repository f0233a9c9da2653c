"""The same connectors on a Spark standalone cluster, whose machines have neither our code nor our folders."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import DAG

from connect_core.dag.submit import ConnectorSubmitOperator
from connect_core.dev.spark_workers import check_spark_workers, workers_finding
from connect_core.interval.runs import RunRequest, RunStatus
from connect_core.spark.remote import environment_settings, remote_runner
from connect_core.spark.worker_facts import Wanted
from tests.faults.executor_python import executor_python
from tests.faults.exports import Export
from tests.faults.history import History
from tests.faults.rows.standalone import kill_workers
from tests.faults.spark_cluster import SparkCluster
from tests.faults.standalone_world import StandaloneWorld
from tests.faults.world import CHECKOUT

pytestmark = [pytest.mark.servers, pytest.mark.timeout(900)]

needs_root = pytest.mark.skipif(not SparkCluster.is_separated(), reason="mount namespaces need root")
ROWS = 40


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneWorld]:
    with StandaloneWorld(tmp_path_factory.mktemp("cluster"), Random(1), batches=4) as world:
        yield world


@pytest.fixture
def environment(world: StandaloneWorld, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)
    yield world.environment
    world.end_drivers()


@pytest.mark.matrix
def test_nothing_is_lost_or_repeated_when_workers_die(world: StandaloneWorld) -> None:
    history = History(world, "workers")
    history.begin()
    with history.writing():
        history.await_committed(history.source, 1000)
        faults = kill_workers(history)
        history.heal()
    found = history.end(faults)
    assert found.violations == ()
    assert found.is_good


def test_driver_of_a_spark_submit_needs_nothing_of_ours(
    world: StandaloneWorld, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver's Python has no connect-core either: as that of a driver on another machine."""
    config = tmp_path / "worker.properties"
    settings = {
        "spark.mode": "submit",
        "spark.cores.max": "4",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.pyspark.driver.python": str(executor_python(tmp_path / "driver", "jdbc", "spark")),
        "spark.pyspark.python": str(world.cluster.python),
    }
    given = Path(environment.get("CONNECT_WORKER_CONFIG", CHECKOUT / "config" / "worker.properties")).read_text()
    config.write_text(given + "\n" + "".join(f"{key}={value}\n" for key, value in settings.items()))
    connection = f'{{"conn_type": "spark", "host": "{world.cluster.master}", "extra": {{"deploy-mode": "client"}}}}'
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection)
    monkeypatch.setenv("CONNECT_WORKER_CONFIG", str(config))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    export = Export(world, "submitted")
    export.begin()
    export.write(0, ROWS)
    with DAG("dag", schedule=None):
        operator = ConnectorSubmitOperator(task_id="run", connector=export.name)
    context: Any = {"ti": SimpleNamespace(xcom_push=lambda **pushed: None)}
    outcome = operator.drive(RunRequest(export.name, "manual__1", asked=True), context)
    assert (outcome.status, outcome.records) == (RunStatus.DRAINED, ROWS)
    assert sorted(export.rows()) == list(range(ROWS))


def test_doctor_finds_that_the_workers_have_what_connectors_need(
    world: StandaloneWorld, environment: dict[str, str]
) -> None:
    finding = check_spark_workers(os.environ)
    assert finding.is_ok, finding
    # The executors' Python has the extra jdbc only.
    assert "iceberg" in finding.detail
    assert "jdbc" not in finding.detail


@needs_root
@pytest.mark.matrix
def test_doctor_names_a_folder_that_is_not_shared_and_a_package_that_is_missing(
    world: StandaloneWorld, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONNECT_FILE_ROOTS", f"{world.folder},{world.local}")
    finding = check_spark_workers(os.environ)
    assert finding.is_ok is False
    assert f"{world.local} of file.roots is another folder on" in finding.detail
    assert [file.name for file in world.local.iterdir() if file.name.startswith(".connect-doctor")] == []
    session = remote_runner(environment_settings()).session
    lacking = workers_finding(session, Wanted({"": ["no-such-package"]}, {}))
    assert "lacks no-such-package" in lacking.detail


@pytest.mark.matrix
def test_doctor_names_a_cluster_without_workers(world: StandaloneWorld, environment: dict[str, str]) -> None:
    world.cluster.kill("worker-1", "worker-2")
    try:
        session = remote_runner(environment_settings()).session
        finding = workers_finding(session, Wanted({}, {}), seconds=8)
    finally:
        world.cluster.start("worker-1", "worker-2")
    assert finding.is_ok is False
    assert "no task has ended in 8 s" in finding.detail

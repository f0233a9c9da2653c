"""Connectors by ``spark-submit`` on a real YARN, with the driver here and on the cluster.

In ``make matrix``, as each application takes most of a minute to start; ``test_standalone_cluster.py`` is what
``make test`` has of ``spark-submit``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from connect_core.dev.maven import spark_home
from connect_core.interval.runs import RunStatus
from tests.faults.executor_python import executor_python
from tests.faults.exports import Export, LineExport
from tests.faults.world import CHECKOUT, World
from tests.spark.submission import run
from tests.spark.yarn_cluster import YarnCluster, yarn_cluster

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(900)]

ROWS = 40
JOB = """
import pyarrow as pa
from pyspark.sql import SparkSession

def double(batches):
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"id": [2 * number for number in batch["id"].to_pylist()]})

session = SparkSession.builder.getOrCreate()
frame = session.range(0, 10, 1, 2).mapInArrow(double, "id long")
print("sum", sum(row.id for row in frame.collect()))
session.stop()
"""


@pytest.fixture(scope="module")
def yarn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[YarnCluster]:
    with yarn_cluster(tmp_path_factory.mktemp("yarn")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cluster's Python, which has what connect-core needs but not connect-core."""
    return executor_python(tmp_path_factory.mktemp("python") / "cluster", "jdbc", "spark")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with World(tmp_path_factory.mktemp("world"), Random(1), services=("postgres", "kafka")) as world:
        yield world


def submitted_with(yarn: YarnCluster, python: Path) -> dict[str, str]:
    """Return the settings of one small application."""
    return {
        "spark.driver.memory": "512m",
        "spark.executor.cores": "2",
        "spark.executor.instances": "1",
        "spark.executor.memory": "512m",
        "spark.pyspark.python": str(python),
        "spark.yarn.am.memory": "512m",
        "spark.yarn.appMasterEnv.PYSPARK_PYTHON": str(python),
        "spark.yarn.jars": f"local:{spark_home()}/jars/*",
        "spark.yarn.stagingDir": (yarn.folder / "staging").as_uri(),
    }


def test_yarn_runs_a_job_of_its_own_client(yarn: YarnCluster, python: Path, tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(JOB)
    given = [part for pair in submitted_with(yarn, python).items() for part in ("--conf", "=".join(pair))]
    command = [str(spark_home() / "bin" / "spark-submit"), "--master", "yarn", *given, str(script)]
    environment = {**os.environ, "HADOOP_CONF_DIR": str(yarn.conf), "PYSPARK_DRIVER_PYTHON": str(python)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400, check=False)
    assert "sum 90" in done.stdout, done.stderr[-3000:] + yarn.log()
    assert yarn.applications()[-1]["finalStatus"] == "SUCCEEDED"


@pytest.mark.parametrize(("mode", "kind"), [("client", LineExport), ("cluster", Export)])
def test_every_record_is_exported_once(  # noqa: PLR0913
    yarn: YarnCluster,
    world: World,
    python: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    kind: type[Export],
) -> None:
    """The driver has neither connect-core nor, on the cluster, this process's environment."""
    given = world.environment
    worker = Path(given.get("CONNECT_WORKER_CONFIG", CHECKOUT / "config" / "worker.properties")).read_text()
    config = tmp_path / "worker.properties"
    spark = {"spark.mode": "submit", **submitted_with(yarn, python)}
    if mode == "client":
        spark |= {"spark.pyspark.driver.python": str(python), "spark.driver.host": "127.0.0.1"}
    else:
        told = {name: value for name, value in given.items() if name.startswith("CONNECT_")}
        told["CONNECT_WORKER_CONFIG"] = str(config)
        spark |= {f"spark.yarn.appMasterEnv.{name}": value for name, value in told.items()}
    config.write_text(worker + "\n" + "".join(f"{key}={value}\n" for key, value in spark.items()))
    connection = {"conn_type": "spark", "host": "yarn", "extra": {"deploy-mode": mode}}
    own = {
        **given,
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps(connection),
        "CONNECT_WORKER_CONFIG": str(config),
        "HADOOP_CONF_DIR": str(yarn.conf),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    export = kind(world, f"{mode}-{kind.__name__}".lower())
    export.begin()
    before = len(yarn.applications())
    for turn in (0, 1):
        export.write(turn * ROWS, ROWS)
        outcome = run(export.name, turn)
        assert (outcome.status, outcome.records) == (RunStatus.DRAINED, ROWS), yarn.log()
    assert sorted(export.rows()) == list(range(2 * ROWS))
    new = yarn.applications()[before:]
    assert [one["finalStatus"] for one in new] == ["SUCCEEDED", "SUCCEEDED"]

"""What a spark-submit is given, by where its driver will run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from connect_core.dag.submit_settings import Destination, py_files, spark_properties
from connect_core.errors import ConfigError

HERE, YARN = Destination("spark", "spark://host:7077"), Destination("spark", "yarn", "cluster")
CLUSTER = {"spark.submit.deployMode": "cluster"}


@pytest.fixture(autouse=True)
def without_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)


def test_driver_on_this_machine_has_this_python() -> None:
    assert spark_properties(HERE, {})["spark.pyspark.driver.python"] == sys.executable
    given = {"spark.pyspark.python": "/opt/python"}
    assert spark_properties(HERE, given)["spark.pyspark.python"] == "/opt/python"


@pytest.mark.parametrize(
    ("place", "given"), [(YARN, {}), (Destination("spark", "yarn"), CLUSTER)], ids=["connection", "setting"]
)
def test_driver_on_the_cluster_has_the_python_of_its_machine(place: Destination, given: dict[str, str]) -> None:
    assert spark_properties(place, given) == {"spark.yarn.maxAppAttempts": "1", **given}


@pytest.mark.parametrize(
    ("place", "given", "key"),
    [
        (Destination("etl", HERE.master, "cluster"), {}, "deploy-mode of the Airflow connection etl"),
        (HERE, CLUSTER, "spark.submit.deployMode"),
    ],
)
def test_standalone_cluster_starts_no_python_driver(place: Destination, given: dict[str, str], key: str) -> None:
    with pytest.raises(ConfigError, match=f"Invalid value cluster for configuration {key}: spark://host:7077 is"):
        spark_properties(place, given)


@pytest.mark.parametrize(
    "key", ["spark.yarn.submit.waitAppCompletion", "spark.kubernetes.submission.waitAppCompletion"]
)
def test_submit_waits_for_its_driver(key: str) -> None:
    with pytest.raises(ConfigError, match=f"Invalid value False for configuration {key}: .*remove it"):
        spark_properties(YARN, {key: "False"})
    assert key in spark_properties(YARN, {key: "true"})


def test_code_goes_along_beside_what_the_settings_name() -> None:
    assert py_files(Path("/a/ours.zip"), {}) == "/a/ours.zip"
    assert py_files(Path("/a/ours.zip"), {"spark.submit.pyFiles": "x.zip,y.py"}) == "/a/ours.zip,x.zip,y.py"

"""A run as the driver of a real spark-submit; the engine is a stand-in."""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import DAG
from sqlalchemy import select

from connect_core.dag.submit import ConnectorSubmitOperator
from connect_core.errors import ConfigError, ConnectError, RetriableError
from connect_core.interval.runs import RunRequest, RunStatus
from connect_core.store import Database, migrate
from connect_core.store.models import RunReport
from tests.dag.live import STUB
from tests.dag.stub import stub_world

pytestmark = pytest.mark.servers

NAME = '--conf a\'b "c" $(d)'


class StubSubmitOperator(ConnectorSubmitOperator):
    """Submits the stand-in's application."""

    application_module = "tests.dag.stub.stub_submit"


@pytest.fixture
def operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ConnectorSubmitOperator:
    root = Path(__file__).parents[2]
    connection = {"conn_type": "spark", "host": "local[1]", "extra": {"spark-binary": "spark-submit"}}
    settings = {
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps(connection),
        "CONNECT_STUB_FOLDER": str(tmp_path),
        "CONNECT_WORKER_CONFIG": str(root / "config" / "worker.properties"),
        "CONNECT_DATABASE_URL": f"sqlite:///{tmp_path / 'metadata.db'}",
        "CONNECT_SPARK_MODE": "submit",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": f"{STUB}:{root}",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(stub_world, "FOLDER", tmp_path)
    migrate(settings["CONNECT_DATABASE_URL"])
    with DAG("dag", schedule=None):
        return StubSubmitOperator(task_id="run", connector=NAME)


def drive(operator: ConnectorSubmitOperator) -> Any:
    context: Any = {"ti": SimpleNamespace(xcom_push=lambda **pushed: None)}
    return operator.drive(RunRequest(NAME, "manual__1", asked=True, last_try=False), context)


def test_master_on_kubernetes_names_the_package_it_needs(
    operator: ConnectorSubmitOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = {"conn_type": "spark", "host": "k8s://https://127.0.0.1", "port": 1}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    with pytest.raises(ConnectError, match="apache-airflow-providers-cncf-kubernetes: install it where"):
        drive(operator)


def test_submit_returns_what_the_driver_reported(operator: ConnectorSubmitOperator) -> None:
    stub_world.say(NAME, records=7)
    outcome = drive(operator)
    assert (outcome.status, outcome.records) == (RunStatus.DRAINED, 7)
    assert operator.job_url.startswith("http://127.0.0.1:4040")
    assert NAME not in " ".join(map(str, operator.application_args or []))
    assert [run["run_id"] for run in stub_world.events(NAME) if run["event"] == "run"] == ["manual__1"]
    with Database(os.environ["CONNECT_DATABASE_URL"]).read() as connection:
        assert connection.execute(select(RunReport.ticket)).all() == []


@pytest.mark.parametrize(
    ("facts", "error"),
    [
        ({"fatal": "a wrong key"}, ConnectError),
        pytest.param({"retriable": 1}, RetriableError, marks=pytest.mark.matrix),
    ],
)
def test_submit_raises_what_the_driver_reported(
    operator: ConnectorSubmitOperator, facts: dict[str, Any], error: type[ConnectError]
) -> None:
    stub_world.say(NAME, **facts)
    with pytest.raises(ConnectError) as raised:
        drive(operator)
    assert type(raised.value) is error


@pytest.mark.matrix
def test_submit_that_breaks_down_without_a_report_fails(operator: ConnectorSubmitOperator) -> None:
    stub_world.say(NAME, crashes=True)
    with pytest.raises(RetriableError, match=r"ended without a report.*spark-submit"):
        drive(operator)


def test_driver_is_not_sent_to_a_standalone_cluster(
    operator: ConnectorSubmitOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = {"conn_type": "spark", "host": "spark://master:7077", "extra": {"deploy-mode": "cluster"}}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    with pytest.raises(ConfigError, match=r"deploy-mode of the Airflow connection spark_default: .*set it to client"):
        drive(operator)
    assert stub_world.events(NAME) == []

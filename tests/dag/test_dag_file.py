"""The file Airflow parses."""

import runpy
from pathlib import Path

import pytest
from airflow.sdk import DAG

from connect_core.dag.naming import HOUSEKEEPING_DAG_ID, dag_id_of
from connect_core.errors import ConnectError
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import Database, connectors, migrate

FILE = Path(__file__).parents[2] / "dags" / "connect_dags.py"


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "connect.db"
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "airflow"))
    monkeypatch.setenv("CONNECT_DATABASE_URL", f"sqlite:///{file}")
    monkeypatch.setenv("CONNECT_WORKER_CONFIG", str(FILE.parents[1] / "config" / "worker.properties"))
    return file


def store(file: Path, *names: str) -> None:
    database = Database(f"sqlite:///{file}", pooled=False)
    migrate(database)
    with database.write() as connection:
        for name in names:
            connectors.create(connection, name, connectors.NewConfig(ConnectorType.SINK, {}), TargetState.STARTED)


def parse() -> list[str]:
    return [value.dag_id for value in runpy.run_path(str(FILE)).values() if isinstance(value, DAG)]


def test_file_holds_a_dag_per_connector(database: Path) -> None:
    store(database, "b", "a")
    assert parse() == [*sorted(map(dag_id_of, "ab")), HOUSEKEEPING_DAG_ID]


def test_file_holds_only_the_dag_of_a_task(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store(database, "b", "a")
    monkeypatch.setenv("_AIRFLOW_PARSING_CONTEXT_DAG_ID", dag_id_of("b"))
    assert parse() == [dag_id_of("b")]


def test_file_holds_the_last_known_dags_while_the_database_is_away(database: Path) -> None:
    store(database, "a")
    before = parse()
    database.unlink()
    assert parse() == before


def test_file_fails_rather_than_drop_dags_it_never_knew(database: Path) -> None:
    with pytest.raises(ConnectError, match="migrations"):
        parse()
    store(database, "a")
    assert dag_id_of("a") in parse()


def test_file_is_short() -> None:
    assert len(FILE.read_text().splitlines()) <= 25

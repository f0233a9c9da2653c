"""What must not leave: rows in PostgreSQL's error details, and the worker's own password."""

from __future__ import annotations

import traceback
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from connect_core.connectors.jdbc.source.arrow_reader import ArrowReader
from connect_core.errors import ConnectError
from tests.connectors.jdbc.servers import Server, replace_config
from tests.connectors.jdbc.sink_runs import SinkRun, order

pytestmark = pytest.mark.servers


@pytest.mark.parametrize("mode", ["insert", "upsert"])
def test_rows_in_error_details_stay_out_of_messages_and_traces(postgresql: Server, mode: str) -> None:
    postgresql.execute(
        "CREATE TABLE orders (id BIGINT PRIMARY KEY, label TEXT CHECK (label <> 'canary'), "
        "token TEXT DEFAULT 'secret-row')"
    )
    keys = {"pk.mode": "record_value", "pk.fields": "id"} if mode == "upsert" else {}
    with pytest.raises(ConnectError) as refused:
        SinkRun(postgresql, {"insert.mode": mode, **keys}).put([order(0, 1), order(1, 2, "canary")])
    trace = "".join(traceback.format_exception(refused.value))
    assert "violates check constraint" in trace
    assert "Failing row" not in trace
    assert "secret-row" not in trace
    assert "secret-row" not in str(refused.value)


def test_details_of_any_statement_are_left_out(postgresql: Server) -> None:
    postgresql.execute("CREATE TABLE one (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO one VALUES (7, 'a')")
    with pytest.raises(ConnectError) as refused, postgresql.open().begin() as connection:
        connection.execute(sa.text("INSERT INTO one VALUES (7, 'canary')"))
    trace = "".join(traceback.format_exception(refused.value))
    assert "duplicate key" in trace
    assert "already exists" not in trace


def test_the_workers_password_is_not_a_connectors(postgresql: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", postgresql.config["connection.password"])
    bare = replace_config(postgresql, {"connection.attempts": "1"}, without="connection.password")
    with pytest.raises(ConnectError, match="password"), bare.open().connect():
        pass
    with postgresql.open().connect() as connection:
        assert connection.execute(sa.text("SELECT 1")).scalar() == 1


READERS = ("rows", "columns")


def read_one(server: Server, reader: str, statement: str = "SELECT current_user") -> None:
    """Read with psycopg, or with ADBC as snapshots do."""
    database = server.open()
    if reader == "rows":
        with database.connect() as connection:
            connection.execute(sa.text(statement)).fetchall()
        return
    columns = ArrowReader(database)
    try:
        list(columns.chunks(sa.select(sa.text(statement.removeprefix("SELECT "))), 10))
    finally:
        columns.close()


@pytest.mark.parametrize("reader", READERS)
def test_details_are_left_out_of_errors_while_reading(postgresql: Server, reader: str) -> None:
    postgresql.execute(
        "CREATE FUNCTION complain() RETURNS int LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'complaint' USING DETAIL = 'canary-detail', HINT = 'canary-hint'; END $$"
    )
    with pytest.raises(ConnectError) as refused:
        read_one(postgresql, reader, "SELECT jdbc_test.complain()")
    trace = "".join(traceback.format_exception(refused.value))
    assert "complaint" in str(refused.value)
    assert "canary" not in trace


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("way", ["password", "file", "service"])
def test_no_login_of_the_workers_environment_is_a_connectors(
    postgresql: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reader: str, way: str
) -> None:
    user, password = postgresql.config["connection.user"], postgresql.config["connection.password"]
    (tmp_path / "passwords").write_text(f"*:*:*:*:{password}\n")
    (tmp_path / "passwords").chmod(0o600)
    (tmp_path / "services").write_text(f"[worker]\nuser={user}\npassword={password}\n")
    for name, value in {
        "password": {"PGPASSWORD": password, "PGUSER": user},
        "file": {"PGPASSFILE": str(tmp_path / "passwords"), "PGUSER": user},
        "service": {"PGSERVICE": "worker", "PGSERVICEFILE": str(tmp_path / "services")},
    }[way].items():
        monkeypatch.setenv(name, value)
    bare = replace_config(postgresql, {"connection.attempts": "1"}, without="connection.password")
    with pytest.raises(ConnectError, match="password"):
        read_one(bare, reader)
    nobody = replace_config(bare, {}, without="connection.user")
    with pytest.raises(ConnectError):
        read_one(nobody, reader)
    read_one(postgresql, reader)


@pytest.mark.parametrize("reader", READERS)
def test_no_place_of_the_workers_environment_is_a_connectors(
    postgresql: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reader: str
) -> None:
    (tmp_path / "services").write_text("[elsewhere]\nhostaddr=127.0.0.2\nport=1\nsslcert=/nowhere\n")
    elsewhere = {
        "PGHOST": "127.0.0.2",
        "PGHOSTADDR": "127.0.0.2",
        "PGPORT": "1",
        "PGDATABASE": "none",
        "PGOPTIONS": "-c nothing=1",
        "PGTARGETSESSIONATTRS": "standby",
        "PGSSLCERT": "/nowhere",
        "PGSERVICE": "elsewhere",
        "PGSERVICEFILE": str(tmp_path / "services"),
    }
    for name, value in elsewhere.items():
        monkeypatch.setenv(name, value)
    read_one(postgresql, reader)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(user=postgresql.config["connection.user"]).close()

"""What must not leave: rows in PostgreSQL's error details, and the worker's own password."""

from __future__ import annotations

import traceback

import pytest
import sqlalchemy as sa

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

"""Where a database does not tell of transactions under way: rows that commit late are still read, or it is declared."""

from __future__ import annotations

import time

import pytest

from connect_core.api.guarantee import Delivery
from connect_core.connectors.jdbc.source import bounds as source_bounds
from connect_core.connectors.jdbc.source import latest_bounds as source_latest
from connect_core.connectors.jdbc.source import reading as source_reading
from connect_core.connectors.jdbc.source.bounds import now_millis
from connect_core.connectors.jdbc.source.connector import JdbcSourceConnector
from connect_core.testing.source_engine import Lane
from tests.connectors.jdbc.servers import Server, of_servers
from tests.connectors.jdbc.sources import follower

ELSEWHERE = pytest.mark.parametrize("server", of_servers(["mariadb", "sqlite"]), indirect=True)


def ago(server: Server, seconds: int) -> str:
    """Return the expression for a point in time, in whole seconds as CURRENT_TIMESTAMP is."""
    if server.kind == "sqlite":
        return f"datetime('now', '-{seconds} seconds')"
    return f"now() - INTERVAL {seconds} SECOND"


@pytest.fixture
def events(server: Server) -> Server:
    server.execute("CREATE TABLE events (id BIGINT PRIMARY KEY, v VARCHAR(9), changed DATETIME NOT NULL)")
    return server


@ELSEWHERE
def test_rows_younger_than_ten_seconds_wait_by_default(events: Server) -> None:
    source = follower(events, mode="timestamp", timestamp_column_name="changed")
    events.execute(
        f"INSERT INTO events VALUES (1, 'a', {ago(events, 0)})",
        f"INSERT INTO events VALUES (2, 'a', {ago(events, 15)})",
    )
    assert source.rows("id") == [2]
    assert source.is_idle()


@ELSEWHERE
def test_what_changes_again_within_one_second_is_read_in_its_last_version(events: Server) -> None:
    source = follower(events, mode="timestamp", timestamp_column_name="changed", timestamp_delay_interval_ms="2000")
    events.execute(f"INSERT INTO events VALUES (5, 'a', {ago(events, 0)}), (9, 'a', {ago(events, 0)})")
    assert source.rows() == []
    events.execute("UPDATE events SET v = 'b' WHERE id = 5")
    deadline = time.monotonic() + 30
    while not source.records and time.monotonic() < deadline:
        source.interval()
    assert [(one.value["id"], one.value["v"]) for one in source.records] == [(5, "b"), (9, "a")]


@ELSEWHERE
def test_an_earlier_timestamp_that_commits_later_is_read(events: Server) -> None:
    source = follower(events, mode="timestamp", timestamp_column_name="changed")
    events.execute(
        f"INSERT INTO events VALUES (2, 'a', {ago(events, 3)})",
        f"INSERT INTO events VALUES (3, 'a', {ago(events, 30)})",
    )
    assert source.rows("id") == [3]
    events.execute(f"INSERT INTO events VALUES (1, 'a', {ago(events, 9)})")
    events.execute("UPDATE events SET changed = " + ago(events, 20) + " WHERE id = 2")
    events.execute("UPDATE events SET changed = " + ago(events, 25) + " WHERE id = 1")
    assert source.rows("id") == [1, 2]


@pytest.mark.servers
def test_the_databases_clock_counts(mariadb: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    mariadb.execute("CREATE TABLE events (id BIGINT PRIMARY KEY, changed DATETIME NOT NULL)")
    monkeypatch.setattr(source_bounds, "now_millis", lambda: now_millis() + 3_600_000)
    source = follower(mariadb, mode="timestamp", timestamp_column_name="changed")
    mariadb.execute("INSERT INTO events VALUES (1, now())")
    assert source.rows() == []


@ELSEWHERE
def test_the_gap_before_the_first_row_is_watched(events: Server) -> None:
    source = follower(events, mode="incrementing", incrementing_column_name="id")
    events.execute("INSERT INTO events VALUES (2, 'a', '2024-01-01')")
    assert source.rows("id") == [2]
    events.execute("INSERT INTO events VALUES (1, 'a', '2024-01-01')")
    assert source.rows("id") == [1]
    assert source.is_idle()


@ELSEWHERE
def test_gaps_are_looked_at_once_more_after_an_outage(events: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    source = follower(events, mode="incrementing", incrementing_column_name="id")
    events.execute("INSERT INTO events VALUES (1, 'a', '2024-01-01'), (4, 'a', '2024-01-01')")
    assert source.rows("id") == [1, 4]
    events.execute("INSERT INTO events VALUES (2, 'a', '2024-01-01')")
    for module in (source_bounds, source_reading, source_latest):
        monkeypatch.setattr(module, "now_millis", lambda: now_millis() + 61_000)
    assert source.rows("id") == [2]
    assert source.is_idle()
    # That look was the last: what comes even later is beyond what is promised.
    events.execute("INSERT INTO events VALUES (3, 'a', '2024-01-01')")
    assert source.is_idle()
    events.execute("INSERT INTO events VALUES (5, 'a', '2024-01-01')")
    assert source.rows("id") == [5]


@ELSEWHERE
def test_an_idle_connector_looks_once_at_gaps_whose_time_is_over(
    events: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = follower(events, mode="incrementing", incrementing_column_name="id")
    events.execute("INSERT INTO events VALUES (1, 'a', '2024-01-01'), (3, 'a', '2024-01-01')")
    source.interval()
    for module in (source_bounds, source_reading, source_latest):
        monkeypatch.setattr(module, "now_millis", lambda: now_millis() + 61_000)
    connector = source.engine.start(source.position)
    try:
        for _ in range(2):
            assert connector.latest(source.position.offsets) == source.position.offsets
        events.execute("INSERT INTO events VALUES (2, 'a', '2024-01-01')")
        assert connector.latest(source.position.offsets) == source.position.offsets
    finally:
        connector.stop()


@ELSEWHERE
@pytest.mark.parametrize("lane", list(Lane))
def test_gaps_beyond_those_watched_are_given_up_by_name_the_oldest_first(
    events: Server, caplog: pytest.LogCaptureFixture, lane: Lane
) -> None:
    source = follower(events, lane, mode="incrementing", incrementing_column_name="id")
    even = ", ".join(f"({number}, 'a', '2024-01-01')" for number in range(2, 1203, 2))
    events.execute(f"INSERT INTO events VALUES {even}")
    assert len(source.rows("id")) == 601
    told = [one.getMessage() for one in caplog.records if "gaps in the numbers than can be tracked" in one.getMessage()]
    assert len(told) == 1
    assert f"commit late between {-(2**63)} and 199, and in further ranges" in told[0]
    events.execute("INSERT INTO events VALUES (201, 'a', '2024-01-01'), (203, 'a', '2024-01-01')")
    assert source.rows("id") == [203]


@ELSEWHERE
def test_gaps_that_can_all_be_watched_give_no_warning(events: Server, caplog: pytest.LogCaptureFixture) -> None:
    source = follower(events, mode="incrementing", incrementing_column_name="id")
    events.execute("INSERT INTO events VALUES " + ", ".join(f"({2 * n}, 'a', '2024-01-01')" for n in range(1, 501)))
    assert len(source.rows("id")) == 500
    events.execute("INSERT INTO events VALUES (1, 'a', '2024-01-01'), (999, 'a', '2024-01-01')")
    assert source.rows("id") == [1, 999]
    assert "left out" not in caplog.text


@pytest.mark.parametrize(
    ("settings", "delivery", "condition"),
    [
        ({"mode": "timestamp"}, Delivery.EXACTLY_ONCE, "commits within 10 s (timestamp.delay.interval.ms)"),
        ({"mode": "timestamp", "timestamp.delay.interval.ms": "0"}, Delivery.AT_MOST_ONCE, "are lost"),
        ({"mode": "incrementing"}, Delivery.EXACTLY_ONCE, "commits within 60 s (late.window.ms)"),
        ({"mode": "incrementing", "late.window.ms": "0"}, Delivery.AT_MOST_ONCE, "are lost"),
        ({"mode": "bulk"}, Delivery.EXACTLY_ONCE, "primary key"),
        ({"mode": "bulk", "query": "SELECT 1"}, Delivery.AT_LEAST_ONCE, ""),
    ],
)
def test_the_guarantee_says_its_condition(settings: dict[str, str], delivery: Delivery, condition: str) -> None:
    base = {"connection.url": "jdbc:mariadb://127.0.0.1/shop", "topic.prefix": "t-", "timestamp.column.name": "changed"}
    found = JdbcSourceConnector().guarantee({**base, **settings})
    assert found.delivery is delivery
    assert condition in found.condition


@pytest.mark.parametrize(
    ("settings", "is_bare"),
    [
        ({}, True),
        ({"table.types": "TABLE,VIEW"}, False),
        ({"query": "SELECT 1", "incrementing.column.name": "a"}, False),
    ],
)
def test_tables_of_postgresql_need_no_condition(settings: dict[str, str], is_bare: bool) -> None:
    config = {"connection.url": "jdbc:postgresql://127.0.0.1/shop", "topic.prefix": "t-", "mode": "incrementing"}
    found = JdbcSourceConnector().guarantee({**config, **settings})
    assert found.delivery is Delivery.EXACTLY_ONCE
    assert (found.condition == "") is is_bare

"""Rows that commit late: nothing lost, nothing twice."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
import sqlalchemy as sa

from connect_core.connectors.jdbc.source.gaps import Gap, Gaps
from connect_core.connectors.jdbc.source.horizon import FloorState, Horizon
from connect_core.testing.source_engine import Lane
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sources import follower

LANES = pytest.mark.parametrize("lane", list(Lane), ids=lambda lane: lane.value)
servers = pytest.mark.servers


@contextmanager
def session(server: Server) -> Iterator[sa.Connection]:
    """A client with a transaction of its own."""
    with server.open().connect() as connection:
        connection.begin()
        yield connection


def insert(connection: sa.Connection, *numbers: int, at: str = "now()") -> None:
    for number in numbers:
        connection.execute(sa.text(f"INSERT INTO events VALUES ({number}, {at})"))


@pytest.fixture
def events(postgresql: Server) -> Server:
    postgresql.execute("CREATE TABLE events (id BIGINT PRIMARY KEY, changed TIMESTAMPTZ NOT NULL)")
    return postgresql


@servers
@LANES
def test_earlier_numbers_may_commit_later(events: Server, lane: Lane) -> None:
    source = follower(events, lane, mode="incrementing", incrementing_column_name="id")
    with session(events) as slow, session(events) as fast:
        insert(slow, 1, 2)
        insert(fast, 3)
        fast.commit()
        source.interval()
        slow.commit()
    source.interval()
    assert sorted(record.value["id"] for record in source.records) == [1, 2, 3]
    assert source.is_idle()


@servers
@LANES
def test_a_number_taken_before_the_transaction_wrote_is_found(events: Server, lane: Lane) -> None:
    source = follower(events, lane, mode="incrementing", incrementing_column_name="id")
    with session(events) as slow:
        slow.execute(sa.text("SELECT 1"))
        for number in (10, 20, 30):
            events.execute(f"INSERT INTO events VALUES ({number}, now())")
            source.interval()
        insert(slow, 5)
        slow.commit()
    assert [record.value["id"] for record in source.records] == [10, 20, 30]
    assert source.rows("id") == [5]
    assert source.rows() == []


@servers
@LANES
def test_savepoints_have_transaction_ids_of_their_own(events: Server, lane: Lane) -> None:
    source = follower(events, lane, mode="incrementing", incrementing_column_name="id")
    with session(events) as slow:
        insert(slow, 1)
        with slow.begin_nested():
            insert(slow, 2)
        events.execute("INSERT INTO events VALUES (3, now())")
        source.interval()
        slow.commit()
    source.interval()
    assert sorted(record.value["id"] for record in source.records) == [1, 2, 3]


@servers
@LANES
def test_timestamps_may_tie_and_go_back(events: Server, lane: Lane) -> None:
    source = follower(events, lane, mode="timestamp", timestamp_column_name="changed")
    events.execute("INSERT INTO events SELECT n, '2024-01-01 00:00:00Z' FROM generate_series(1, 5) n")
    assert source.rows("id") == [1, 2, 3, 4, 5]
    events.execute("INSERT INTO events VALUES (6, '2024-01-01 00:00:00Z'), (0, '2024-01-01 00:00:00Z')")
    events.execute("INSERT INTO events VALUES (7, '2023-06-01 00:00:00Z')")
    assert sorted(source.rows("id")) == [0, 6, 7]
    events.execute("INSERT INTO events VALUES (8, '2024-01-01 00:00:00Z'), (9, '2022-01-01 00:00:00Z')")
    assert sorted(source.rows("id")) == [8, 9]
    assert source.is_idle()


@servers
def test_late_rows_are_gone_on_with_after_a_crash(events: Server) -> None:
    source = follower(events, mode="incrementing", incrementing_column_name="id", batch_max_rows="2")
    with session(events) as slow:
        insert(slow, *range(1, 8))
        events.execute("INSERT INTO events VALUES (100, now())")
        source.interval()
        slow.commit()
    events.execute("INSERT INTO events VALUES (101, now())")
    polls = source.engine.read(source.position)
    source.commit(polls[:2])
    source.interval()
    numbers = [record.value["id"] for record in source.records]
    assert sorted(numbers) == [1, 2, 3, 4, 5, 6, 7, 100, 101]


@servers
@LANES
@pytest.mark.parametrize("mode", ["incrementing", "timestamp", "timestamp+incrementing"])
def test_writers_at_once_lose_nothing(events: Server, lane: Lane, mode: str) -> None:
    source = follower(
        events, lane, mode=mode, incrementing_column_name="id", timestamp_column_name="changed", batch_max_rows="7"
    )
    events.execute("CREATE SEQUENCE numbers")
    done = threading.Event()
    writers = [threading.Thread(target=write_some, args=(events, seed)) for seed in range(4)]

    def write_all() -> None:
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        done.set()

    main = threading.Thread(target=write_all)
    main.start()
    while not done.is_set():
        source.interval()
    main.join()
    while not source.is_idle():
        source.interval()
    expected = sorted(row[0] for row in events.rows("SELECT id FROM events"))
    assert sorted(record.value["id"] for record in source.records) == expected
    assert len(expected) > 50


def write_some(server: Server, seed: int) -> None:
    """Write in transactions that overlap, with savepoints, roll-backs, ties and old timestamps."""
    chance = random.Random(seed)
    with psycopg.connect(
        host=server.open().engine.url.host,
        port=server.open().engine.url.port,
        user=server.config["connection.user"],
        password=server.config["connection.password"],
        dbname=server.open().engine.url.database,
        options="-c search_path=jdbc_test",
    ) as client:
        for _ in range(12):
            for _ in range(chance.randrange(1, 5)):
                age = chance.choice(["0", "0", "5", "3600"])
                statement = f"INSERT INTO events VALUES (nextval('numbers'), now() - interval '{age} s')"
                if chance.random() < 0.3:
                    with client.transaction():
                        client.execute(statement)
                else:
                    client.execute(statement)
                threading.Event().wait(chance.random() * 0.03)
            if chance.random() < 0.2:
                client.rollback()
            else:
                client.commit()


@servers
@LANES
def test_rows_rewritten_by_alter_table_are_not_read_again(events: Server, lane: Lane) -> None:
    source = follower(events, lane, mode="timestamp", timestamp_column_name="changed")
    events.execute(
        "ALTER TABLE events ADD small INTEGER", "INSERT INTO events VALUES (1, '2024-01-01Z', 7), (2, '2024-01-02Z', 8)"
    )
    assert source.rows("id") == [1, 2]
    events.execute("ALTER TABLE events ALTER small TYPE NUMERIC(20, 2)")
    assert source.rows() == []
    events.execute("INSERT INTO events VALUES (3, '2024-01-03Z', 9)")
    rows = source.interval()
    assert [record.value["id"] for record in rows] == [3]
    assert rows[0].value_schema is not None
    assert rows[0].value_schema.version == 2


@servers
@LANES
def test_rows_rewritten_amid_a_capped_interval_are_not_read_again(events: Server, lane: Lane) -> None:
    source = follower(events, lane, mode="incrementing", incrementing_column_name="id", batch_max_rows="2")
    events.execute("INSERT INTO events SELECT n, now() FROM generate_series(1, 5) n")
    source.commit(source.engine.read(source.position, lane)[:1])
    assert 0 < len(source.records) < 5
    events.execute("ALTER TABLE events ALTER changed TYPE DATE")
    source.interval()
    assert [record.value["id"] for record in source.records] == [1, 2, 3, 4, 5]
    assert source.is_idle()


@servers
@LANES
def test_rows_rewritten_after_the_plan_wait_for_the_next(events: Server, lane: Lane) -> None:
    source = follower(events, lane, mode="incrementing", incrementing_column_name="id")
    events.execute("INSERT INTO events VALUES (1, now())")
    assert source.rows("id") == [1]
    events.execute("INSERT INTO events VALUES (2, now())")
    planned = source.engine.bound(source.position)
    events.execute("ALTER TABLE events ALTER changed TYPE DATE")
    source.commit(source.engine.read(source.position, lane, planned))
    source.interval()
    assert [record.value["id"] for record in source.records] == [1, 2]
    assert source.is_idle()


@servers
@LANES
def test_late_rows_are_found_in_a_rewritten_table(events: Server, lane: Lane) -> None:
    source = follower(events, lane, mode="incrementing", incrementing_column_name="id")
    with session(events) as slow:
        slow.execute(sa.text("SELECT 1"))
        events.execute("INSERT INTO events VALUES (10, now()), (20, now())")
        source.interval()
        events.execute("ALTER TABLE events ALTER changed TYPE DATE")
        insert(slow, 5)
        slow.commit()
    assert source.rows("id") == [5]
    events.execute("INSERT INTO events VALUES (30, now())")
    assert source.rows("id") == [30]
    assert source.is_idle()


@servers
def test_plans_after_a_rewriting_find_nothing(events: Server) -> None:
    source = follower(events, mode="incrementing", incrementing_column_name="id")
    events.execute("INSERT INTO events VALUES (1, now()), (2, now())")
    source.interval()
    connector = source.engine.start(source.position)
    try:
        assert connector.latest(source.position.offsets) == source.position.offsets
        events.execute("ALTER TABLE events ALTER changed TYPE DATE")
        for _ in range(3):
            assert connector.latest(source.position.offsets) == source.position.offsets
    finally:
        connector.stop()


@servers
def test_numbers_left_out_are_looked_for_again_elsewhere(mariadb: Server) -> None:
    mariadb.execute("CREATE TABLE events (id BIGINT PRIMARY KEY, n INTEGER)")
    source = follower(mariadb, mode="incrementing", incrementing_column_name="id", batch_max_rows="2")
    with session(mariadb) as slow, session(mariadb) as slower:
        insert(slow, 2, at="1")
        insert(slower, 4, at="1")
        mariadb.execute("INSERT INTO events VALUES (1, 1), (3, 1), (5, 1), (6, 1)")
        assert source.rows("id") == [1, 3, 5, 6]
        slow.commit()
        assert source.rows("id") == [2]
        mariadb.execute("INSERT INTO events VALUES (7, 1)")
        slower.commit()
        assert source.rows("id") == [4, 7]
    assert source.is_idle()
    forgetful = follower(mariadb, mode="incrementing", incrementing_column_name="id", late_window_ms="0")
    forgetful.interval()
    mariadb.execute("INSERT INTO events VALUES (0, 1)")
    assert forgetful.rows("id") == [0]
    mariadb.execute("INSERT INTO events VALUES (-1, 1)")
    assert forgetful.rows() == []


def test_gaps_are_cut_where_numbers_are_found() -> None:
    gaps = Gaps().after(4, [5, 6, 10], 100).after(10, [12], 200)
    assert gaps.ranges() == ((7, 9), (11, 11))
    assert gaps.filled([8, 11]).ranges() == ((7, 7), (9, 9))
    assert Gaps.from_state(gaps.to_state()) == gaps
    assert gaps.looked_at(60_050, 60.0).gaps == (Gap(7, 9, 100), Gap(11, 11, 200))
    assert Gaps().after(None, [5, 6], 100).ranges() == ((-(2**63), 4),)
    assert gaps.looked_at(60_150, 60.0).ranges() == ((11, 11),)


def test_floor_rises_once_all_that_ran_has_ended() -> None:
    floor = FloorState().advanced("[10]", 100, Horizon(100, 105, frozenset({"3/1"})))
    assert (floor.floor, floor.mark, floor.mark_xmax) == ("", "[10]", 105)
    waiting = floor.advanced("[20]", 106, Horizon(106, 110, frozenset({"3/1", "4/1"})))
    assert waiting.mark == "[10]"
    ended = waiting.advanced("[30]", 108, Horizon(108, 120, frozenset()))
    assert (ended.floor, ended.mark_xmax) == ("", 120)
    assert ended.advanced("[40]", 119, Horizon(119, 130, frozenset())).floor == ""
    assert ended.advanced("[40]", 120, Horizon(121, 130, frozenset())).floor == "[10]"
    assert FloorState.from_state(waiting.to_state()) == waiting

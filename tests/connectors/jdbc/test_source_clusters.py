"""What PostgreSQL's transaction ids do not tell: on a hot standby, after 2³² transactions, of a partitioned table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_core.connectors.jdbc.source.connector import JdbcSourceConnector
from connect_core.errors import RetriableError
from tests.connectors.jdbc.clusters import Cluster, cluster, run
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sources import follower

pytestmark = pytest.mark.servers


@pytest.fixture
def primary(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path) as made:
        yield made


@pytest.fixture
def standby(primary: Cluster, tmp_path: Path) -> Iterator[Cluster]:
    primary.execute("CREATE TABLE events (id BIGINT PRIMARY KEY, changed TIMESTAMPTZ NOT NULL DEFAULT now())")
    primary.execute("INSERT INTO events VALUES (1)")
    made = primary.standby(tmp_path / "standby")
    try:
        yield made
    finally:
        made.stop()


MODE = {"mode": "incrementing", "incrementing.column.name": "id"}


def test_a_hot_standby_is_refused_and_read_once_it_is_the_primary(primary: Cluster, standby: Cluster) -> None:
    source = follower(primary.server(), **{name.replace(".", "_"): text for name, text in MODE.items()})
    assert source.rows("id") == [1]
    config = {**standby.server().config, **MODE, "topic.prefix": "t-"}
    found = JdbcSourceConnector().validate_live(config, standby.server().limits)
    assert any("hot standby" in message for message in found["connection.url"])
    assert not JdbcSourceConnector().validate_live({**config, **primary.server().config}, primary.server().limits)

    replica = follower(standby.server(), mode="incrementing", incrementing_column_name="id")
    replica.position = source.position
    with pytest.raises(RetriableError, match="hot standby"):
        replica.interval()
    with primary.client() as slow, slow.transaction(force_rollback=True):
        # The standby knows nothing of it: it has a number, and has written nothing.
        slow.execute("SELECT txid_current_if_assigned()")
        primary.execute("INSERT INTO events VALUES (3)")
        standby.await_rows("events", 2)
        with pytest.raises(RetriableError, match="hot standby"):
            replica.interval()
        slow.execute("INSERT INTO events VALUES (2)")
    primary.execute("INSERT INTO events VALUES (2)")
    standby.await_rows("events", 3)
    primary.stop()
    standby.promote()
    assert replica.rows("id") == [2, 3]
    standby.execute("INSERT INTO events VALUES (4)")
    assert replica.rows("id") == [4]


def test_a_view_of_a_standby_is_read_by_time(primary: Cluster, standby: Cluster) -> None:
    primary.execute("CREATE VIEW seen AS SELECT * FROM events", "INSERT INTO events VALUES (3)")
    standby.await_rows("seen", 2)
    source = follower(
        standby.server(), mode="incrementing", incrementing_column_name="id", table_types="VIEW",
        validate_non_null="false",
    )  # fmt: skip
    assert source.rows("id") == [1, 3]
    primary.execute("INSERT INTO events VALUES (2)")
    standby.await_rows("seen", 3)
    assert source.rows("id") == [2]


def test_rows_of_two_to_the_32_transactions_ago_are_not_new_again(primary: Cluster) -> None:
    primary.execute(
        "CREATE TABLE events (id BIGINT PRIMARY KEY, changed TIMESTAMPTZ NOT NULL)",
        *("SELECT txid_current()" for _ in range(200)),
        "INSERT INTO events SELECT n, timestamptz '2024-01-01Z' + n * interval '1 hour' FROM generate_series(1, 5) n",
        "VACUUM (FREEZE)",
    )
    with primary.client() as client:
        found = client.execute("SELECT min(xmin::text::bigint), max(xmin::text::bigint) FROM events").fetchone()
    assert found is not None
    written = int(found[0])
    primary.stop()
    # 2^32 transactions later, a hundred before those ids are given out again.
    run("pg_resetwal", "-D", str(primary.data), "-e", "1", "-x", str(written - 100), "-u", str(written - 150))
    primary.start()
    source = follower(primary.server(), mode="timestamp", timestamp_column_name="changed")
    assert source.rows("id") == [1, 2, 3, 4, 5]
    for number in range(6, 11):
        primary.execute(
            f"INSERT INTO events VALUES ({number}, timestamptz '2024-01-01Z' + {number} * interval '1 hour')"
        )
        assert source.rows("id") == [number]
    primary.execute(*("SELECT txid_current()" for _ in range(150)))
    assert source.rows("id") == []
    primary.execute("INSERT INTO events VALUES (11, timestamptz '2024-01-02Z')")
    assert source.rows("id") == [11]


@pytest.fixture
def parted(postgresql: Server) -> Server:
    postgresql.execute(
        "CREATE TABLE events (id BIGINT NOT NULL, small INTEGER, PRIMARY KEY (id)) PARTITION BY RANGE (id)",
        "CREATE TABLE events_low PARTITION OF events FOR VALUES FROM (0) TO (100)",
        "CREATE TABLE events_high PARTITION OF events FOR VALUES FROM (100) TO (200)",
        "INSERT INTO events VALUES (1, 1), (101, 1)",
    )
    return postgresql


def test_a_rewritten_partitioned_table_is_not_read_again(parted: Server) -> None:
    source = follower(parted, mode="incrementing", incrementing_column_name="id")
    assert source.rows("id") == [1, 101]
    parted.execute("ALTER TABLE events ALTER small TYPE NUMERIC(20, 2)")
    assert source.rows() == []
    parted.execute("INSERT INTO events VALUES (102, 1)")
    assert source.rows("id") == [102]
    assert source.is_idle()


def test_late_rows_are_found_while_partitions_come_and_go(parted: Server) -> None:
    source = follower(parted, mode="incrementing", incrementing_column_name="id")
    assert source.rows("id") == [1, 101]
    parted.execute("ALTER TABLE events ALTER small TYPE NUMERIC(20, 2)", "INSERT INTO events VALUES (102, 1)")
    assert source.rows("id") == [102]
    with parted.open().connect() as slow:
        slow.exec_driver_sql("SELECT 1")
        parted.execute("INSERT INTO events VALUES (105, 1)")
        assert source.rows("id") == [105]
        parted.execute(
            "CREATE TABLE more (LIKE events INCLUDING ALL)",
            "ALTER TABLE events ATTACH PARTITION more FOR VALUES FROM (200) TO (300)",
            "INSERT INTO events VALUES (201, 1)",
        )
        assert source.rows("id") == [201]
        slow.exec_driver_sql("INSERT INTO events VALUES (103, 1)")
        slow.commit()
    assert source.rows("id") == [103]
    parted.execute("ALTER TABLE events DETACH PARTITION more", "DROP TABLE more")
    assert source.rows() == []

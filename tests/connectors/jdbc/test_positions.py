"""Times that no position can have are named, not raised as errors of Python."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connect_core.connectors.jdbc.source.connector import JdbcSourceConnector
from connect_core.errors import ConfigError, ConnectError, DataError
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sources import follower, key_of

MODE = {"mode": "timestamp", "timestamp.column.name": "ts", "db.timezone": "Europe/Berlin"}


@pytest.mark.parametrize("value", ["", "0000-00-00 00:00:00", "0001-01-01 00:00:00"])
def test_value_that_is_no_time_is_named(sqlite: Server, value: str) -> None:
    sqlite.execute(
        "CREATE TABLE e (id INTEGER PRIMARY KEY, ts DATETIME NOT NULL)", f"INSERT INTO e VALUES (1, '{value}')"
    )
    with pytest.raises(DataError, match=f"table e: value '{value}' of column ts is no time .*correct these rows"):
        follower(sqlite, **MODE).interval()


@pytest.mark.parametrize("initial", ["1000000000000000000", "-62135596800001"])
def test_initial_time_out_of_range_is_refused(sqlite: Server, initial: str) -> None:
    sqlite.execute("CREATE TABLE e (id INTEGER PRIMARY KEY, ts DATETIME NOT NULL)")
    with pytest.raises(ConfigError, match=rf"{initial} for configuration timestamp\.initial: it is not within"):
        follower(sqlite, **MODE, timestamp_initial=initial).interval()
    found = JdbcSourceConnector().validate({**sqlite.config, **MODE, "topic.prefix": "a", "timestamp.initial": initial})
    assert [one.name for one in found if one.error_messages] == ["timestamp.initial"]


def test_altered_offset_out_of_range_is_refused(sqlite: Server) -> None:
    sqlite.execute("CREATE TABLE e (id INTEGER PRIMARY KEY, ts DATETIME NOT NULL)")
    source = follower(sqlite, **MODE)
    source.position = replace(source.position, offsets={key_of(protocol="1", table="e"): {"timestamp": 10**18}})
    with pytest.raises(ConnectError, match=r"timestamp 1000000000000000000 of table e is not within .*alter the"):
        source.interval()

"""Parsing goes on while the database is down."""

from pathlib import Path

import pytest

from connect_core.dag.snapshot import read_one_or_last_good, read_or_last_good
from connect_core.errors import ConfigError, RetriableError
from connect_core.interval.values import ConnectorType
from connect_core.store.schedules import ScheduledConnector

SINK = ScheduledConnector("b", ConnectorType.SINK, "PT5M", 1, "pool", ("file:///out",), "2026-11-23T10:30:00+00:00")
SOURCE = ScheduledConnector("a", ConnectorType.SOURCE)


def down() -> list[ScheduledConnector]:
    raise RetriableError("the database does not answer")


def test_snapshot_serves_the_last_good_list(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "snapshot.json"
    assert read_or_last_good(lambda: [SINK, SOURCE], file) == (SOURCE, SINK)
    assert read_or_last_good(down, file) == (SOURCE, SINK)


def test_snapshot_follows_an_empty_store(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"
    read_or_last_good(lambda: [SINK], file)
    assert read_or_last_good(list, file) == ()
    assert read_or_last_good(down, file) == ()


def test_snapshot_missing_raises_rather_than_drops_all_dags(tmp_path: Path) -> None:
    with pytest.raises(RetriableError, match="does not answer"):
        read_or_last_good(down, tmp_path / "snapshot.json")


def test_snapshot_is_not_written_when_nothing_changed(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"
    read_or_last_good(lambda: [SINK], file)
    before = file.stat().st_ino
    read_or_last_good(lambda: [SINK], file)
    assert file.stat().st_ino == before
    assert list(tmp_path.iterdir()) == [file]


def test_snapshot_that_is_damaged_is_named(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"
    file.write_text("{")
    with pytest.raises(ConfigError, match=r"snapshot\.json"):
        read_or_last_good(down, file)


def test_snapshot_keeps_all_when_one_is_read(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"
    read_or_last_good(lambda: [SINK, SOURCE], file)
    assert read_one_or_last_good(lambda: [SOURCE], file) == (SOURCE,)
    assert read_one_or_last_good(down, file) == (SOURCE, SINK)
    with pytest.raises(RetriableError, match="does not answer"):
        read_one_or_last_good(down, tmp_path / "none.json")

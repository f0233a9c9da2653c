"""The quickstart's export by the hour: what is there is not asked for again, and how its hours are counted."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connect_core.cli.examples import HOURLY, load_example
from connect_core.cli.hourly import HourlyExport, counting_line, told_by
from connect_core.cli.waiter import ConnectorWaiter
from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.airflow_client import ServiceIdentity
from connect_core.dev.home import Home
from connect_core.dev.stack import Silent
from connect_core.errors import ConnectError
from tests.architecture.sources import ROOT
from tests.herder.harness import Harness

FIRST = datetime(2026, 11, 27, 22, tzinfo=UTC)
PLACES = ("day=27/hour=22", "day=27/hour=23", "day=28/hour=00")


def write(folder: Path, counts: tuple[int, int, int]) -> Path:
    """Write hours with so many visits, all finished → the topic's folder."""
    topic = folder / "data/shop/hourly/shop-visits"
    for place, count in zip(PLACES, counts, strict=True):
        hour = topic / "year=2026/month=11" / place
        hour.mkdir(parents=True)
        pq.write_table(pa.table({"visitor": [f"v{n % 7}" for n in range(count)]}), hour / "a.parquet")
        (hour / "_SUCCESS").touch()
    return topic


def export(harness: Harness, folder: Path) -> HourlyExport:
    home = Home(folder, ROOT)
    # Nobody answers there: none of these tests may need Airflow.
    nobody = AirflowApi(ServiceIdentity("http://127.0.0.1:9", "nobody", folder / "password"))
    return HourlyExport(harness.herder, nobody, load_example(home, HOURLY), home, FIRST)


def test_hours_that_are_there_are_counted(harness: Harness, tmp_path: Path) -> None:
    write(tmp_path, (60, 60, 61))
    found = export(harness, tmp_path).export_past(ConnectorWaiter(harness.herder, [], Silent()))
    assert list(found.rows.values()) == [60, 60, 61]
    assert found.seconds is None
    assert "duckdb" in found.line
    rows = [line.split("│")[1:-1] for line in found.told.splitlines() if line.startswith("│")][-3:]
    assert [[int(cell) for cell in row] for row in rows] == [[27, 22, 60, 7], [27, 23, 60, 7], [28, 0, 61, 7]]


def test_hour_that_lacks_visits_is_named(harness: Harness, tmp_path: Path) -> None:
    write(tmp_path, (60, 59, 60))
    with pytest.raises(ConnectError, match=r"visits-hourly has exported \[60, 59, 60\] of 60 visits an hour"):
        export(harness, tmp_path).export_past(ConnectorWaiter(harness.herder, [], Silent()))


def test_line_works_in_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = write(tmp_path / "it's a $HOME", (1, 2, 3))
    assert "it's" in counting_line(topic)[2]
    assert told_by(counting_line(topic))
    monkeypatch.chdir(topic.parents[1])
    assert 'FROM "hourly/shop-visits/**/*.parquet"' in counting_line(topic)[2]


def test_without_duckdb_nothing_is_told(tmp_path: Path) -> None:
    line = counting_line(write(tmp_path, (1, 1, 1)))
    # Without its packages.
    assert told_by([sys.executable, "-I", "-S", *line[1:]]) == ""
    with pytest.raises(ConnectError, match=r"DuckDB cannot read the exported hours: .*No files found"):
        told_by(counting_line(tmp_path / "nowhere"))

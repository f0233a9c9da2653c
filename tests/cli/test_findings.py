"""The quickstart's last words."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from connect_core.cli.findings import Counts, Findings, Live, ShopCounts, Times, print_findings
from connect_core.cli.hourly import Hours
from connect_core.cli.moved_data import Bound, MovedInterval

HOURS = Hours(
    "by-hour",
    {datetime(2026, 11, 27, hour, tzinfo=UTC): 60 for hour in (7, 6)},
    14.25,
    "python -c 'count [them]'",
    "7 │ 60",
)
PROCESSES = frozenset({("t-0", 71), ("t-1", 72)})


def interval(sequence: int, records: int, start: int, end: int) -> MovedInterval:
    return MovedInterval(sequence, records, (Bound("t-0", start, end),), f"connect-x-1-{sequence}", PROCESSES)


@pytest.mark.parametrize(("rows", "lines", "agree"), [(5, 5, True), (4, 5, False), (5, 6, False)])
def test_counts_agree_only_if_all_do(rows: int, lines: int, agree: bool) -> None:
    counts = Counts({0: 2, 1: 3}, rows, 1, lines)
    assert counts.agree is agree
    assert str(counts) == f"5 records in Kafka, {rows} rows in Parquet, {lines} lines of text"


def test_findings_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "password").write_text("xyzzy\n")
    moved = [interval(1, 4, 0, 5), interval(2, 0, 5, 6), interval(3, 2, 6, 9), interval(4, 1, 9, 11)]
    jobs = {"connect-x-1-3": [7], "connect-x-1-4": [8, 9]}
    of_table = MovedInterval(1, 3, (Bound("orders", None, '{"id":3,"timestamp":5}'),), "connect-y-1-1", frozenset())
    live, shop = Live(4.25, 4, 1, 5.5, 6.5), ShopCounts(4, 5, 5, 4)
    moving = {"export": moved, "orders": [of_table]}
    findings = Findings(moving, jobs, Counts({0: 7}, 7, 2, 7), live, shop, HOURS, "export")
    environment = {
        "CONNECT_AIRFLOW_URL": "http://127.0.0.1:1",
        "CONNECT_AIRFLOW_USER": "admin",
        "CONNECT_AIRFLOW_PASSWORD_FILE": str(tmp_path / "password"),
        "CONNECT_REST_URL": "http://127.0.0.1:2",
    }
    print_findings(findings, environment, Times(20, 55), "postgresql://shop", "http://registry/apis")
    told = capsys.readouterr().out
    rows = [line.split() for line in told.splitlines() if "connect-x-1" in line]
    assert rows == [
        ["3", "2", "6", "9", "t-0", "7", "connect-x-1-3"],
        ["4", "1", "9", "11", "t-0", "8,", "9", "connect-x-1-4"],
    ]
    assert "orders · 1 intervals with records" in told
    assert "connect-y-1-1" not in told, "bounds of several parts have no room"
    changes = ("order 4 inserted and order 1 updated: in order_copies after 5.5 s, in Parquet after 6.5 s",)
    wanted = (
        *changes,
        "4 orders, order_copies: 4 rows",
        "5 versions of orders in Kafka, 5 in Parquet",
        "3 intervals with records",
        "7 records",
        "7 rows in 2 files",
        "(0, 71) (1, 72)",
        "after 4.2 s",
        "by-hour: 2 past hours from 06:00 UTC, 120 rows, exported by Airflow's backfill in 14.2 s;",
        "python -c 'count [them]'",
        "7 │ 60",
        "admin",
    )
    assert [
        text for text in (*wanted, "xyzzy", "http://127.0.0.1:2", "postgresql://shop", "55 s") if text not in told
    ] == []

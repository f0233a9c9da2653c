"""The quickstart's last words."""

from __future__ import annotations

from pathlib import Path

import pytest

from connect_core.cli.evidence import Bound, MovedInterval
from connect_core.cli.findings import Counts, Findings, Times, print_findings

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
    findings = Findings({"export": moved}, jobs, Counts({0: 7}, 7, 2, 7), 4.25, "export")
    environment = {
        "CONNECT_AIRFLOW_URL": "http://127.0.0.1:1",
        "CONNECT_AIRFLOW_USER": "admin",
        "CONNECT_AIRFLOW_PASSWORD_FILE": str(tmp_path / "password"),
        "CONNECT_REST_URL": "http://127.0.0.1:2",
    }
    print_findings(findings, environment, Times(20, 55))
    told = capsys.readouterr().out
    rows = [line.split() for line in told.splitlines() if "connect-x-1" in line]
    assert rows == [
        ["3", "2", "6", "9", "t-0", "7", "connect-x-1-3"],
        ["4", "1", "9", "11", "t-0", "8,", "9", "connect-x-1-4"],
    ]
    wanted = ("3 intervals with records", "7 records", "7 rows in 2 files", "(0, 71) (1, 72)", "after 4.2 s", "admin")
    assert [text for text in (*wanted, "xyzzy", "http://127.0.0.1:2", "55 s") if text not in told] == []

"""The benchmarks run, with few records and without Connect: no figure of theirs means anything here."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.full_run import IS_FULL_RUN

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

WORKS = (
    ("parquet", "parquet-python", "iceberg", "parquet-s3", "file-to-kafka", "table-to-kafka", "kafka-to-table")
    if IS_FULL_RUN
    else ("file-to-kafka",)
)
JAVA = ("java-file-to-kafka", "java-debezium-snapshot", "java-jdbc-upsert")
"""Of jars that Maven fetches."""
RECORDS = {5_000, 10_000, 20_000} if IS_FULL_RUN else {20_000}


def test_ways_of_ours_do_all_of_their_work(tmp_path: Path) -> None:
    figures, chart = tmp_path / "figures.json", tmp_path / "figures.svg"
    works = (*WORKS, *JAVA) if IS_FULL_RUN and shutil.which("mvn") else WORKS
    options = ["--scale", "0.01", "--rounds", "1", "--without-peer", "--json", str(figures), "--chart", str(chart)]
    # A process of its own, as make bench starts it: its plugins and its environment stay there.
    done = subprocess.run([sys.executable, "-m", "tests.benchmarks.beside", *works, *options], check=False)
    assert done.returncode in {0, 1}  # 1: a goal is not reached, as with so few records
    found = {work["work"]: work["ways"] for work in json.loads(figures.read_text())["works"]}
    assert tuple(found) == works
    ways = {(work, name): way for work, ways in found.items() for name, way in ways.items()}
    assert {way["records"] for way in ways.values()} == RECORDS
    for (work, name), way in ways.items():
        assert way["records_per_second"]["median"] > 0, (work, name)
        assert way["cpu_seconds_per_million"] > 0, (work, name)
        assert way["cpu_seconds_per_million_by_process"]["Kafka broker"] >= 0, (work, name)
    assert chart.read_text().startswith("<?xml")

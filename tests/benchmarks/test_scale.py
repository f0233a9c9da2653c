"""The benchmarks of many connectors, servers, a backlog, a long history and memory run: no figure means anything.

In ``make matrix``, as they are minutes; tests/store/test_long_history.py and tests/spark/test_fairness.py are what
``make test`` has of it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(600)]


def figures_of(module: str, folder: Path, *options: str) -> dict[str, Any]:
    file = folder / "figures.json"
    command = [sys.executable, "-m", f"tests.benchmarks.{module}", *options, "--json", str(file)]
    assert subprocess.run(command, check=False).returncode in {0, 1}  # 1: a goal is not reached
    found: dict[str, Any] = json.loads(file.read_text())["figures"]
    return found


def test_busy_connectors_among_idle_ones(tmp_path: Path) -> None:
    found = figures_of("many_connectors", tmp_path, "--connectors", "8", "--busy", "2", "--minutes", "1", "--rest", "5")
    assert found["busy, record to file, p50, s"] > 0
    assert found["DAG file parsed"] > 0
    assert found["idle"]["airflow-scheduler"] > 0
    assert found["task starts a second, busy"] > 0
    assert found["busy, metadata, rows a second"] > 0


def test_servers_that_plan_capacity_counts_with(tmp_path: Path) -> None:
    found = figures_of("servers", tmp_path, "--seconds", "1")
    assert len(found) == 5
    assert min(found.values()) > 0
    parsed = figures_of("dag_file", tmp_path)
    assert 0 < parsed["10"] < parsed["1000"]


def test_small_connectors_beside_a_backlog(tmp_path: Path) -> None:
    few = ("--connectors", "2", "--rounds", "1", "--warm-up", "0", "--records", "200000")
    found = figures_of("fairness", tmp_path, *few)
    assert [len(found[phase]["waits"]) for phase in ("alone", "beside")] == [2, 2]
    assert found["beside"]["cpu_seconds"] > 0


def test_history_is_added_and_forgotten(tmp_path: Path) -> None:
    found = figures_of("long_history", tmp_path, "--intervals", "500")
    assert found["a whole run"]["after_ms"] > 0
    assert found["/v1/connectors"]["after_ms"] > 0


def test_memory_of_a_worker(tmp_path: Path) -> None:
    found = figures_of("memory", tmp_path, "--records", "20000", "40000")
    assert [(one["records"], one["processes"] >= 4) for one in found["exports"]] == [(20_000, True), (40_000, True)]
    assert all(one["peak_bytes"] > 50_000_000 for one in found["exports"])

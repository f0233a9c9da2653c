"""``connect plan-capacity``: what it prints, what it refuses, and what it exits with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from connect_core.capacity import MEASURED
from connect_core.cli.app import application
from connect_core.errors import ConfigError

pytestmark = pytest.mark.slow


def connect(*arguments: str) -> Result:
    return CliRunner().invoke(application("plan-capacity"), ["plan-capacity", *arguments])


def test_a_small_deployment_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    done = connect("--connectors", "100", "--records", "50000")
    assert done.exit_code == 0
    assert "100 connectors, 5% busy, 50,000 records a second" in done.stdout
    assert "Spark executors" in done.stdout
    assert "Full first: Airflow DAG processor" in done.stdout
    assert "raise [dag_processor] min_file_process_interval" in done.stdout


def test_a_part_that_is_too_small_is_named_and_ends_with_1() -> None:
    done = connect("--connectors", "100", "--records", "10000000", "--has", "executors=1", "--has", "cores=2")
    assert done.exit_code == 1
    assert "Full first: Spark executors" in done.stdout
    assert "add workers to the Spark cluster" in done.stdout


def test_json_has_every_part_and_the_limit() -> None:
    done = connect("--connectors", "1000", "--interval", "1", "--json")
    found = json.loads(done.stdout)
    assert found["task_starts_per_second"] == 50
    assert found["limit"] in {part["name"] for part in found["parts"]}
    assert all(part["wanted"] >= 1 and part["used"] >= 0 and part["remedy"] for part in found["parts"])


def test_parts_tell_their_benchmarks_and_ones_own_figures(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    file.write_text('{"broker.read": 900}')
    done = connect("--parts", "--figures", str(file), "--measured", "start.task=1.25")
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert lines.keys() >= MEASURED.keys()
    assert "900" in lines["broker.read"]
    assert "your" in lines["broker.read"]
    assert "1.25" in lines["start.task"]
    assert "many_connectors" in "".join(done.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--kind", "excel"), "use one of parquet"),
        (("--busy", "7"), "share of the connectors"),
        (("--has", "horses=3"), "use one of cores"),
        (("--has", "brokers=2.5"), "not a whole number"),
        (("--has", "brokers"), "not a number"),
        (("--measured", "start.task=fast"), "not a number"),
        (("--measured", "start.tasks=1"), "no such part"),
        (("--figures", "none.json"), "cannot be read"),
    ],
)
def test_what_is_wrong_is_named(arguments: tuple[str, ...], told: str) -> None:
    done = connect(*arguments)
    assert isinstance(done.exception, ConfigError)
    assert told in str(done.exception)

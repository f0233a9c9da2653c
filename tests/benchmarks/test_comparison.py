"""What is made of measured runs, and who is charged for processor time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.comparison import Comparison, Goal, Run, Way, Work, compared
from tests.benchmarks.connector_runs import Moved
from tests.benchmarks.report import draw, readme_table
from tests.benchmarks.usage import Usage, role_of, watched


def nothing(turn: int) -> Moved:
    return Moved(1, 1.0)


def runs(*rates: int, cpu: float = 1.0) -> list[Run]:
    return [Run(rate, 1.0, Usage(cpu * rate / 1e6)) for rate in rates]


def comparison(*goals: Goal) -> Comparison:
    work = Work("some", "some work", [Way("ours", nothing), Way("theirs", nothing)], goals)
    first = {"ours": runs(10)[0], "theirs": runs(10)[0]}
    return Comparison(work, first, {"ours": runs(400, 100, 300), "theirs": runs(100, 50, 60, cpu=5.0)})


def test_ratios_are_taken_round_by_round_and_of_medians() -> None:
    found = comparison(Goal("theirs", 5), Goal("theirs", 3, in_each=True), Goal("theirs", 2, in_each=True))
    assert found.ratios("theirs") == [4.0, 2.0, 5.0]
    assert [reached for _, reached in found.verdicts()] == [True, False, True]
    assert next(found.verdicts())[0] == "theirs: 5.00x of the medians, 2.00x to 5.00x in a round; wanted 5x"


@pytest.mark.parametrize(("cpu", "reached"), [(5.0, True), (3.0, False)])
def test_processor_time_is_a_goal_of_its_own(cpu: float, reached: bool) -> None:
    found = comparison(Goal("theirs", 1, limits_cpu=True))
    charged = Comparison(found.work, found.first, {**found.runs, "theirs": runs(100, 50, 60, cpu=cpu)})
    assert [verdict for _, verdict in charged.verdicts()] == [True, reached]


def test_ways_take_turns() -> None:
    order = list[str]()

    def way(name: str) -> Way:
        def run(turn: int) -> Moved:
            order.append(f"{name}{turn}")
            return Moved(1, 1.0)

        return Way(name, run)

    found = compared(Work("some", "some work", [way("a"), way("b")]), 2)
    assert order == ["a0", "b0", "a1", "b1", "a2", "b2"]
    assert len(found.runs["a"]) == 2


def test_time_of_another_process_is_charged_to_its_role() -> None:
    program = "import time; end = time.process_time() + 0.6\nwhile time.process_time() < end: pass  # drain.py"
    with watched() as watch:
        subprocess.run([sys.executable, "-c", f"{program}\ntime.sleep(1.5)"], check=True)
    spent = watch.usage.by_role["measuring client"]
    assert 0.4 < spent < 1.6
    assert watch.usage.cpu_seconds >= 0.5
    assert watch.usage.peak_memory["measuring client"] > 1_000_000


@pytest.mark.parametrize(
    ("command", "role"),
    [
        (["java", "-cp", "x", "kafka.Kafka", "server.properties"], "Kafka broker"),
        (["java", "org.apache.kafka.connect.cli.ConnectStandalone", "w"], "Kafka Connect worker"),
        (["python3", "-m", "pyspark.daemon"], "Spark's Python workers"),
        (["python3", "-m", "connect_core.spark.worker_daemon"], "Spark's Python workers"),
        (["/bin/weed", "server", "-dir", "x"], "S3 server"),
        (["sshd"], "others"),
    ],
)
def test_roles(command: list[str], role: str) -> None:
    assert role_of(command) == role


def test_chart_names_every_way_and_repeats_itself(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        draw([comparison(), comparison()], tmp_path / name)
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    assert all(word in text for word in ("ours", "theirs", "some work", "CPU s per million"))


def test_the_readme_shows_the_figures_that_are_kept() -> None:
    figures = json.loads(Path(__file__).with_name("figures.json").read_text())
    assert readme_table(figures) in (Path(__file__).parents[2] / "README.md").read_text()

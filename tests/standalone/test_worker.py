"""A standalone worker's way to run an interval's tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from connect_core.standalone import worker
from tests.spark.test_runner import PLAN


def test_interval_whose_results_all_stand_runs_nothing() -> None:
    nothing = cast(Any, None)
    runner = worker._ChosenRunner(nothing, nothing)
    assert runner.run(replace(PLAN, tasks=())) == ()

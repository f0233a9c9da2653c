"""What a Spark job's end means to the protocol, with a session that only pretends."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from connect_core.api.sink import IntervalKey
from connect_core.interval.results import result_to_bytes
from connect_core.interval.values import (
    ConnectorType,
    IntervalCaps,
    IntervalRow,
    IntervalState,
    Plan,
    TaskAssignment,
    TaskOutcome,
    TaskPlan,
    TaskResult,
)
from connect_core.spark.runner import SparkRunner

KEY = IntervalKey("lines", 0, 5, 2)
TASK = TaskPlan(KEY, ConnectorType.SINK, 0, "dep", "2-abc", 1, {}, {}, {}, IntervalCaps())
PLAN = Plan(IntervalRow(KEY, IntervalState.PLANNED, 1, ""), (TASK,), TaskAssignment(({},)))
RESULT = TaskResult(0, TaskOutcome.DONE)


@dataclass
class Session:
    """Answers a job with rows or a failure; writes down the calls."""

    answer: Any
    calls: list[str] = field(default_factory=list)

    def interruptTag(self, tag: str) -> None:
        self.calls.append(f"interrupt {tag}")

    def addTag(self, tag: str) -> None:
        self.calls.append(f"add {tag}")

    def removeTag(self, tag: str) -> None:
        self.calls.append(f"remove {tag}")

    def range(self, *bounds: int) -> Session:
        return self

    def mapInArrow(self, function: object, schema: str) -> Session:
        return self

    def collect(self) -> list[Any]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return list(self.answer)


def test_job_runs_under_the_tag_of_its_interval() -> None:
    session = Session([SimpleNamespace(task=0, result=result_to_bytes(RESULT))])
    assert SparkRunner(session).run(PLAN) == [RESULT]
    assert session.calls == [f"{act} {PLAN.job_tag}" for act in ("interrupt", "add", "remove")]


class Intruder:
    """Makes a file where it is unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.place,)


def test_what_a_spark_worker_answers_is_never_executed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = tmp_path / "intruded"
    session = Session([SimpleNamespace(task=0, result=pickle.dumps(Intruder(place)))])
    assert SparkRunner(session).run(PLAN) == []
    assert not place.exists()
    assert "cannot be read" in caplog.text


@pytest.mark.parametrize(
    "answer", [b"", b"[]", b"{}", b"null", b"\xff", result_to_bytes(TaskResult(7, TaskOutcome.DONE))]
)
def test_answer_that_is_no_report_of_the_plan_is_missing(answer: bytes) -> None:
    assert SparkRunner(Session([SimpleNamespace(task=0, result=answer)])).run(PLAN) == []


@pytest.mark.parametrize("failure", [PySparkException("worker crashed"), Py4JError("no server")], ids=["spark", "jvm"])
def test_job_spark_gave_up_answers_nothing(failure: Exception, caplog: pytest.LogCaptureFixture) -> None:
    session = Session(failure)
    assert SparkRunner(session).run(PLAN) == ()
    assert str(failure) in caplog.text
    assert session.calls[-1] == f"remove {PLAN.job_tag}"


def test_other_errors_are_not_sparks() -> None:
    with pytest.raises(ValueError, match="ours"):
        SparkRunner(Session(ValueError("ours"))).run(PLAN)

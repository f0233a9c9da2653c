"""A task's report as JSON: the driver only reads a Spark worker's bytes, whereas a pickle would be executed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.sink import Staged
from connect_core.interval.values import Counts, SkippedRecords, TaskError, TaskOutcome, TaskResult

__all__ = ["result_from_bytes", "result_to_bytes"]


def result_to_bytes(result: TaskResult) -> bytes:
    """Return the whole result as JSON; one with a value that JSON cannot hold is reported as a failure."""
    try:
        return json.dumps(_told(result)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        message = f"What task {result.task} reports of its connector must be JSON: {error}"
        failure = TaskError("DataError", message, message, is_retriable=False)
        return json.dumps(_told(TaskResult(result.task, TaskOutcome.FAILED, error=failure))).encode()


def _told(result: TaskResult) -> dict[str, Any]:
    return {
        **asdict(result),
        "outcome": result.outcome.value,
        "positions": [[part.topic, part.partition, position] for part, position in result.positions.items()],
        "started": result.started and result.started.isoformat(),
        "ended": result.ended and result.ended.isoformat(),
    }


def result_from_bytes(data: bytes) -> TaskResult:
    """Return what ``result_to_bytes`` was given. Raises ValueError."""
    try:
        return _result(json.loads(data))
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is not a task report: {error}") from error


def _result(told: Mapping[str, Any]) -> TaskResult:
    started, ended, error = told["started"], told["ended"], told["error"]
    read = {
        "outcome": TaskOutcome(told["outcome"]),
        "counts": Counts(**told["counts"]),
        "positions": {TopicPartition(topic, number): position for topic, number, position in told["positions"]},
        "staged": tuple(Staged(**one) for one in told["staged"]),
        "topics": tuple(told["topics"]),
        "skipped": tuple(SkippedRecords(**one) for one in told["skipped"]),
        "error": None if error is None else TaskError(**error),
        "started": None if started is None else datetime.fromisoformat(started),
        "ended": None if ended is None else datetime.fromisoformat(ended),
    }
    return TaskResult(**{**told, **read})

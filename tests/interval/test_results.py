"""What a task reports, from a Spark worker to its driver."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from connect_core.api.records import TopicPartition
from connect_core.api.sink import Staged
from connect_core.interval.results import result_from_bytes, result_to_bytes
from connect_core.interval.values import Counts, SkippedRecords, TaskError, TaskOutcome, TaskResult

FULL = TaskResult(
    task=3,
    outcome=TaskOutcome.UNCLEAR,
    counts=Counts(1, 2, 3, 4, 5),
    positions={TopicPartition("lines", 1): 2**62},
    source_offsets={'{"file":"ä"}': {"position": 2**70, "text": "\ud800", "none": None}},
    staged=(Staged("lines", 1, 0, 9, {"parts": [{"name": "a", "size": 1.5}]}),),
    columns={"lines": {"a": "int64"}},
    topics=("lines", "more"),
    skipped=(SkippedRecords("VALUE_CONVERTER", "DataError", "bad", 2, {"offset": 7}),),
    error=TaskError("RetriableError", "slow", "trace\nof it", is_retriable=True),
    is_capped=True,
    host="here",
    pid=7,
    started=datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
    ended=datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC),
)


@pytest.mark.parametrize("result", [FULL, TaskResult(0, TaskOutcome.DONE)])
def test_report_arrives_whole(result: TaskResult) -> None:
    assert result_from_bytes(result_to_bytes(result)) == result


def test_connector_that_stages_no_json_fails_by_name() -> None:
    result = TaskResult(1, TaskOutcome.DONE, staged=(Staged("lines", 0, 0, 1, {"path": Path("/a")}),))
    read = result_from_bytes(result_to_bytes(result))
    assert (read.task, read.outcome, read.staged) == (1, TaskOutcome.FAILED, ())
    assert read.error is not None
    assert "must be JSON" in read.error.message

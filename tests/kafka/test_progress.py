"""Records of the status topic."""

from __future__ import annotations

import pytest

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey
from connect_core.kafka.progress import StopRequest, TaskReport, decode_report

KEY = IntervalKey("línes", 1, 5, 2)


def test_report_survives() -> None:
    report = TaskReport(KEY, 3, "2-ab", 17, {TopicPartition("t", 1): 9}, 1_700_000_000_000, "host", True)
    assert decode_report(*report.encode()) == report


def test_stop_request_survives() -> None:
    assert decode_report(*StopRequest(KEY).encode()) == StopRequest(KEY)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, None),
        (b"status-task-lines-0", b'{"state":"RUNNING"}'),
        (b"[]", b"{}"),
        (b"1", b"1"),
        (b'["stop"]', b"{}"),
        (b'["progress","lines",0]', b"{}"),
        (b'["progress","lines",0]', None),
        (b'["other","lines"]', b"{}"),
    ],
)
def test_other_records_are_passed_over(key: bytes | None, value: bytes | None) -> None:
    assert decode_report(key, value) is None

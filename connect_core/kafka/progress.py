"""Records of the status topic: the progress of tasks, and stop requests to them.

Keys are JSON lists, which Connect's own reader of that topic skips.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey

__all__ = ["StopRequest", "TaskReport", "decode_report"]

_PROGRESS, _STOP = "progress", "stop"


@dataclass(frozen=True, slots=True)
class TaskReport:
    """The progress of one attempt of a task; ``time`` in milliseconds since the epoch."""

    key: IntervalKey
    task: int
    attempt: str
    records: int
    positions: Mapping[TopicPartition, int] = field(default_factory=dict)
    time: int = 0
    host: str = ""
    is_ended: bool = False

    def encode(self) -> tuple[bytes, bytes]:
        """Return the report as key and value of a record."""
        value = {
            **_interval(self.key),
            "attempt": self.attempt,
            "records": self.records,
            "positions": [[key.topic, key.partition, offset] for key, offset in self.positions.items()],
            "time": self.time,
            "host": self.host,
            "ended": self.is_ended,
        }
        return _bytes([_PROGRESS, self.key.connector, self.task]), _bytes(value)


@dataclass(frozen=True, slots=True)
class StopRequest:
    """A driver's request that the tasks of an interval end at their next commit point."""

    key: IntervalKey

    def encode(self) -> tuple[bytes, bytes]:
        """Return the request as key and value of a record."""
        return _bytes([_STOP, self.key.connector]), _bytes(_interval(self.key))


def decode_report(key: bytes | None, value: bytes | None) -> TaskReport | StopRequest | None:
    """Return the content of a record of the status topic; ``None`` for records of other writers."""
    try:
        parts, content = json.loads(key or b""), json.loads(value or b"")
        if parts[0] == _STOP:
            return StopRequest(_key(parts[1], content))
        if parts[0] == _PROGRESS:
            return _report(parts, content)
    except (ValueError, LookupError, TypeError):
        return None
    return None


def _report(parts: list[Any], content: Mapping[str, Any]) -> TaskReport:
    positions = {TopicPartition(topic, number): offset for topic, number, offset in content["positions"]}
    return TaskReport(
        _key(parts[1], content),
        parts[2],
        content["attempt"],
        content["records"],
        positions,
        content["time"],
        content["host"],
        content["ended"],
    )


def _interval(key: IntervalKey) -> dict[str, int]:
    return {"incarnation": key.incarnation, "sequence": key.sequence, "epoch": key.epoch}


def _key(connector: str, content: Mapping[str, Any]) -> IntervalKey:
    return IntervalKey(connector, content["incarnation"], content["sequence"], content["epoch"])


def _bytes(content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()

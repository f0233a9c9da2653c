"""Conversion of frozen values to JSON columns, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey, PartitionRange, Staged
from connect_core.interval.values import ConnectorState, Counts, IntervalRow, SourceBounds, TaskResult, TopicPosition

__all__ = [
    "connector_state",
    "counts_from",
    "counts_json",
    "from_start",
    "interval_row",
    "position_from",
    "position_json",
    "ranges_json",
    "result_json",
    "source_json",
    "with_result",
]


def connector_state(row: Any, failure: str | None = None) -> ConnectorState:
    """Return the frozen form of a row of ``connectors``; ``failure`` is the fatal one in force, if any."""
    return ConnectorState(
        name=row.name,
        type=row.type,
        config=row.config,
        config_version=row.config_version,
        target_state=row.target_state,
        epoch=row.epoch,
        incarnation=row.incarnation,
        sequence=row.sequence,
        tasks_ever=row.tasks_ever,
        assignment=row.assignment,
        offsets_position=position_from(row.offsets_position),
        columns=row.columns,
        topic_ids=row.topic_ids,
        failure=failure,
    )


def interval_row(row: Any) -> IntervalRow:
    """Return the frozen form of a row of ``intervals``."""
    return IntervalRow(
        key=IntervalKey(row.connector, row.incarnation, row.sequence, row.epoch),
        state=row.state,
        config_version=row.config_version,
        assignment=row.assignment,
        ranges=tuple(PartitionRange(**one) for one in row.ranges),
        source=None if row.source is None else _source_from(row.source),
        tasks=row.tasks,
        attempts=row.attempts,
        bound_time=row.bound_time,
        since=row.since,
    )


def ranges_json(ranges: Iterable[PartitionRange]) -> list[dict[str, Any]]:
    """Return ranges as JSON."""
    return [asdict(one) for one in ranges]


def source_json(source: SourceBounds | None) -> dict[str, Any] | None:
    """Return source bounds as JSON."""
    if source is None:
        return None
    upper = None if source.upper is None else _plain(source.upper)
    return {
        "start": _plain(source.start),
        "upper": upper,
        "states": _plain(source.states),
        "position": position_json(source.position),
    }


def _source_from(value: Mapping[str, Any]) -> SourceBounds:
    return SourceBounds(value["start"], value["upper"], value["states"], position_from(value["position"]))


def position_json(position: TopicPosition | None) -> dict[str, Any] | None:
    """Return a position in an offsets topic as JSON."""
    if position is None:
        return None
    ends = {str(partition): offset for partition, offset in position.ends.items()}
    return {"topic": position.topic, "id": position.topic_id, "ends": ends}


def from_start(position: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a position's offsets topic, from its start, as JSON: the topic stays known, and is read again entirely."""
    return None if position is None else {**position, "ends": {}}


def position_from(value: Mapping[str, Any] | None) -> TopicPosition | None:
    """Return a position in an offsets topic from JSON."""
    if value is None:
        return None
    ends = {int(partition): offset for partition, offset in value["ends"].items()}
    return TopicPosition(value["topic"], value["id"], ends)


def counts_json(counts: Counts) -> dict[str, int]:
    """Return counts as JSON."""
    return asdict(counts)


def counts_from(value: Mapping[str, int]) -> Counts:
    """Return counts from JSON."""
    return Counts(**value)


def result_json(result: TaskResult) -> dict[str, Any]:
    """Return as JSON what is needed of a finished task's result if others of its interval run again."""
    return {
        "positions": [[part.topic, part.partition, position] for part, position in result.positions.items()],
        "source_offsets": _plain(result.source_offsets),
        "staged": [asdict(one) for one in result.staged],
        "columns": {topic: dict(types) for topic, types in result.columns.items()},
        "topics": list(result.topics),
        "is_capped": result.is_capped,
    }


def with_result(base: TaskResult, value: Mapping[str, Any]) -> TaskResult:
    """Return the result with the fields written by ``result_json``."""
    return replace(
        base,
        positions={TopicPartition(topic, number): position for topic, number, position in value["positions"]},
        source_offsets=value["source_offsets"],
        staged=tuple(Staged(**one) for one in value["staged"]),
        columns=value["columns"],
        topics=tuple(value["topics"]),
        is_capped=value["is_capped"],
    )


def _plain(offsets: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {partition: dict(offset) for partition, offset in offsets.items()}

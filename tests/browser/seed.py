"""Connectors with a past, written straight into the metadata database: what a page has to show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, insert

from connect_core.store.models import Connector, ConnectorConfig, DagState, Interval, IntervalTask, Offset, RecordError

TRACE = """Traceback (most recent call last):
  File "connect_core/task/attempt.py", line 84, in run_task
    result = runner.run(task_plan)
  File "connect_core/connectors/file/sink.py", line 120, in put
    self._file.write(lines)
connect_core.errors.RetriableError: /exports/{name}/part-0: no space left on device; free some, or name another path
"""
_CLASSES = {
    "source": "org.apache.kafka.connect.file.FileStreamSourceConnector",
    "sink": "FileSystemSinkConnector",
}
_SUBJECTS = ("orders", "payments", "clicks", "invoices", "shipments", "sessions", "refunds", "products")
_PLACES = ("eu", "us", "apac")


def seed(connection: Connection, number: int, intervals: int = 20, now: datetime | None = None) -> list[str]:
    """Store connectors in every state, each with intervals → their names."""
    now = now or datetime.now(UTC)
    rows = [_connector(index, intervals, now) for index in range(number)]
    connection.execute(insert(Connector), rows)
    connection.execute(insert(ConnectorConfig), [_version(row, now) for row in rows])
    connection.execute(insert(Interval), [one for row in rows for one in _intervals(row, intervals, now)])
    connection.execute(insert(IntervalTask), [one for row in rows for one in _tasks(row, now)])
    offsets = [one for row in rows for one in _offsets(row, now)]
    connection.execute(insert(Offset), offsets)
    connection.execute(insert(DagState), [_dag(row, now) for row in rows])
    failed = [row for index, row in enumerate(rows) if _has_failed(index)]
    if failed:
        connection.execute(insert(RecordError), [_skipped(row, now) for row in failed])
    return [str(row["name"]) for row in rows]


def _has_failed(index: int) -> bool:
    return index % 83 == 7


def _target(index: int) -> str:
    if index % 29 == 11:
        return "PAUSED"
    return "STOPPED" if index % 41 == 13 else "STARTED"


def _connector(index: int, intervals: int, now: datetime) -> dict[str, Any]:
    kind = "source" if index % 3 == 0 else "sink"
    subject, place = _SUBJECTS[index % len(_SUBJECTS)], _PLACES[index % len(_PLACES)]
    name = f"{place}-{subject}-{kind}-{index:04}"
    config = {
        "connector.class": _CLASSES[kind],
        "name": name,
        "tasks.max": "2",
        "tags": f"{place},{subject}",
        **({"file": f"/data/{subject}.log", "topic": subject} if kind == "source" else {"topics": subject}),
    }
    target = _target(index)
    return {
        "name": name,
        "type": kind,
        "plugin_version": "4.3.1",
        "config": config,
        "config_version": 1,
        "target_state": target,
        "incarnation": 1,
        "epoch": 3,
        "sequence": intervals,
        "task_count": None if target == "STOPPED" else 2,
        "tasks_ever": 2,
        "columns": {},
        "topic_ids": {},
        "task_configs": [config, config],
        "worker": "worker-1:8083",
        "created_at": now - timedelta(days=30),
        "updated_at": now - timedelta(days=2, minutes=index),
        "planned_version": 1,
        "planned_at": now - timedelta(minutes=3),
        "committed_at": now - timedelta(minutes=1 + index % 7),
        "_failed": _has_failed(index) and target == "STARTED",
        "_index": index,
    }


def _version(row: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    return {
        "connector": row["name"],
        "version": 1,
        "config": row["config"],
        "actor": "jo",
        "created_at": now - timedelta(days=30),
    }


def _records(index: int, number: int) -> int:
    return int(4000 + 3500 * math.sin(index + number / 3) + (index * 37 + number * 101) % 900)


def _intervals(row: Mapping[str, Any], intervals: int, now: datetime) -> Iterator[dict[str, Any]]:
    position = 0
    for number in range(1, intervals + 1):
        began = now - timedelta(minutes=4 * (intervals - number + 1))
        seconds = 20 + (row["_index"] + number * 7) % 60
        records = _records(row["_index"], number)
        failed = row["_failed"] and number == intervals
        topic = row["config"].get("topics")
        ranges = [{"topic": topic, "partition": 0, "start": position, "end": position + records}] if topic else []
        position += records
        moved = 0 if failed else records
        yield {
            "connector": row["name"],
            "sequence": number,
            "incarnation": 1,
            "epoch": 3,
            "config_version": 1,
            "state": "FAILED" if failed else "COMMITTED",
            "assignment": "assignment",
            "tasks": 2,
            "attempts": 3 if failed else 1,
            "ranges": ranges,
            "counts": {"records": moved, "bytes": moved * 120, "skipped": 0, "dropped": 0, "fallbacks": 0},
            "records": moved,
            "tries_left": 0,
            "run_id": "",
            "job_tag": f"connect-{row['name']}-{number}",
            "worker": "worker-1:8083",
            "planned_at": began,
            "started_at": began,
            "ended_at": began + timedelta(seconds=seconds),
        }


def _tasks(row: Mapping[str, Any], now: datetime) -> Iterator[dict[str, Any]]:
    for task in range(2):
        failed = row["_failed"] and task == 1
        yield {
            "connector": row["name"],
            "sequence": row["sequence"],
            "task": task,
            "attempts": 3 if failed else 1,
            "outcome": "FAILED" if failed else "DONE",
            "counts": {"records": 10, "bytes": 1200, "skipped": 0, "dropped": 0, "fallbacks": 0},
            "carried": {},
            "is_staged": False,
            "error_kind": "RetriableError" if failed else None,
            "error_message": "no space left on device" if failed else None,
            "trace": TRACE.format(name=row["name"]) if failed else None,
            "is_retriable": False,
            "worker": "worker-1:8083",
            "process": 1,
            "started_at": now - timedelta(minutes=4),
            "ended_at": now - timedelta(minutes=3),
        }


def _offsets(row: Mapping[str, Any], now: datetime) -> Iterator[dict[str, Any]]:
    topic = row["config"].get("topics")
    if topic:
        partition, offset = f'{{"kafka_partition":0,"kafka_topic":"{topic}"}}', '{"kafka_offset":80000}'
    else:
        partition, offset = f'{{"filename":"{row["config"]["file"]}"}}', '{"position":123456}'
    yield {
        "connector": row["name"],
        "type": row["type"],
        "digest": "0" * 64,
        "partition": partition,
        "offset": offset,
        "sequence": row["sequence"],
        "epoch": 3,
        "updated_at": now,
    }


def _dag(row: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    return {
        "connector": row["name"],
        "dag_id": f"{row['name']}-dag",
        "is_paused": row["target_state"] != "STARTED",
        "next_run_at": now + timedelta(minutes=row["_index"] % 50 + 1) if row["_index"] % 2 else None,
        "seen_at": now,
    }


def _skipped(row: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    return {
        "connector": row["name"],
        "sequence": row["sequence"],
        "task": 0,
        "stage": "VALUE_CONVERTER",
        "error_kind": "DataError",
        "message": "The value is not JSON: line 1, column 7",
        "records": 3,
        "sample": {"topic": row["config"].get("topics", "lines"), "partition": 0, "offset": 41},
        "first_at": now - timedelta(minutes=5),
        "last_at": now - timedelta(minutes=4),
    }

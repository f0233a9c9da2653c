"""A Java sink task, called as the engine calls it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from connect_core.api.batch import Batch, Columns, Objects
from connect_core.api.connector import WorkerLimits
from connect_core.api.data import OPTIONAL_BYTES_SCHEMA, STRING_SCHEMA
from connect_core.api.flow import Flow, RowFailure
from connect_core.api.headers import Headers
from connect_core.api.records import SinkRecord, TimestampType, TopicPartition
from connect_core.api.sink import SinkTask
from connect_core.errors import AttemptError, ConnectError, DataError, RetriableError
from connect_core.java_plugins.plugins import JavaPlugins
from tests.java_plugins.equipment import flow, loaded, shouting

pytestmark = pytest.mark.slow

PART = TopicPartition("t", 0)


@dataclass
class Reporter:
    """Takes errant records, or refuses them."""

    refusal: ConnectError | None = None
    reported: list[tuple[int, str]] = field(default_factory=list)

    def report(self, record: SinkRecord, error: BaseException) -> Future[None]:
        if self.refusal is not None:
            raise self.refusal
        self.reported.append((record.kafka_offset, str(error)))
        done: Future[None] = Future()
        done.set_result(None)
        return done


@dataclass
class Context:
    """A sink task's context that keeps what it is asked for."""

    errant_record_reporter: Reporter | None = None
    assignment: tuple[TopicPartition, ...] = (PART,)
    configs: Mapping[str, str] = field(default_factory=dict)
    limits: WorkerLimits = field(default_factory=WorkerLimits)
    rewinds: dict[TopicPartition, int] = field(default_factory=dict)
    pauses: list[int] = field(default_factory=list)
    commits: int = 0

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.rewinds.update(offsets)

    def timeout(self, milliseconds: int) -> None:
        self.pauses.append(milliseconds)

    def request_commit(self) -> None:
        self.commits += 1

    def pause(self, *partitions: TopicPartition) -> None: ...

    def resume(self, *partitions: TopicPartition) -> None: ...


class Calls:
    """A started task, and the lines it has written."""

    def __init__(self, task: SinkTask, file: Path, context: Context) -> None:
        self.task, self.file, self.context = task, file, context

    def lines(self) -> list[str]:
        return self.file.read_text().splitlines()


def batch(*values: bytes | None, first: int = 0, headers: Headers | None = None) -> Batch:
    count = len(values)
    return Batch(
        topic=pa.array(["t"] * count),
        partition=pa.array([0] * count, pa.int32()),
        offset=pa.array(range(first, first + count), pa.int64()),
        timestamp=pa.array([1000 + row for row in range(count)], pa.int64()),
        origin=pa.array(range(count), pa.int64()),
        key=Columns(OPTIONAL_BYTES_SCHEMA, pa.array([b"k"] + [None] * (count - 1), pa.binary())),
        value=Columns(OPTIONAL_BYTES_SCHEMA, pa.array(values, pa.binary())),
        timestamp_type=TimestampType.CREATE_TIME,
        headers=None if headers is None else (headers,) * count,
    )


@contextmanager
def running(plugins: JavaPlugins, folder: Path, given: Flow | None = None, **more: Any) -> Iterator[Calls]:
    """Start a task with a mode and a context; close and stop it at the end."""
    context: Any = more.pop("context", None) or Context()
    file = folder / "lines"
    task: SinkTask = loaded(plugins, "testing.ListingSink", "sink").tasks()
    task.take_over(given or flow())
    task.initialize(context)
    config = {"name": "list", "topics": "t", "file": str(file), "task.class": "testing.ListingSink$ListingTask", **more}
    try:
        task.start(config)
        task.open([PART])
        yield Calls(task, file, context)
    finally:
        task.stop()


def test_calls_come_in_connects_order(plugins: JavaPlugins, tmp_path: Path) -> None:
    with running(plugins, tmp_path) as calls:
        assert calls.task.put_batch(batch(b"a", None, b""))
        assert calls.task.pre_commit({PART: 3}) == {PART: 3}
        calls.task.close([PART])
    assert calls.lines() == [
        "start",
        "open [t-0]",
        "put 3",
        "t-0@0 k a",
        "t-0@1 null null",
        "t-0@2 null ",
        "preCommit [3]",
        "close [t-0]",
        "stop",
    ]


def test_no_more_records_are_put_at_once_than_connect_puts(plugins: JavaPlugins, tmp_path: Path) -> None:
    with running(plugins, tmp_path, replace(flow(), put_records=2)) as calls:
        calls.task.put_batch(batch(b"a", b"b", b"c"))
    assert [line for line in calls.lines() if line.startswith("put")] == ["put 2", "put 1"]


def test_a_put_that_may_be_repeated_goes_on_where_it_was(plugins: JavaPlugins, tmp_path: Path) -> None:
    with running(plugins, tmp_path, replace(flow(), put_records=1), mode="retry") as calls:
        given = batch(b"a", b"b")
        for _ in range(2):
            with pytest.raises(RetriableError, match="not yet"):
                calls.task.put_batch(given)
        assert calls.task.put_batch(given)
        assert calls.context.pauses == [10, 10]
    written = [line for line in calls.lines() if "@" in line]
    assert written == ["t-0@0 k a", "t-0@1 null b"]


def test_transforms_and_headers_reach_the_plugin(plugins: JavaPlugins, tmp_path: Path) -> None:
    headers = Headers().add("h", b"5", OPTIONAL_BYTES_SCHEMA)
    with running(plugins, tmp_path, flow(shouting(dropped="b"))) as calls:
        calls.task.put_batch(batch(b"a", b"b", headers=headers))
    assert "t-0@0 k A [h=5]" in calls.lines()
    assert "put 1" in calls.lines()


def test_rows_that_fail_go_to_the_engine_before_any_is_put(plugins: JavaPlugins, tmp_path: Path) -> None:
    failed: list[tuple[int, int | str, str]] = []

    def fail(given: Batch, failure: RowFailure) -> None:
        failed.append((failure.row, failure.stage, str(failure.error)))

    given = replace(flow(shouting(refused="b")), fail=fail)
    with running(plugins, tmp_path, given) as calls:
        calls.task.put_batch(batch(b"a", b"b", b"c"))
    assert [(row, stage) for row, stage, _ in failed] == [(1, 0)]
    assert "refused: b" in failed[0][2]
    assert "put 2" in calls.lines()


def test_a_row_that_may_not_be_skipped_ends_the_batch(plugins: JavaPlugins, tmp_path: Path) -> None:
    def fail(given: Batch, failure: RowFailure) -> None:
        raise DataError("not tolerated") from failure.error

    given = replace(flow(shouting(refused="b")), fail=fail)
    with running(plugins, tmp_path, given) as calls:
        with pytest.raises(DataError, match="not tolerated"):
            calls.task.put_batch(batch(b"a", b"b"))
        assert not [line for line in calls.lines() if line.startswith("put")]


def test_a_retriable_transform_is_repeated_in_the_host(plugins: JavaPlugins, tmp_path: Path) -> None:
    base = flow(shouting())
    given = replace(base, retries=replace(base.retries, timeout=10_000))
    with running(plugins, tmp_path, given) as calls:
        calls.task.put_batch(batch(b"later"))
    assert "t-0@0 k LATER" in calls.lines()


def test_errant_records_are_reported_while_the_plugin_waits(plugins: JavaPlugins, tmp_path: Path) -> None:
    reporter = Reporter()
    with running(plugins, tmp_path, context=Context(reporter), mode="errant") as calls:
        calls.task.put_batch(batch(b"a", b"b", b"c", b"d"))
        assert [offset for offset, _ in reporter.reported] == [1, 3]
        assert "odd 3" in reporter.reported[1][1]
    assert len([line for line in calls.lines() if "@" in line]) == 2


def test_a_refused_report_fails_the_task(plugins: JavaPlugins, tmp_path: Path) -> None:
    reporter = Reporter(DataError("errors are not tolerated"))
    refused = pytest.raises(ConnectError, match="not tolerated")
    with running(plugins, tmp_path, context=Context(reporter), mode="errant") as calls, refused:
        calls.task.put_batch(batch(b"a", b"b"))


def test_the_plugin_goes_on_from_its_own_offsets(plugins: JavaPlugins, tmp_path: Path) -> None:
    with running(plugins, tmp_path, mode="rewind") as calls:
        assert calls.context.rewinds == {PART: 3}


def test_positions_are_those_the_plugin_calls_safe(plugins: JavaPlugins, tmp_path: Path) -> None:
    with running(plugins, tmp_path, mode="behind") as calls:
        calls.task.put_batch(batch(b"a", b"b"))
        assert calls.task.pre_commit({PART: 2}) == {PART: 1}
    with running(plugins, tmp_path, mode="none") as calls:
        assert calls.task.pre_commit({PART: 2}) == {}


def test_a_commit_is_asked_for(plugins: JavaPlugins, tmp_path: Path) -> None:
    with running(plugins, tmp_path, mode="request") as calls:
        calls.task.put_batch(batch(b"a"))
        assert calls.context.commits == 1


def test_values_of_python_converters_are_put(plugins: JavaPlugins, tmp_path: Path) -> None:
    with running(plugins, tmp_path, flow(converter="acme.Python")) as calls:
        values = Objects([STRING_SCHEMA, None], ["x", {"a": 1}])
        calls.task.put_batch(replace(batch(b"", b""), value=values, key=Objects([None, None], [None, None])))
    assert calls.lines()[-3:] == ["t-0@0 null x", "t-0@1 null {a=1}", "stop"]


@pytest.mark.parametrize(
    ("mode", "kind", "text"), [("throw", ConnectError, "put failed"), ("exit", AttemptError, "System.exit was called")]
)
def test_a_failed_put_says_why(
    plugins: JavaPlugins, tmp_path: Path, mode: str, kind: type[ConnectError], text: str
) -> None:
    with running(plugins, tmp_path, mode=mode) as calls, pytest.raises(kind, match=text):
        calls.task.put_batch(batch(b"a"))

"""A Java source task, called as the engine calls it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from connect_core.api.batch import Columns
from connect_core.api.records import SourceRecord
from connect_core.errors import AttemptError, ConnectError
from connect_core.java_plugins.plugins import JavaPlugins
from connect_core.java_plugins.source import JavaSourceTask
from connect_core.kafka.delivery import Landed
from connect_core.task.contexts import Boundary, Transactions
from tests.java_plugins.equipment import (
    CONFIG,
    TaskContext,
    flow,
    loaded,
    next_batch,
    polls_nothing,
    process_of,
    shouting,
    started,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def task(plugins: JavaPlugins) -> JavaSourceTask:
    made: JavaSourceTask = loaded(plugins, "testing.CountingSource", "source").tasks()
    return made


def test_records_come_as_bytes_with_their_positions(task: JavaSourceTask) -> None:
    with started(task, CONFIG, flow(), TaskContext()) as left:
        found = next_batch(task)
        assert left.stages == ()
    assert isinstance(found.result.value, Columns)
    assert found.result.value.array.to_pylist() == [b"row %d" % n for n in range(1, 7)]
    assert found.result.key.to_objects().values == [None] * 6
    assert found.result.topic.to_pylist() == ["t"] * 6
    assert found.polled.positions is not None
    assert found.polled.positions.last() == [({"task": "0"}, {"at": 6})]


def test_it_goes_on_from_committed_offsets(task: JavaSourceTask) -> None:
    with started(task, CONFIG, flow(), TaskContext(source_offsets={'{"task":"0"}': {"at": 4}})):
        assert next_batch(task).result.value.to_objects().values == [b"row 5", b"row 6"]


def test_a_snapshot_is_not_interrupted_before_its_last_row_is_here(plugins: JavaPlugins) -> None:
    """Whatever the metrics say: what they know is ahead of the rows that still wait."""
    task: JavaSourceTask = loaded(plugins, "io.debezium.testing.SnapshotSource", "source").tasks()
    config = {**CONFIG, "task.class": "io.debezium.testing.SnapshotSource$SnapshotTask", "limit": "100001"}
    with started(task, {**config, "batch": "1000"}, flow(), TaskContext()):
        rows, states = 0, []
        while rows < 100_001:
            rows += len(next_batch(task).polled)
            states.append(task.is_interruptible())
    assert len(states) > 1
    assert states == [False] * (len(states) - 1) + [True]


def test_a_snapshot_without_an_end_is_over_when_changes_are_followed(plugins: JavaPlugins) -> None:
    task: JavaSourceTask = loaded(plugins, "io.debezium.testing.SnapshotSource", "source").tasks()
    config = {**CONFIG, "task.class": "io.debezium.testing.SnapshotSource$SnapshotTask", "never.completes": "true"}
    with started(task, config, flow(), TaskContext()):
        rows = 0
        while rows < 6:
            rows += len(next_batch(task).polled)
            assert not task.is_interruptible()
        while not task.is_interruptible():
            assert polls_nothing(task)


@pytest.mark.parametrize(("mode", "seconds"), [("initial", 1.5), ("initial_only", 0)])
def test_an_interval_does_not_end_before_changes_are_followed(plugins: JavaPlugins, mode: str, seconds: float) -> None:
    """On a slow machine, or with a far database, no interval would ever get to the first change."""
    task: JavaSourceTask = loaded(plugins, "io.debezium.testing.SnapshotSource", "source").tasks()
    config = {**CONFIG, "task.class": "io.debezium.testing.SnapshotSource$SnapshotTask", "limit": "0"}
    with started(task, {**config, "connect.ms": "1500", "snapshot.mode": mode}, flow(), TaskContext()):
        began = time.monotonic()
        assert polls_nothing(task)
        assert task.is_interruptible() is (mode == "initial_only")
        while not task.is_interruptible():
            assert polls_nothing(task)
        assert time.monotonic() - began >= seconds


def test_transforms_of_java_run_in_the_host(task: JavaSourceTask) -> None:
    stage = shouting(dropped="row 2", refused="row 3")
    with started(task, CONFIG, flow(stage), TaskContext()) as left:
        found = next_batch(task)
        assert left.stages == ()
        assert found.result.value.to_objects().values == [b"ROW 1"]
        assert found.result.origin.to_pylist() == [0]
        assert len(found.polled) == 3
        (failure,) = found.failures
        assert (failure.row, failure.stage) == (2, 0)
        assert isinstance(failure.error, ConnectError)
        assert failure.error.java_class == "org.apache.kafka.connect.errors.DataException"
        record = found.records[2]
        assert isinstance(record, SourceRecord)
        assert (record.value, record.source_offset) == ("row 3", {"at": 3})


def test_what_is_not_java_is_left_to_the_engine(task: JavaSourceTask) -> None:
    mine, theirs = shouting(), flow().stages
    assert theirs == ()
    unknown = type(mine)(mine.transformation, chosen=type(mine.chosen)("acme.Python", {}))
    with started(task, CONFIG, flow(shouting(), unknown, shouting()), TaskContext()) as left:
        found = next_batch(task)
    assert [one.chosen.name for one in left.stages] == ["acme.Python", "testing.Shout"]
    objects = found.result.value.to_objects()
    assert objects.values == [f"ROW {n}" for n in range(1, 7)]
    assert [schema.type.value for schema in objects.schemas if schema is not None] == ["string"] * 6


def test_a_converter_that_is_not_java_gets_values(task: JavaSourceTask) -> None:
    given = flow(converter="acme.PythonConverter")
    with started(task, CONFIG, given, TaskContext()) as left:
        assert next_batch(task).result.value.to_objects().values[0] == "row 1"
    assert left.value is given.value


def test_tombstones_are_not_empty_values(task: JavaSourceTask) -> None:
    with started(task, {**CONFIG, "mode": "tombstones"}, flow(), TaskContext()):
        assert next_batch(task).result.value.to_objects().values == [b"", b"row 2", None, b"", b"row 5", None]


def test_headers_come_with_their_records(task: JavaSourceTask) -> None:
    with started(task, {**CONFIG, "mode": "headers", "limit": "2"}, flow(), TaskContext()):
        headers = next_batch(task).result.headers
    assert headers is not None
    assert [(one.key, one.value) for one in headers[1]] == [("n", b"2"), ("s", b"x2")]


def test_headers_that_neighbours_share_are_those_of_each(task: JavaSourceTask) -> None:
    with started(task, {**CONFIG, "mode": "same-headers", "limit": "8"}, flow(), TaskContext()):
        headers = next_batch(task).result.headers
    assert headers is not None
    found = [[(one.key, one.value) for one in row] for row in headers]
    groups = [[("group", b"g%d" % number), ("group", b"x")] for number in range(3)]
    assert found == [groups[0], groups[0], [], groups[1], groups[1], [], groups[2], groups[2]]
    assert headers[0] is headers[1]
    assert headers[4] is not headers[6]


def test_the_plugin_hears_of_commits_before_it_stops(task: JavaSourceTask, tmp_path: Path) -> None:
    told = tmp_path / "told"
    with started(task, {**CONFIG, "told": str(told)}, flow(shouting(dropped="row 2")), TaskContext()):
        found = next_batch(task)
        assert task.wants_places(CONFIG)
        places = [None if row == 1 else Landed("t", 0, 10 + row) for row in range(len(found.polled))]
        task.stop()
        assert task.commit_batch(found.polled, places)
        task.commit()
    assert told.read_text().split("\n") == [
        "start 0",
        "record 1 at 10",
        "record 2 dropped",
        *(f"record {row} at {9 + row}" for row in range(3, len(found.polled) + 1)),
        "commit",
        "stop",
        "",
    ]


def test_the_plugin_hears_of_a_commit_of_nothing(task: JavaSourceTask, tmp_path: Path) -> None:
    told = tmp_path / "told"
    with started(task, {**CONFIG, "told": str(told), "limit": "0"}, flow(), TaskContext()):
        task.commit()
        task.stop()
    assert told.read_text().split() == ["start", "0", "commit", "stop"]


def test_transactions_end_where_the_plugin_wants(task: JavaSourceTask) -> None:
    transactions = Transactions()
    with started(task, {**CONFIG, "limit": "10", "batch": "10"}, flow(), TaskContext(transaction_context=transactions)):
        sizes = []
        for _ in range(3):
            found = next_batch(task)
            sizes.append((len(found.polled), transactions.take(()).last))
    assert sizes == [(5, Boundary.COMMIT), (4, Boundary.ABORT), (1, Boundary.COMMIT)]


def test_what_was_polled_before_a_poll_fails_is_returned_first(task: JavaSourceTask) -> None:
    with started(task, {**CONFIG, "mode": "throw-in-poll", "trouble.at": "3"}, flow(), TaskContext()):
        assert next_batch(task).result.value.to_objects().values == [b"row 1", b"row 2", b"row 3"]
        with pytest.raises(ConnectError, match="poll failed at 3"):
            next_batch(task)


@pytest.mark.parametrize("mode", ["retry", "retry-in-client"])
def test_a_poll_that_may_be_repeated_is(task: JavaSourceTask, mode: str) -> None:
    with started(task, {**CONFIG, "mode": mode, "trouble.at": "4"}, flow(), TaskContext()):
        rows: list[Any] = []
        while len(rows) < 6:
            rows += next_batch(task).result.value.to_objects().values
    assert rows == [b"row %d" % n for n in range(1, 7)]


@pytest.mark.parametrize(
    ("mode", "kind", "text"),
    [
        ("throw", ConnectError, "org.apache.kafka.connect.errors.ConnectException: poll failed"),
        ("error", ConnectError, "java.lang.NoClassDefFoundError: some/Missing"),
        ("transient", AttemptError, "ConnectException: gone"),
        ("exit", AttemptError, "System.exit was called in thread task of"),
        ("halt", AttemptError, "exit code 9"),
        ("hoard", AttemptError, "OutOfMemoryError"),
        ("crash", AttemptError, "SIG"),
    ],
)
def test_a_plugin_that_fails_is_told_by_one_error(
    task: JavaSourceTask, mode: str, kind: type[ConnectError], text: str
) -> None:
    # A process that ends at once may be gone before it has answered that the task has started.
    with (
        pytest.raises(kind) as raised,
        started(task, {**CONFIG, "mode": mode, "trouble.at": "1"}, flow(), TaskContext()),
    ):
        next_batch(task)
    assert text in str(raised.value)


def test_what_it_prints_is_not_taken_for_an_answer(task: JavaSourceTask) -> None:
    with started(task, {**CONFIG, "mode": "print", "trouble.at": "1"}, flow(), TaskContext()):
        assert len(next_batch(task).polled) == 6


def test_threads_it_leaves_behind_end_with_its_process(task: JavaSourceTask) -> None:
    with started(task, {**CONFIG, "mode": "leak", "trouble.at": "1"}, flow(), TaskContext()):
        next_batch(task)
        process = process_of(task)
    assert process.wait(0)


def test_a_failed_start_says_why(task: JavaSourceTask) -> None:
    config = {**CONFIG, "task.class": "testing.Missing"}
    with pytest.raises(ConnectError, match="ClassNotFoundException"), started(task, config, flow(), TaskContext()):
        pass

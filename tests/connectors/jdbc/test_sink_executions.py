"""One attempt, several transactions: a task executed twice by Spark, a COMMIT that lands after its task gave it up."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from connect_core.api import TopicPartition
from connect_core.connectors.jdbc.sink.task import JdbcSinkTask
from connect_core.errors import RetriableError, StaleEpochError
from tests.connectors.jdbc.late_commit import late_commits
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sink_runs import SinkRun, deliver, ends_of, order

PART = TopicPartition("orders", 0)
INSERT = {"auto.create": "true"}
RECORDS = [order(0, 1), order(1, 2)]
ATTEMPT = "1-abcdef"


def execution(run: SinkRun) -> JdbcSinkTask:
    """Return an execution of one and the same attempt, with all records delivered."""
    task = run.task(RECORDS, attempt=ATTEMPT)
    deliver(task, RECORDS, in_batches=True)
    return task


def test_a_task_executed_twice_writes_once(server: Server) -> None:
    run = SinkRun(server, INSERT)
    run.fence()
    first, second = execution(run), execution(run)
    assert first.stage(ends_of(RECORDS)) == second.stage(ends_of(RECORDS))
    first.stop()
    second.stop()
    assert run.rows("SELECT id FROM orders ORDER BY 1") == [(1,), (2,)]
    assert run.fence() == {PART: 2}


def test_the_same_from_a_position_that_stands(server: Server) -> None:
    run = SinkRun(server, INSERT)
    run.put(RECORDS)
    more = [order(2, 3), order(3, 4)]
    tasks = [run.task(more, attempt=ATTEMPT) for _ in range(2)]
    for task in tasks:
        deliver(task, more, in_batches=True)
    for task in tasks:
        task.stage(ends_of(more))
        task.stop()
    assert run.rows("SELECT id FROM orders ORDER BY 1") == [(1,), (2,), (3,), (4,)]


def test_an_execution_that_lags_behind_another_stops(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the other one's transactions end elsewhere, this one cannot know what is in them."""
    records = [order(number, number) for number in range(6)]
    run = SinkRun(server, INSERT)
    run.fence()
    ahead, behind = (run.task(records, attempt=ATTEMPT) for _ in range(2))
    deliver(ahead, records[:4], in_batches=True)
    ahead.stage({PART: 4})
    deliver(behind, records, in_batches=True)
    with pytest.raises(StaleEpochError, match="is at 4"):
        behind.stage({PART: 6})
    for task in (ahead, behind):
        task.stop()
    assert [row[0] for row in run.rows("SELECT id FROM orders ORDER BY 1")] == [0, 1, 2, 3]


def test_executions_side_by_side_write_each_row_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connect_core.connectors.jdbc.sink.task._MOST_ROWS", 5)
    records = [order(number, number) for number in range(40)]
    run = SinkRun(server, INSERT)
    run.fence()
    run.server.execute("CREATE TABLE orders (id BIGINT, label VARCHAR(50))")
    together = threading.Barrier(3)
    tasks = [run.task(records, attempt=ATTEMPT) for _ in range(3)]

    def execute(task: JdbcSinkTask) -> None:
        together.wait(30)
        with suppress(StaleEpochError):
            for begin in range(0, 40, 5):
                _surely(task, lambda begin=begin: deliver(task, records[begin : begin + 5], True))
            _surely(task, lambda: task.stage({PART: 40}))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(execute, tasks))
    for task in tasks:
        task.stop()
    reached = run.fence()[PART]
    assert [row[0] for row in run.rows("SELECT id FROM orders ORDER BY 1")] == list(range(reached))
    assert reached == 40


def _surely(task: JdbcSinkTask, act: object) -> None:
    """Call again what was refused as retriable, after a pause, as the engine does."""
    assert callable(act)
    for number in range(50):
        try:
            act()
        except RetriableError:
            time.sleep(0.01 * number)
            continue
        return
    raise AssertionError("retriable for ever")


@pytest.mark.parametrize(
    "server", [pytest.param(kind, marks=pytest.mark.servers) for kind in ("postgresql", "mariadb")], indirect=True
)
@pytest.mark.parametrize("begun_at", [0, 2])
def test_a_commit_that_lands_after_the_look_is_not_done_again(server: Server, begun_at: int) -> None:
    run = SinkRun(server, INSERT)
    run.put([order(number, number) for number in range(begun_at)]) if begun_at else run.fence()
    records = [order(begun_at, begun_at), order(begun_at + 1, begun_at + 1)]
    with late_commits(server) as (through, network):
        run.server = through
        task = run.task(records, attempt=ATTEMPT)
        deliver(task, records, in_batches=True)
        network.arm()
        with pytest.raises(RetriableError):
            task.stage(ends_of(records))
        assert network.held.is_set()
        landing = threading.Timer(1.0, network.release)
        landing.start()
        # The first transaction is not over: the second waits for its end, and finds its own work done.
        task.stage(ends_of(records))
        landing.join()
        task.stop()
    run.server = server
    assert [row[0] for row in run.rows("SELECT id FROM orders ORDER BY 1")] == list(range(begun_at + 2))
    assert run.fence() == {PART: begun_at + 2}


@pytest.mark.parametrize(
    "server", [pytest.param(kind, marks=pytest.mark.servers) for kind in ("postgresql", "mariadb")], indirect=True
)
def test_a_fence_waits_for_a_commit_under_way(server: Server) -> None:
    """A new plan reads positions only when no transaction of an older one can still move them."""
    run = SinkRun(server, INSERT)
    run.put(RECORDS)
    records = [order(2, 3)]
    with late_commits(server) as (through, network):
        run.server = through
        task = run.task(records, attempt=ATTEMPT)
        deliver(task, records, in_batches=True)
        network.arm()
        with pytest.raises(RetriableError):
            task.stage(ends_of(records))
        landing = threading.Timer(1.0, network.release)
        landing.start()
        run.server = server
        assert run.fence() == {PART: 3}
        landing.join()
        task.stop()
    assert [row[0] for row in run.rows("SELECT id FROM orders ORDER BY 1")] == [1, 2, 3]

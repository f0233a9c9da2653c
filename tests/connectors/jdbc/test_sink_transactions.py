"""Rows and positions are one: zombies, racers, lost answers and dead servers change nothing twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, OperationalError

from connect_core.api import IntervalKey, TopicPartition
from connect_core.connectors.jdbc.connection import JdbcDatabase
from connect_core.connectors.jdbc.sink.offsets import Owner, fence
from connect_core.connectors.jdbc.sink.task import JdbcSinkTask
from connect_core.errors import ConnectError, RetriableError, StaleEpochError
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sink_runs import SinkRun, deliver, ends_of, order

PART, OTHER = TopicPartition("orders", 0), TopicPartition("orders", 1)
INSERT = {"auto.create": "true"}
RECORDS = [order(0, 1), order(1, 2)]


def begun(run: SinkRun, epoch: int = 0) -> JdbcSinkTask:
    """Return a task that has been put RECORDS and not yet committed."""
    task = run.task(RECORDS, epoch)
    deliver(task, RECORDS, in_batches=True)
    return task


def test_of_two_attempts_one_commits(server: Server) -> None:
    run = SinkRun(server, INSERT)
    run.fence()
    first, second = begun(run), begun(run)
    first.stage(ends_of(RECORDS))
    with pytest.raises(StaleEpochError):
        second.stage(ends_of(RECORDS))
    assert len(run.rows()) == 2
    first.stop()
    second.stop()


def test_a_zombie_of_an_older_epoch_changes_nothing(server: Server) -> None:
    run = SinkRun(server, INSERT)
    run.fence()
    zombie = begun(run)
    assert run.fence() == {}
    with pytest.raises(StaleEpochError) as stale:
        zombie.stage(ends_of(RECORDS))
    assert stale.value.epoch == 2
    run.put(RECORDS)
    with pytest.raises(StaleEpochError):
        zombie.stage(ends_of(RECORDS))
    zombie.stop()
    assert len(run.rows()) == 2
    assert run.fence() == {PART: 2}


def test_an_older_driver_is_fenced_and_told_the_epoch(server: Server) -> None:
    run = SinkRun(server, INSERT)
    committer = run.committer()
    committer.fence(5)
    with pytest.raises(StaleEpochError) as stale:
        committer.fence(4)
    assert stale.value.epoch == 5
    assert committer.fence(5) == {}


def test_a_first_fence_whose_commit_comes_late_fails_no_other(server: Server) -> None:
    """The client has given up on it, and the next try adds the same row: it fails for a moment, not for good."""
    run = SinkRun(server, INSERT)
    late, committer = run.committer(), run.committer()
    late._create_tables()
    with ThreadPoolExecutor(1) as pool, late._database.connect() as connection:
        transaction = connection.begin()
        fence(connection, late._own.offsets, Owner("copy", 1, ""))
        again = pool.submit(committer.fence, 2)
        with suppress(FutureTimeout):
            again.exception(1.0)
        # Where nobody waits (DuckDB), the later COMMIT fails, which here is the late one.
        with suppress(OperationalError):
            transaction.commit()
        assert isinstance(again.exception(30), RetriableError | None)
    assert committer.fence(2) == {}
    with pytest.raises(StaleEpochError):
        committer.fence(1)


def test_a_replay_begins_where_the_target_stands(server: Server) -> None:
    run = SinkRun(server, INSERT)
    run.put(RECORDS)
    run.fence()
    run.put([order(2, 3), order(3, 4)])
    assert [row[0] for row in run.rows()] == [1, 2, 3, 4]
    assert run.fence() == {PART: 4}


def test_connectors_do_not_touch_each_others_positions(server: Server) -> None:
    mine, other = SinkRun(server, INSERT), SinkRun(server, INSERT, name="COPY")
    mine.put(RECORDS)
    assert other.fence() == {}
    other.put([order(0, 7)])
    assert mine.fence() == {PART: 2}


def test_gaps_move_positions_without_rows(server: Server) -> None:
    run = SinkRun(server, INSERT)
    run.fence()
    task = run.task(RECORDS)
    staged = task.stage({PART: 2})
    task.stop()
    assert run.committer().commit(IntervalKey("copy", 1, 1, 1), staged).positions == {PART: 2}


def test_a_commit_the_target_does_not_hold_is_not_believed(server: Server) -> None:
    run = SinkRun(server, INSERT)
    run.fence()
    task = begun(run)
    staged = task.stage(ends_of(RECORDS))
    task.stop()
    run.committer().abandon(IntervalKey("copy", 1, 1, 1), {PART: 0})
    with pytest.raises(ConnectError, match="is at 0"):
        run.committer().commit(IntervalKey("copy", 1, 1, 1), staged)


def test_an_operator_moves_and_forgets_positions(server: Server) -> None:
    run = SinkRun(server, INSERT)
    run.put([*RECORDS, order(0, 9, partition=1)])
    zombie = run.task([order(2, 3)])
    deliver(zombie, [order(2, 3)], in_batches=True)
    marker = run.committer().abandon(IntervalKey("copy", 1, 2, 7), {PART: 1, OTHER: None})
    assert marker.aborted
    assert marker.positions == {PART: 1}
    with pytest.raises(StaleEpochError):
        zombie.stage({PART: 3})
    zombie.stop()
    run.epoch = 7
    assert run.fence() == {PART: 1}


def test_a_deleted_connector_leaves_its_epoch(server: Server) -> None:
    run = SinkRun(server, INSERT)
    run.put(RECORDS)
    run.committer().release()
    with pytest.raises(StaleEpochError):
        run.committer().fence(0)
    assert run.fence() == {}


def test_a_lost_answer_to_commit_is_looked_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    run = SinkRun(server, INSERT)
    run.fence()
    task = begun(run)
    commit = sa.engine.RootTransaction.commit

    def commit_and_lose(self: sa.engine.RootTransaction) -> None:
        commit(self)
        _lose()

    monkeypatch.setattr(sa.engine.RootTransaction, "commit", commit_and_lose)
    task.stage(ends_of(RECORDS))
    monkeypatch.undo()
    task.stop()
    assert len(run.rows()) == 2


def test_a_commit_that_never_came_is_done_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    run = SinkRun(server, INSERT)
    run.fence()
    task = begun(run)

    def lose_before(self: sa.engine.RootTransaction) -> None:
        self.rollback()
        _lose()

    monkeypatch.setattr(sa.engine.RootTransaction, "commit", lose_before)
    with pytest.raises(ConnectError):
        task.stage(ends_of(RECORDS))
    monkeypatch.undo()
    assert run.fence() == {}
    task.stop()
    run.put(RECORDS)
    assert len(run.rows()) == 2


def _lose() -> None:
    raise OperationalError("COMMIT", None, Exception("the answer was lost"), connection_invalidated=True)


def test_a_failed_write_leaves_positions_and_rows(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    run = SinkRun(server, INSERT)
    run.put([order(0, 1)])
    task = run.task([order(1, 2)])
    deliver(task, [order(1, 2)], in_batches=True)
    kind = type(task._writer.database.dialect)

    def fail(self: object, connection: Connection, write: object) -> None:
        raise DBAPIError("INSERT", None, Exception("disk full"), connection_invalidated=True)

    monkeypatch.setattr(kind, "write", fail)
    with pytest.raises(ConnectError, match="disk full"):
        task.stage({PART: 2})
    monkeypatch.undo()
    assert run.rows("SELECT COUNT(*) FROM orders") == [(1,)]
    task.stage({PART: 2})
    task.stop()
    assert run.fence() == {PART: 2}
    assert run.rows("SELECT COUNT(*) FROM orders") == [(2,)]


def test_a_large_interval_is_several_transactions(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connect_core.connectors.jdbc.sink.task._MOST_ROWS", 3)
    run = SinkRun(server, INSERT)
    run.fence()
    records = [order(number, number) for number in range(10)]
    task = run.task(records)
    deliver(task, records, in_batches=True, rows=2)
    reached = run.committer().fence(1)
    assert 0 < reached[PART] < 10
    task.stop()
    zombie_free = SinkRun(server, INSERT, epoch=1)
    zombie_free.fence()
    zombie_free.put(records[zombie_free.positions[PART] :])
    assert [row[0] for row in run.rows()] == list(range(10))


def test_a_table_of_another_kind_is_not_taken_for_positions(server: Server) -> None:
    server.execute("CREATE TABLE connect_offsets (id INTEGER)")
    run = SinkRun(server, INSERT)
    with pytest.raises(ConnectError, match=r"offsets\.table"):
        run.fence()
    named = SinkRun(server, {**INSERT, "offsets.table": "my_offsets"})
    named.put(RECORDS)
    assert server.rows("SELECT COUNT(*) FROM my_offsets")[0][0] == 2


@pytest.mark.servers
def test_a_database_that_goes_away_is_waited_for(postgresql: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    run = SinkRun(postgresql, INSERT)
    run.put([order(0, 1)])
    task = run.task([order(1, 2)])
    deliver(task, [order(1, 2)], in_batches=True)
    opened = JdbcDatabase.open
    monkeypatch.setattr(JdbcDatabase, "open", lambda self: _dead(opened(self), postgresql))
    with pytest.raises(RetriableError):
        task.stage({PART: 2})
    monkeypatch.undo()
    task.stage({PART: 2})
    task.stop()
    assert run.fence() == {PART: 2}
    assert run.rows("SELECT COUNT(*) FROM orders") == [(2,)]


def _dead(connection: Connection, server: Server) -> Connection:
    """Return a connection whose server process was ended, as a restart of the server does."""
    pid = connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
    connection.rollback()
    server.rows(f"SELECT pg_terminate_backend({pid})")
    return connection

"""Wrong protocols of sinks: their plan and commit, and the positions in a database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, PartitionRange
from connect_core.commit import interval as committing
from connect_core.commit.committed import Committed
from connect_core.connectors.jdbc.sink import committer as sink_committer
from connect_core.connectors.jdbc.sink import offsets as sink_offsets
from connect_core.connectors.jdbc.sink.offsets import Moves, Owner
from connect_core.connectors.jdbc.sink.transaction import TargetWriter
from connect_core.errors import ConnectError, StaleEpochError
from connect_core.interval import effects as fx
from connect_core.interval.values import IntervalRow, LostRecords, Plan, TaskOutcome, TaskResult
from connect_core.plan import abandon as abandoning
from connect_core.plan import bounds, proof, recovery, sink
from connect_core.plan import interval as planning
from connect_core.plan import settle as settling
from connect_core.plan.bounds import Ends, Positions
from connect_core.plan.recovery import Config
from connect_core.plan.run import Run, Steps
from tests.simulator import targets
from tests.simulator.chances import BACKUP, FOREIGN, METADATA_LOST, METADATA_RESTORED, TARGET_RESTORED
from tests.simulator.wrong import Wrong, wrong

__all__ = ["WRONG_SINKS"]


def _up_to_high_watermark(positions: Positions, ends: Ends) -> tuple[PartitionRange, ...]:
    """Bound intervals at the high watermark."""
    return _sink_ranges(positions, {part: replace(end, stable=end.latest) for part, end in ends.items()})


_sink_ranges = bounds.sink_ranges


def _blind_to_ids(positions: Positions, ends: Ends, topic_ids: Mapping[str, str]) -> tuple[LostRecords, ...]:
    """Never compare topic ids in the plan."""
    return _find_losses(positions, ends, {})


_find_losses = bounds.find_losses


def _silent_losses(run: Run, losses: Sequence[LostRecords], moves_target: bool) -> Steps[None]:
    """Skip what is lost and record nothing."""
    if losses and moves_target:
        yield from fx.AbandonTarget(sink._following(run), {loss.partition: loss.end for loss in losses})


def _unfenced_sink(run: Run, name: str) -> Steps[tuple[Run, Positions | None]]:
    """Raise the epoch in SQL alone; read the target's positions without a fence."""
    epoch = run.epoch
    if epoch is None:
        epoch = yield from fx.RaiseEpoch(run.connector, run.holder, is_settling=run.is_settling)
    kept = yield from fx.LoadOffsets(run.connector)
    return replace(run, epoch=epoch, assignment=name), kept


def _restart_at_row(part: PartitionRange, position: int) -> PartitionRange:
    """Begin a retry where the row does, wherever the target's marker stands."""
    return part


def _all_stand(run: Run, row: IntervalRow) -> Steps[tuple[TaskResult, ...]]:
    """Take every earlier result as standing, whatever assignment it belongs to."""
    results = yield from fx.LoadResults(row.key)
    return tuple(result for result in results if result.outcome is TaskOutcome.DONE)


def _publish_first(run: Run, plan: Plan, results: Sequence[TaskResult]) -> Steps[Committed]:
    """Make files visible before the manifest."""
    staged = tuple(piece for result in (*results, *plan.kept) for piece in result.staged)
    files = [{"topic": one.topic, "partition": one.partition, "start": one.start, "end": one.end, **one.detail}
             for one in staged]  # fmt: skip
    marker = CommitMarker({}, detail={"files": files})
    yield from fx.PublishTarget(plan.row.key, marker)
    return (yield from _commit_target(run, plan, results))


_commit_target = committing._commit_target


def _no_abort_mark(
    run: Run, row: IntervalRow, kept: Positions | None, reason: str, home: Config | None = None
) -> Steps[None]:
    """Abandon in SQL, without a mark in the target."""
    yield from fx.AbandonInterval(row.key, run.mine, reason)


def _no_mark_of_lost(run: Run, row: IntervalRow, reason: str, gone: tuple[LostRecords, ...]) -> Steps[None]:
    """Abandon in SQL, without a mark in the target, where records are lost."""
    yield from fx.AbandonInterval(row.key, run.mine, reason, gone)


def _settled_by_sql(run: Run) -> Steps[Run]:
    """End what is unfinished of a paused connector in SQL alone."""
    row = yield from fx.LoadUnfinished(run.connector)
    if row is None:
        return run.unfenced()
    epoch = yield from fx.RaiseEpoch(run.connector, run.holder, is_settling=True)
    yield from fx.AbandonInterval(row.key, epoch, "paused")
    return run.unfenced()


def _only_reached(row: IntervalRow, reached: Positions) -> Positions:
    """Give no position to partitions that nothing was read of."""
    return reached


def _any_transaction(owner: Owner) -> str:
    """Sign a position with the attempt alone, whichever of its transactions moved it."""
    return str(owner.attempt)


def _taken_for_done(writer: TargetWriter, commit: Callable[[], None], owner: Owner, moves: Moves) -> None:
    """Take a COMMIT without an answer for done."""
    with suppress(DBAPIError):
        commit()


def _own_row_alone(connection: Connection, table: sa.Table, owner: Owner) -> dict[TopicPartition, int]:
    """Write the epoch to the connector's row, and to none of its positions."""
    newest = connection.execute(sa.select(table.c.epoch).where(table.c.kafka_topic == "")).scalar() or 0
    if newest > owner.epoch:
        raise sink_offsets._stale(owner, newest)
    kept = sink_offsets.read_positions(connection, table, owner.connector)
    connection.execute(table.delete().where(table.c.kafka_topic == ""))
    place = TopicPartition("", -1)
    connection.execute(table.insert(), [sink_offsets._row(owner, place, 0)])
    return kept


def _never_given_up(run: Run, row: IntervalRow, kept: Positions | None) -> Steps[bool]:
    """Carry an interval on, wherever the target stands."""
    return False
    yield


def _same_life(run: Run) -> Steps[Run]:
    """Use the keys of the database, whatever the target holds under them."""
    return run
    yield


def _believed(*arguments: object) -> bool:
    """Take every marker under a key for that of the interval."""
    return True


def _not_followed(run: Run, stored: Positions) -> Steps[tuple[Run, Positions]]:
    """Move offsets by hand without a look at what the target has committed beyond the database."""
    return run, stored
    yield


def _buried_with_its_connector(run: Run, row: IntervalRow, kept: Positions | None) -> Steps[tuple[Run, bool]]:
    """Abandon what a deleted connector left unfinished, unasked."""
    if row.key.incarnation != run.state.incarnation:
        yield from fx.AbandonInterval(row.key, run.mine, "deleted")
        return run, True
    return (yield from _recovered(run, row, kept))


_recovered = recovery.recovered


def _at_present_home(run: Run, row: IntervalRow) -> Steps[Config | None]:
    """Ask the present target of every interval, wherever it was begun."""
    return None
    yield


def _given_up_at_once(
    run: Run, row: IntervalRow, home: Config | None, kept: Positions | None, reason: str
) -> Steps[Run]:
    """Abandon an interval of another target where that fails, even only once."""
    try:
        return (yield from _end_at_home(run, row, home, kept, reason))
    except StaleEpochError:
        raise
    except ConnectError:
        yield from fx.AbandonInterval(row.key, run.mine, reason)
        return run


_end_at_home = recovery.end_at_home


def _not_kept(*arguments: object) -> Steps[None]:
    """Keep no first positions."""
    return
    yield


def _as_they_came(run: Run, result: TaskResult) -> TaskResult:
    """Count a task's loss of records as its failure, whatever ``interval.data.loss`` says."""
    return result


def _attempt_alone(attempt: str) -> str:
    """Stage under the attempt's name, however often Spark executes it."""
    return attempt


WRONG_SINKS: Mapping[str, Wrong] = {
    "bounds at the high watermark": wrong("files", (sink, "sink_ranges", _up_to_high_watermark)),
    "topic id checked once": wrong("files", (sink, "find_losses", _blind_to_ids)),
    "losses skipped in silence": wrong("files", (sink, "_record_lost", _silent_losses)),
    "rename before the manifest": wrong("files", (committing, "_commit_target", _publish_first)),
    "abandoned without an abort mark": wrong(
        "files",
        *((module, "end_sink_interval", _no_abort_mark) for module in (abandoning, recovery)),
        (sink, "end_lost_interval", _no_mark_of_lost),
    ),
    "database not fenced by the plan": wrong("database", (sink, "fence_sink", _unfenced_sink)),
    "retry starts at the row": wrong("database", (sink, "_resumed", _restart_at_row)),
    "paused interval ended in SQL alone": wrong("files", (planning, "settle", _settled_by_sql)),
    "unread partitions lose their position": wrong(
        "plain", (committing, "covering", _only_reached), (recovery, "covering", _only_reached)
    ),
    "every earlier result stands": wrong("files", (sink, "kept_results", _all_stand)),
    "rows of another transaction of the attempt taken for one's own": wrong(
        "database", (sink_offsets.Owner, "marker", property(_any_transaction))
    ),
    "a COMMIT without an answer taken for done": wrong("database", (TargetWriter, "_end", _taken_for_done)),
    "positions in the target keep their epoch": wrong("database", (sink_committer, "fence", _own_row_alone)),
    # The target is put back behind an interval that was begun and not finished.
    "interval carried on behind its start": wrong(
        "database",
        (sink, "_gave_up", _never_given_up),
        plot=(("K0", BACKUP), ("K3", "crash"), ("K0", TARGET_RESTORED)),
    ),
    "keys of an earlier life used again": wrong(
        "files", (sink, "begin_above", _same_life), plot=(("K0", METADATA_LOST),)
    ),
    "marker of another deployment believed": wrong(
        "files",
        *((module, "has_ranges", _believed) for module in (committing, recovery, proof)),
        plot=(("K0", FOREIGN),),
    ),
    "restored metadata not followed up before a reset": wrong(
        "files", (abandoning, "follow_target", _not_followed), plot=(("K0", BACKUP), ("K0", METADATA_RESTORED))
    ),
    "deleted connector's interval abandoned unasked": wrong("files", (sink, "recovered", _buried_with_its_connector)),
    "first positions of latest not kept": wrong("files", (sink, "_begin_partitions", _not_kept), reset="latest"),
    "loss of records HELD although it may be passed over": wrong(
        "files", (committing, "_passable", _as_they_came), is_held_back=True
    ),
    "staging shared by executions of an attempt": wrong("files", (targets, "execution_of", _attempt_alone)),
    "another path's interval asked for in the present one": wrong(
        "files", *((module, "home_of", _at_present_home) for module in (abandoning, recovery, settling)), has_moves=True
    ),
    "another path's interval given up at once": wrong(
        "files", *((module, "end_at_home", _given_up_at_once) for module in (recovery, settling)), has_moves=True
    ),
}

"""Wrong protocols: production functions replaced for a while by ones with a known mistake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker
from connect_core.commit import interval as committing
from connect_core.connectors.jdbc.sink import committer as sink_committer
from connect_core.connectors.jdbc.sink import offsets as sink_offsets
from connect_core.connectors.jdbc.sink.transaction import TargetWriter
from connect_core.errors import ConnectError, StaleEpochError, UnclearOutcomeError
from connect_core.interval import effects as fx
from connect_core.interval.values import OffsetProjection, TaskOutcome
from connect_core.kafka import writer as writing
from connect_core.kafka.marker_records import MarkerRecord
from connect_core.plan import abandon as abandoning
from connect_core.plan import bounds, fence, offsets_topic, proof, recovery, sink, source
from connect_core.plan import interval as planning
from connect_core.plan import settle as settling
from tests.simulator import broker, processes, targets
from tests.simulator.chances import BACKUP, FOREIGN, METADATA_LOST, METADATA_RESTORED, TARGET_RESTORED, Plot
from tests.simulator.scenario import plotted, seeded
from tests.simulator.traits import Traits
from tests.simulator.truth import Violation

__all__ = ["WRONG", "Patch", "Wrong", "caught", "patched"]

Patch = tuple[Any, str, Any]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A mistake, the kind of connector that shows it, and the faults that lead there, where chance seldom does."""

    kind: str
    patches: tuple[Patch, ...]
    plot: Plot = ()
    traits: Traits = field(default_factory=dict)
    """What is special of the world that shows it."""


@contextmanager
def patched(patches: tuple[Patch, ...]) -> Iterator[None]:
    """Replace functions while the block runs."""
    kept = [(place, name, getattr(place, name)) for place, name, _ in patches]
    try:
        for place, name, value in patches:
            setattr(place, name, value)
        yield
    finally:
        for place, name, value in kept:
            setattr(place, name, value)


def caught(
    kind: str, seeds: range, plot: Plot = (), traits: Traits = MappingProxyType({})
) -> tuple[int, int, str] | None:
    """Run histories of one kind until one breaks an invariant → seed, steps altogether, which one."""
    steps = 0
    for seed in seeds:
        schedule = plotted(seed, kind, plot, traits) if plot else seeded(seed, kind, traits)
        try:
            schedule.run()
        except Violation as violation:
            return seed, steps + schedule.steps, str(violation)
        steps += schedule.steps
    return None


# -- the writer of transactions


def _offsets_first(writer: Any, offsets: Any, states: Any = None) -> None:
    """Commit the offsets alone, then the data."""
    data = _taken(writer)
    _commit(writer, offsets, states)
    writer.produce_records(broker.DATA, [MarkerRecord(b"", value, []) for value in data])
    _commit(writer, (), None)


def _taken(writer: Any) -> list[bytes]:
    transaction = writer._producer._broker.open.get(writer._id)
    if transaction is None:
        return []
    data, transaction.data = transaction.data, []
    return data  # type: ignore[no-any-return]


def _offsets_later(writer: Any, offsets: Any, states: Any = None) -> None:
    """Commit the data, then the offsets in a transaction of their own."""
    fault, writer._producer._broker.fault = writer._producer._broker.fault, None
    _commit(writer, (), None)
    writer._producer._broker.fault = fault
    _commit(writer, offsets, states)


def _producer_kept(writer: Any, offsets: Any, states: Any = None) -> None:
    """After an unclear commit go on with the same producer, as if nothing was committed."""
    transaction = writer._producer._broker.open.get(writer._id)
    data = [] if transaction is None else list(transaction.data)
    kept = writer._producer
    try:
        _commit(writer, offsets, states)
    except UnclearOutcomeError:
        writer._queue.producer, writer._state = kept, writing._State.READY
        kept.abort_transaction(1.0)
        writer.produce_records(broker.DATA, [MarkerRecord(b"", value, []) for value in data])
        _commit(writer, offsets, states)


_commit = writing.TransactionalWriter.commit


# -- plan


def _no_fence(run: Any, tasks: int, name: str) -> Any:
    """Raise the epoch and fence nobody."""
    topic = yield from fx.ReadOffsetsTopic(run.connector, run.state.offsets_position)
    epoch = yield from fx.RaiseEpoch(run.connector, run.holder, topic.epoch, run.is_settling)
    yield from fx.WriteEpoch(run.connector, epoch)
    return replace(run, epoch=epoch, assignment=name)


def _fence_this_assignment(run: Any, tasks: int, name: str) -> Any:
    """Fence only the tasks of the present assignment, not those of all earlier ones."""
    topic = yield from fx.ReadOffsetsTopic(run.connector, run.state.offsets_position)
    epoch = yield from fx.RaiseEpoch(run.connector, run.holder, topic.epoch, run.is_settling)
    yield from fx.WriteEpoch(run.connector, epoch)
    yield from fx.FenceProducers(run.connector, tasks)
    return replace(run, epoch=epoch, assignment=name)


def _fenced_too_early(run: Any, tasks: int, name: str) -> Any:
    """Fence all producers before the epoch stands in the topic, and not again when it does."""
    epoch = yield from fx.RaiseEpoch(run.connector, run.holder, is_settling=run.is_settling)
    yield from fx.FenceProducers(run.connector, max(run.state.tasks_ever, tasks))
    yield from fx.WriteEpoch(run.connector, epoch)
    return replace(run, epoch=epoch, assignment=name)


def _no_epoch_in_topic(run: Any, tasks: int, name: str) -> Any:
    """Fence all producers, and write no epoch that a late attempt could see."""
    topic = yield from fx.ReadOffsetsTopic(run.connector, run.state.offsets_position)
    epoch = yield from fx.RaiseEpoch(run.connector, run.holder, topic.epoch, run.is_settling)
    yield from fx.FenceProducers(run.connector, max(run.state.tasks_ever, tasks))
    return replace(run, epoch=epoch, assignment=name)


def _start_from_sql(run: Any, bounds: Any = None) -> Any:
    """Take the start from SQL without reading the topic."""
    offsets = yield from fx.LoadOffsets(run.connector)
    return offsets, OffsetProjection({}, run.mine, run.state.offsets_position)


def _up_to_high_watermark(positions: Any, ends: Any) -> Any:
    """Bound intervals at the high watermark."""
    return _sink_ranges(positions, {part: replace(end, stable=end.latest) for part, end in ends.items()})


_sink_ranges = bounds.sink_ranges


def _blind_to_ids(positions: Any, ends: Any, topic_ids: Any) -> Any:
    """Never compare topic ids in the plan."""
    return _find_losses(positions, ends, {})


_find_losses = bounds.find_losses


def _silent_losses(run: Any, losses: Any, moves_target: bool) -> Any:
    """Skip what is lost and record nothing."""
    if losses and moves_target:
        yield from fx.AbandonTarget(sink._following(run), {loss.partition: loss.end for loss in losses})


def _unfenced_sink(run: Any, name: str) -> Any:
    """Raise the epoch in SQL alone; read the target's positions without a fence."""
    epoch = run.epoch
    if epoch is None:
        epoch = yield from fx.RaiseEpoch(run.connector, run.holder, is_settling=run.is_settling)
    kept = yield from fx.LoadOffsets(run.connector)
    return replace(run, epoch=epoch, assignment=name), kept


def _restart_at_row(part: Any, position: int) -> Any:
    """Begin a retry where the row does, wherever the target's marker stands."""
    return part


def _all_stand(run: Any, row: Any) -> Any:
    """Take every earlier result as standing, whatever assignment it belongs to."""
    results = yield from fx.LoadResults(row.key)
    return tuple(result for result in results if result.outcome is TaskOutcome.DONE)


# -- commit, settle, abandon


def _publish_first(run: Any, plan: Any, results: Any) -> Any:
    """Make files visible before the manifest."""
    staged = tuple(piece for result in (*results, *plan.kept) for piece in result.staged)
    files = [{"topic": one.topic, "partition": one.partition, "start": one.start, "end": one.end, **one.detail}
             for one in staged]  # fmt: skip
    marker = CommitMarker({}, detail={"files": files})
    yield from fx.PublishTarget(plan.row.key, marker)
    return (yield from _commit_target(run, plan, results))


_commit_target = committing._commit_target


def _no_abort_mark(run: Any, row: Any, kept: Any, reason: str, home: Any = None) -> Any:
    """Abandon in SQL, without a mark in the target."""
    yield from fx.AbandonInterval(row.key, run.mine, reason)


def _offsets_before_fence(run: Any, request: Any) -> Any:
    """Move offsets, and only then fence the tasks' producers."""
    before = yield from fx.ReadOffsetsTopic(run.connector, None)
    epoch = yield from fx.StoreIntent(run.connector, request.wanted, request.actor, before.epoch)
    yield from fx.WriteEpoch(run.connector, epoch)
    known = {key for key, offset in before.offsets.items() if offset is not None}
    changes = dict.fromkeys(known) if request.wanted is None else request.wanted
    if changes:
        yield from fx.WriteOffsets(run.connector, epoch, changes)
    yield from fx.FenceProducers(run.connector, run.state.tasks_ever)
    yield from fx.FinishIntent(run.connector, epoch, {**before.offsets, **changes})


def _sql_only(run: Any, request: Any) -> Any:
    """Move offsets in SQL alone, although the topic wins."""
    epoch = yield from fx.StoreIntent(run.connector, request.wanted, request.actor)
    stored = yield from fx.LoadOffsets(run.connector)
    yield from fx.FinishIntent(
        run.connector, epoch, dict.fromkeys(stored) if request.wanted is None else request.wanted
    )


def _to_last_stable(topic: Any) -> tuple[str, dict[int, int]]:
    """Read markers up to the last stable offset."""
    return str(topic.log.identity), {place: topic.log.stable(place) for place in range(broker.PARTITIONS)}


def _unchecked(*arguments: Any) -> None:
    """Check nothing."""
    return


def _settled_by_sql(run: Any) -> Any:
    """End what is unfinished of a paused connector in SQL alone."""
    row = yield from fx.LoadUnfinished(run.connector)
    if row is None:
        return run.unfenced()
    epoch = yield from fx.RaiseEpoch(run.connector, run.holder, is_settling=True)
    yield from fx.AbandonInterval(row.key, epoch, "paused")
    return run.unfenced()


def _only_reached(row: Any, reached: Any) -> Any:
    """Give no position to partitions that nothing was read of."""
    return reached


# -- the database


def _any_transaction(owner: Any) -> str:
    """Sign a position with the attempt alone, whichever of its transactions moved it."""
    return str(owner.attempt)


def _taken_for_done(writer: Any, commit: Any, owner: Any, moves: Any) -> None:
    """Take a COMMIT without an answer for done."""
    with suppress(DBAPIError):
        commit()


def _own_row_alone(connection: Any, table: Any, owner: Any) -> Any:
    """Write the epoch to the connector's row, and to none of its positions."""
    newest = connection.execute(sa.select(table.c.epoch).where(table.c.kafka_topic == "")).scalar() or 0
    if newest > owner.epoch:
        raise sink_offsets._stale(owner, newest)
    kept = sink_offsets.read_positions(connection, table, owner.connector)
    connection.execute(table.delete().where(table.c.kafka_topic == ""))
    place = TopicPartition("", -1)
    connection.execute(table.insert(), [sink_offsets._row(owner, place, 0)])
    return kept


def _never_given_up(run: Any, row: Any, kept: Any) -> Any:
    """Carry an interval on, wherever the target stands."""
    return False
    yield


# -- what outlives the connector, its configuration, or the metadata


def _same_life(run: Any) -> Any:
    """Use the keys of the database, whatever the target holds under them."""
    return run
    yield


def _believed(*arguments: Any) -> bool:
    """Take every marker under a key for that of the interval."""
    return True


def _not_followed(run: Any, stored: Any) -> Any:
    """Move offsets by hand without a look at what the target has committed beyond the database."""
    return run, stored
    yield


def _buried_with_its_connector(run: Any, row: Any, kept: Any) -> Any:
    """Abandon what a deleted connector left unfinished, unasked."""
    if row.key.incarnation != run.state.incarnation:
        yield from fx.AbandonInterval(row.key, run.mine, "deleted")
        return run, True
    return (yield from _recovered(run, row, kept))


_recovered = recovery.recovered


def _at_present_home(run: Any, row: Any) -> Any:
    """Ask the present target of every interval, wherever it was begun."""
    return None
    yield


def _given_up_at_once(run: Any, row: Any, home: Any, kept: Any, reason: str) -> Any:
    """Abandon an interval of another target where that fails, even only once."""
    try:
        return (yield from _end_at_home(run, row, home, kept, reason))
    except StaleEpochError:
        raise
    except ConnectError:
        yield from fx.AbandonInterval(row.key, run.mine, reason)
        return run


_end_at_home = recovery.end_at_home


def _not_kept(*arguments: Any) -> Any:
    """Keep no first positions."""
    return
    yield


def _left_behind(run: Any, found: Any) -> Any:
    """Follow another offsets topic from where it stands, and carry no offsets over."""
    yield from fx.RepairOffsets(run.connector, run.mine, OffsetProjection({}, run.mine, found.position))


def _no_former(run: Any, found: Any) -> Any:
    """Forget the offsets topic before: neither read nor fence it."""
    return None
    yield


def _as_they_came(run: Any, result: Any) -> Any:
    """Count a task's loss of records as its failure, whatever ``interval.data.loss`` says."""
    return result


def _attempt_alone(attempt: str) -> str:
    """Stage under the attempt's name, however often Spark executes it."""
    return attempt


def _wrong(kind: str, *patches: Patch, plot: Plot = (), **traits: Any) -> Wrong:
    return Wrong(kind, patches, plot, MappingProxyType(traits))


WRONG: Mapping[str, Wrong] = {
    "offset before data": _wrong("source", (writing.TransactionalWriter, "commit", _offsets_first)),
    "marker outside the transaction": _wrong("source", (writing.TransactionalWriter, "commit", _offsets_later)),
    "producer kept after an unclear commit": _wrong("source", (writing.TransactionalWriter, "commit", _producer_kept)),
    "no epoch read after init_transactions": _wrong("source", (processes, "check_start", _unchecked)),
    "no epoch in the topic": _wrong("source", (source, "fence_source", _no_epoch_in_topic)),
    "no fence of producers": _wrong("source", (source, "fence_source", _no_fence)),
    "start from SQL": _wrong("source", (source, "committed_offsets", _start_from_sql)),
    "offsets moved before the fence": _wrong("source", (abandoning, "_abandon_source", _offsets_before_fence)),
    "offsets moved in SQL alone": _wrong("source", (abandoning, "_abandon_source", _sql_only)),
    "bounds at the high watermark": _wrong("files", (sink, "sink_ranges", _up_to_high_watermark)),
    "topic id checked once": _wrong("files", (sink, "find_losses", _blind_to_ids)),
    "losses skipped in silence": _wrong("files", (sink, "_record_lost", _silent_losses)),
    "rename before the manifest": _wrong("files", (committing, "_commit_target", _publish_first)),
    "abandoned without an abort mark": _wrong(
        "files", *((module, "end_sink_interval", _no_abort_mark) for module in (abandoning, recovery, sink))
    ),
    "database not fenced by the plan": _wrong("database", (sink, "fence_sink", _unfenced_sink)),
    "retry starts at the row": _wrong("database", (sink, "_resumed", _restart_at_row)),
    "paused interval ended in SQL alone": _wrong("files", (planning, "settle", _settled_by_sql)),
    "unread partitions lose their position": _wrong(
        "plain", (committing, "covering", _only_reached), (recovery, "covering", _only_reached)
    ),
    "every earlier result stands": _wrong("files", (sink, "kept_results", _all_stand)),
    # An unclear commit leaves a transaction open, before the marker of another task: its second attempt sees nothing.
    "markers read to the last stable offset": _wrong(
        "source",
        (broker.Topic, "_high_watermarks", _to_last_stable),
        plot=(("K6", "lost request"), ("K6", "duplicate")),
    ),
    # A task that slept since its plan begins between the fence and the epoch, and sleeps again until the next plan.
    "producers fenced before the epoch is written": _wrong(
        "source",
        (source, "fence_source", _fenced_too_early),
        plot=(("K3", "zombie"), ("K0", "revived"), ("K6", "zombie"), ("K3", "revived")),
    ),
    # A task sleeps before its commit while an operator lets fewer tasks be assigned; it wakes when those are at work.
    "source reassigned, old tasks not fenced": _wrong(
        "source",
        (source, "fence_source", _fence_this_assignment),
        plot=(("K6", "zombie"), ("K3", "revived")),
    ),
    "rows of another transaction of the attempt taken for one's own": _wrong(
        "database", (sink_offsets.Owner, "marker", property(_any_transaction))
    ),
    "a COMMIT without an answer taken for done": _wrong("database", (TargetWriter, "_end", _taken_for_done)),
    "positions in the target keep their epoch": _wrong("database", (sink_committer, "fence", _own_row_alone)),
    # The target is put back behind an interval that was begun and not finished.
    "interval carried on behind its start": _wrong(
        "database",
        (sink, "_gave_up", _never_given_up),
        plot=(("K0", BACKUP), ("K3", "crash"), ("K0", TARGET_RESTORED)),
    ),
    "keys of an earlier life used again": _wrong(
        "files", (sink, "begin_above", _same_life), plot=(("K0", METADATA_LOST),)
    ),
    "marker of another deployment believed": _wrong(
        "files",
        *((module, "has_ranges", _believed) for module in (committing, recovery, proof)),
        plot=(("K0", FOREIGN),),
    ),
    "restored metadata not followed up before a reset": _wrong(
        "files", (abandoning, "follow_target", _not_followed), plot=(("K0", BACKUP), ("K0", METADATA_RESTORED))
    ),
    "deleted connector's interval abandoned unasked": _wrong("files", (sink, "recovered", _buried_with_its_connector)),
    "first positions of latest not kept": _wrong("files", (sink, "_begin_partitions", _not_kept), reset="latest"),
    "loss of records HELD although it may be passed over": _wrong(
        "files", (committing, "_passable", _as_they_came), is_held_back=True
    ),
    "offsets left behind in the former topic": _wrong("source", (fence, "carry_over", _left_behind), has_moves=True),
    "former offsets topic not fenced": _wrong(
        "source",
        *((module, "read_former", _no_former) for module in (abandoning, fence, offsets_topic)),
        has_moves=True,
    ),
    "staging shared by executions of an attempt": _wrong("files", (targets, "execution_of", _attempt_alone)),
    "another path's interval asked for in the present one": _wrong(
        "files", *((module, "home_of", _at_present_home) for module in (abandoning, recovery, settling)), has_moves=True
    ),
    "another path's interval given up at once": _wrong(
        "files", *((module, "end_at_home", _given_up_at_once) for module in (recovery, settling)), has_moves=True
    ),
}
"""Name → the mistake."""

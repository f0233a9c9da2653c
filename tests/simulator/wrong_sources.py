"""Wrong protocols of sources: the writer of transactions, the plan of a source, and moves of its offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from connect_core.errors import UnclearOutcomeError
from connect_core.interval import effects as fx
from connect_core.interval.values import OffsetProjection, OffsetStates, SourceBounds, SourceOffsets
from connect_core.kafka import transactional_writer as writing
from connect_core.kafka.marker_records import MarkerRecord
from connect_core.kafka.transactional_writer import TransactionalWriter
from connect_core.plan import abandon as abandoning
from connect_core.plan import fence, offsets_topic, source
from connect_core.plan.abandon import OffsetRequest
from connect_core.plan.run import Run, Steps
from tests.simulator import attempts, broker
from tests.simulator.wrong import Wrong, wrong

__all__ = ["WRONG_SOURCES"]

Offsets = Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]]


def _offsets_first(writer: TransactionalWriter, offsets: Offsets, states: OffsetStates | None = None) -> None:
    """Commit the offsets alone, then the data."""
    data = _taken(writer)
    _commit(writer, offsets, states)
    writer.produce_records(broker.DATA, [MarkerRecord(b"", value, []) for value in data])
    _commit(writer, (), None)


def _taken(writer: TransactionalWriter) -> list[bytes]:
    transaction = writer._producer._broker.open.get(writer._id)
    if transaction is None:
        return []
    data: list[bytes]
    data, transaction.data = transaction.data, []
    return data


def _offsets_later(writer: TransactionalWriter, offsets: Offsets, states: OffsetStates | None = None) -> None:
    """Commit the data, then the offsets in a transaction of their own."""
    fault, writer._producer._broker.fault = writer._producer._broker.fault, None
    _commit(writer, (), None)
    writer._producer._broker.fault = fault
    _commit(writer, offsets, states)


def _producer_kept(writer: TransactionalWriter, offsets: Offsets, states: OffsetStates | None = None) -> None:
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


def _no_fence(run: Run, tasks: int, name: str) -> Steps[Run]:
    """Raise the epoch and fence nobody."""
    topic = yield from fx.ReadOffsetsTopic(run.connector, run.state.offsets_position)
    epoch = yield from fx.RaiseEpoch(run.connector, run.holder, topic.epoch, run.is_settling)
    yield from fx.WriteEpoch(run.connector, epoch)
    return replace(run, epoch=epoch, assignment=name)


def _fence_this_assignment(run: Run, tasks: int, name: str) -> Steps[Run]:
    """Fence only the tasks of the present assignment, not those of all earlier ones."""
    topic = yield from fx.ReadOffsetsTopic(run.connector, run.state.offsets_position)
    epoch = yield from fx.RaiseEpoch(run.connector, run.holder, topic.epoch, run.is_settling)
    yield from fx.WriteEpoch(run.connector, epoch)
    yield from fx.FenceProducers(run.connector, tasks)
    return replace(run, epoch=epoch, assignment=name)


def _fenced_too_early(run: Run, tasks: int, name: str) -> Steps[Run]:
    """Fence all producers before the epoch stands in the topic, and not again when it does."""
    epoch = yield from fx.RaiseEpoch(run.connector, run.holder, is_settling=run.is_settling)
    yield from fx.FenceProducers(run.connector, max(run.state.tasks_ever, tasks))
    yield from fx.WriteEpoch(run.connector, epoch)
    return replace(run, epoch=epoch, assignment=name)


def _no_epoch_in_topic(run: Run, tasks: int, name: str) -> Steps[Run]:
    """Fence all producers, and write no epoch that a late attempt could see."""
    topic = yield from fx.ReadOffsetsTopic(run.connector, run.state.offsets_position)
    epoch = yield from fx.RaiseEpoch(run.connector, run.holder, topic.epoch, run.is_settling)
    yield from fx.FenceProducers(run.connector, max(run.state.tasks_ever, tasks))
    return replace(run, epoch=epoch, assignment=name)


def _start_from_sql(run: Run, bounds: SourceBounds | None = None) -> Steps[tuple[SourceOffsets, OffsetProjection]]:
    """Take the start from SQL without reading the topic."""
    offsets = yield from fx.LoadOffsets(run.connector)
    return offsets, OffsetProjection({}, run.mine, run.state.offsets_position)


def _offsets_before_fence(run: Run, request: OffsetRequest) -> Steps[None]:
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


def _sql_only(run: Run, request: OffsetRequest) -> Steps[None]:
    """Move offsets in SQL alone, although the topic wins."""
    epoch = yield from fx.StoreIntent(run.connector, request.wanted, request.actor)
    stored = yield from fx.LoadOffsets(run.connector)
    yield from fx.FinishIntent(
        run.connector, epoch, dict.fromkeys(stored) if request.wanted is None else request.wanted
    )


def _to_last_stable(topic: broker.Topic) -> tuple[str, dict[int, int]]:
    """Read markers up to the last stable offset."""
    return str(topic.log.identity), {place: topic.log.stable(place) for place in range(broker.PARTITIONS)}


def _unchecked(*arguments: object) -> None:
    """Check nothing."""
    return


def _left_behind(run: Run, found: OffsetProjection) -> Steps[None]:
    """Follow another offsets topic from where it stands, and carry no offsets over."""
    yield from fx.RepairOffsets(run.connector, run.mine, OffsetProjection({}, run.mine, found.position))


def _no_former(run: Run, found: OffsetProjection) -> Steps[OffsetProjection | None]:
    """Forget the offsets topic before: neither read nor fence it."""
    return None
    yield


WRONG_SOURCES: Mapping[str, Wrong] = {
    "offset before data": wrong("source", (writing.TransactionalWriter, "commit", _offsets_first)),
    "marker outside the transaction": wrong("source", (writing.TransactionalWriter, "commit", _offsets_later)),
    "producer kept after an unclear commit": wrong("source", (writing.TransactionalWriter, "commit", _producer_kept)),
    "no epoch read after init_transactions": wrong("source", (attempts, "check_start", _unchecked)),
    "no epoch in the topic": wrong("source", (source, "fence_source", _no_epoch_in_topic)),
    "no fence of producers": wrong("source", (source, "fence_source", _no_fence)),
    "start from SQL": wrong("source", (source, "committed_offsets", _start_from_sql)),
    "offsets moved before the fence": wrong("source", (abandoning, "_abandon_source", _offsets_before_fence)),
    "offsets moved in SQL alone": wrong("source", (abandoning, "_abandon_source", _sql_only)),
    # An unclear commit leaves a transaction open, before the marker of another task: its second attempt sees nothing.
    "markers read to the last stable offset": wrong(
        "source",
        (broker.Topic, "_high_watermarks", _to_last_stable),
        plot=(("K6", "lost request"), ("K6", "duplicate")),
    ),
    # A task that slept since its plan begins between the fence and the epoch, and sleeps again until the next plan.
    "producers fenced before the epoch is written": wrong(
        "source",
        (source, "fence_source", _fenced_too_early),
        plot=(("K3", "zombie"), ("K0", "revived"), ("K6", "zombie"), ("K3", "revived")),
    ),
    # A task sleeps before its commit while an operator lets fewer tasks be assigned; it wakes when those are at work.
    "source reassigned, old tasks not fenced": wrong(
        "source",
        (source, "fence_source", _fence_this_assignment),
        plot=(("K6", "zombie"), ("K3", "revived")),
    ),
    "offsets left behind in the former topic": wrong("source", (fence, "carry_over", _left_behind), has_moves=True),
    "former offsets topic not fenced": wrong(
        "source",
        *((module, "read_former", _no_former) for module in (abandoning, fence, offsets_topic)),
        has_moves=True,
    ),
}

"""Altering and resetting offsets of a stopped connector, and ending it (plan/README.md#abandoning)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey
from connect_core.errors import ConnectError, RetriableError, StaleEpochError, UnclearOutcomeError
from connect_core.interval.effects import (
    ALTERED,
    DELETED,
    AbandonInterval,
    AbandonTarget,
    CommitGroupOffsets,
    Effect,
    FenceProducers,
    FenceTarget,
    FinishIntent,
    ForgetGroup,
    LoadConnector,
    LoadOffsets,
    LoadOffsetStates,
    LoadUnfinished,
    ReadOffsetsTopic,
    StoreIntent,
    WriteEpoch,
    WriteOffsets,
)
from connect_core.interval.sink_positions import sink_offsets, sink_wishes
from connect_core.interval.values import (
    ConnectorType,
    IntervalRow,
    OffsetProjection,
    OffsetStates,
    SourceOffsets,
    TopicPosition,
)
from connect_core.plan.ahead import follow_target
from connect_core.plan.ending import end_sink_interval
from connect_core.plan.offsets_topic import is_elsewhere, read_former, replacing
from connect_core.plan.recovery import fence_home, home_of
from connect_core.plan.run import Run, Steps

__all__ = ["OffsetChanges", "OffsetRequest", "abandon"]

OffsetChanges: TypeAlias = Mapping[str, Mapping[str, Any] | None]
"""Offsets keyed by the canonical JSON of their partition; ``None`` deletes one."""

_TRIES = 3


@dataclass(frozen=True, slots=True)
class OffsetRequest:
    """The offsets an operator requests: some, none (only end what is unfinished), or ``None`` to reset all.

    ``is_deleted``: the connector is deleted after it.
    """

    wanted: OffsetChanges | None
    actor: str = ""
    is_deleted: bool = False

    @property
    def reason(self) -> str:
        """Why an unfinished interval is abandoned."""
        return DELETED if self.is_deleted else ALTERED


def abandon(run: Run, request: OffsetRequest) -> Steps[bool]:
    """End the unfinished interval and move the authoritative offsets → whether the target keeps positions.

    (1) store the intent and raise the epoch; (2) fence the target; (3) move the
    offsets there; (4) update SQL. Nothing older can commit after (2). After (3) the request is done, even if
    SQL was overtaken meanwhile: the next plan repairs it. Raises NotFoundError,
    IllegalWorkerStateError unless STOPPED, StaleEpochError if overtaken before.
    """
    run = run.refreshed((yield from LoadConnector(run.connector)))
    if run.state.type is ConnectorType.SOURCE:
        yield from _abandon_source(run, request)
        return True
    return (yield from _abandon_sink(run, request))


def _abandon_source(run: Run, request: OffsetRequest) -> Steps[None]:
    run, epoch = yield from _fence_topics(run, request)
    topic = yield from ReadOffsetsTopic(run.connector, None)
    current, states = yield from _current(run, topic)
    known = {key for key, offset in {**topic.offsets, **current}.items() if offset is not None}
    wanted = dict.fromkeys(known) if request.wanted is None else request.wanted
    changes = {**replacing(topic, current), **wanted} if is_elsewhere(run, topic) else wanted
    if changes:
        kept = {key: state for key, state in states.items() if key not in wanted}
        yield from _surely(WriteOffsets(run.connector, epoch, changes, kept))
    finish = FinishIntent(run.connector, epoch, {**current, **wanted}, _start_of(topic), request.reason)
    # Offsets in a topic that SQL does not follow yet take effect only once SQL follows it.
    yield from _follow(finish, has_moved=bool(changes) and not is_elsewhere(run, topic))


def _fence_topics(run: Run, request: OffsetRequest) -> Steps[tuple[Run, int]]:
    """Store the intent and raise the epoch, then fence tasks and operators → the run after that, and the epoch."""
    # Always from its start: the topic may have been recreated since the position stored in SQL.
    before = yield from ReadOffsetsTopic(run.connector, None)
    former = yield from read_former(run, before)
    newest = max(before.epoch, 0 if former is None else former.epoch)
    epoch = yield from StoreIntent(run.connector, request.wanted, request.actor, newest, _start_of(before))
    # Read again: only now can no plan assign more tasks, and the offsets topic may have changed.
    version = run.state.config_version
    run = run.refreshed((yield from LoadConnector(run.connector)))
    if run.state.config_version != version:
        former = yield from read_former(run, (yield from ReadOffsetsTopic(run.connector, None)))
    if former is not None and former.position is not None:
        yield from WriteEpoch(run.connector, epoch, former.position.topic, is_released=request.is_deleted)
    yield from WriteEpoch(run.connector, epoch, is_released=request.is_deleted)
    yield from FenceProducers(run.connector, run.state.tasks_ever)
    return run, epoch


def _start_of(topic: OffsetProjection) -> TopicPosition | None:
    return None if topic.position is None else topic.position.at_start()


def _current(run: Run, topic: OffsetProjection) -> Steps[tuple[OffsetChanges, OffsetStates]]:
    """Return the valid offsets, read after the fence, and the states to carry over with them.

    They are the topic's own, if SQL follows it; otherwise those of the former topic, which
    SQL has up to where it has read it, or SQL's alone if that topic is gone.
    """
    stored: SourceOffsets = yield from LoadOffsets(run.connector)
    if not is_elsewhere(run, topic):
        return {**stored, **topic.offsets}, {}
    former = yield from read_former(run, topic)
    states = yield from LoadOffsetStates(run.connector)
    if former is None:
        return stored, states
    moved = {key: state for key, state in states.items() if key not in former.offsets}
    return {**stored, **former.offsets}, {**moved, **former.states}


def _abandon_sink(run: Run, request: OffsetRequest) -> Steps[bool]:
    run, kept = yield from _fence(run, request)
    unfinished = yield from LoadUnfinished(run.connector)
    if unfinished is not None:
        run = yield from _end(run, unfinished, kept, request)
    run = run.refreshed((yield from LoadConnector(run.connector)))
    stored: Mapping[TopicPartition, int] = yield from LoadOffsets(run.connector)
    ahead: Mapping[TopicPartition, int] = {}
    if kept is None:
        run, reached = yield from follow_target(run, stored)
        ahead = {part: position for part, position in reached.items() if stored.get(part) != position}
    current = {**stored, **ahead} if kept is None else {**dict.fromkeys(stored), **kept}
    changes = dict.fromkeys(current) if request.wanted is None else sink_wishes(request.wanted)
    if kept is not None and changes:
        following = IntervalKey(run.connector, run.state.incarnation, run.state.sequence + 1, run.mine)
        yield from _surely(AbandonTarget(following, changes))
    moved = sink_offsets({**ahead, **changes} if kept is None else {**current, **changes})
    finish = FinishIntent(run.connector, run.mine, moved, reason=request.reason)
    yield from _follow(finish, has_moved=kept is not None and bool(changes))
    yield from _tell_group(run.settings.consumer_group, changes, is_reset=request.wanted is None)
    return kept is not None


def _end(run: Run, row: IntervalRow, kept: Mapping[TopicPartition, int] | None, request: OffsetRequest) -> Steps[Run]:
    """End an interval in the target it was begun in; if all is reset, a target that does not answer is not needed."""
    home = yield from home_of(run, row)
    if home is None:
        yield from end_sink_interval(run, row, kept, request.reason)
        return run
    has_answered = False
    try:
        run, there = yield from fence_home(
            run, home, lambda floor: StoreIntent(run.connector, request.wanted, request.actor, floor)
        )
        has_answered = True
        yield from end_sink_interval(run, row, there, request.reason, home)
    except StaleEpochError:
        raise
    except ConnectError as error:
        is_transient = has_answered and isinstance(error, RetriableError)
        if request.wanted is not None or is_transient:
            raise
        yield from AbandonInterval(
            row.key, run.mine, f"{request.reason}; what its own target contains is unknown: {error}"
        )
    return run


def _fence(run: Run, request: OffsetRequest) -> Steps[tuple[Run, Mapping[TopicPartition, int] | None]]:
    epoch = yield from StoreIntent(run.connector, request.wanted, request.actor)
    try:
        kept = yield from FenceTarget(run.connector, epoch)
    except StaleEpochError as newer:
        if not newer.epoch:
            raise
        epoch = yield from StoreIntent(run.connector, request.wanted, request.actor, newer.epoch)
        kept = yield from FenceTarget(run.connector, epoch)
    return replace(run, epoch=epoch), kept


def _surely(effect: Effect[None] | AbandonTarget) -> Steps[None]:
    """Repeat an effect whose reply was lost: it is idempotent."""
    for _ in range(_TRIES - 1):
        try:
            yield from effect
        except UnclearOutcomeError:
            continue
        return
    yield from effect


def _follow(effect: FinishIntent, has_moved: bool) -> Steps[None]:
    try:
        yield from _surely(effect)
    except StaleEpochError:
        if not has_moved:
            raise


def _tell_group(group: str, changes: Mapping[TopicPartition, int | None], is_reset: bool) -> Steps[None]:
    if is_reset:
        yield from ForgetGroup(group)
        return
    positions = {part: position for part, position in changes.items() if position is not None}
    if positions:
        yield from CommitGroupOffsets(group, positions)

"""Fencing: after these steps nothing of an older epoch can commit (plan/README.md#fencing)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from connect_core.api.records import TopicPartition
from connect_core.errors import StaleEpochError
from connect_core.interval.effects import (
    Effect,
    FenceProducers,
    FenceTarget,
    LoadConnector,
    RaiseEpoch,
    RaiseIncarnation,
    ReadLastInterval,
    ReadOffsetsTopic,
    RepairOffsets,
    WriteEpoch,
)
from connect_core.plan.offsets_topic import carry_over, is_elsewhere, read_former
from connect_core.plan.run import Run, Steps

__all__ = ["begin_above", "fence_sink", "fence_source", "raise_above", "reloaded"]


def fence_source(run: Run, tasks: int, name: str) -> Steps[Run]:
    """Raise the epoch in SQL, write it to the offsets topic, fence every id of earlier plans and of ``tasks``.

    Producers are fenced twice: a transaction that a killed process left open holds
    back whoever reads the topic, for as long as its time-out; and only what begins
    after the epoch stands in the topic is sure to see it. The epoch starts above
    the topic's, which outlives a lost database. Where the offsets topic is another than SQL follows, the epoch
    goes to both, and the offsets to the new one. Raises StaleEpochError, DataLossError.
    """
    is_ahead, floor = False, 0
    while True:
        epoch = yield from RaiseEpoch(run.connector, run.holder, floor, run.is_settling)
        # Each time: a wish may have been carried out before it, in another topic than SQL followed until then.
        run = yield from reloaded(run)
        ever = max(run.state.tasks_ever, tasks)
        yield from FenceProducers(run.connector, ever, has_control=True)
        topic = yield from ReadOffsetsTopic(run.connector, run.state.offsets_position)
        former = yield from read_former(run, topic)
        floor = max(topic.epoch, 0 if former is None else former.epoch)
        if floor < epoch:
            break
        is_ahead = former is None
    if former is not None and former.position is not None:
        yield from WriteEpoch(run.connector, epoch, former.position.topic)
    yield from WriteEpoch(run.connector, epoch)
    yield from FenceProducers(run.connector, ever)
    run = replace(run, epoch=epoch, assignment=name)
    if is_elsewhere(run, topic):
        return (yield from _change_topic(run, is_ahead=is_ahead))
    return run


def _change_topic(run: Run, is_ahead: bool) -> Steps[Run]:
    """Let the offsets go over to the topic that is configured, or follow it where the database is older than it."""
    # Read again: what an operator wrote there before the epoch stood in it holds no more.
    topic = yield from ReadOffsetsTopic(run.connector, run.state.offsets_position)
    if is_ahead:
        yield from RepairOffsets(run.connector, run.mine, topic)
    else:
        yield from carry_over(run, topic)
    return (yield from reloaded(run))


def fence_sink(run: Run, name: str) -> Steps[tuple[Run, Mapping[TopicPartition, int] | None]]:
    """Raise the epoch in SQL and in the target → the run and the positions the target keeps.

    Raises StaleEpochError.
    """
    if run.epoch is not None:
        # A sink's tasks may be reassigned between two intervals of one run.
        return replace(run, assignment=name), (yield from FenceTarget(run.connector, run.epoch))
    epoch = yield from RaiseEpoch(run.connector, run.holder, is_settling=run.is_settling)
    run = replace(run, epoch=epoch, assignment=name)
    try:
        positions = yield from FenceTarget(run.connector, epoch)
    except StaleEpochError as newer:
        if not newer.epoch:
            raise
        run, positions = yield from raise_above(run, newer.epoch)
    return (yield from reloaded(run)), positions


def raise_above(
    run: Run, floor: int, raising: Callable[[int], Effect[int]] | None = None
) -> Steps[tuple[Run, Mapping[TopicPartition, int] | None]]:
    """Raise the epoch above one that stands in a target, and fence the present target with it.

    ``raising`` returns what raises it, by default as a plan does. Raises StaleEpochError.
    """
    epoch: int = yield raising(floor) if raising else RaiseEpoch(run.connector, run.holder, floor, run.is_settling)
    return replace(run, epoch=epoch), (yield from FenceTarget(run.connector, epoch))


def begin_above(run: Run) -> Steps[Run]:
    """Raise the incarnation of a connector's life where the target holds markers of it already.

    The metadata database was lost, recreated or restored: keys it would use again are another life's.
    """
    last = yield from ReadLastInterval(run.connector)
    if last is None or last[0] < run.state.incarnation:
        return run
    incarnation = yield from RaiseIncarnation(run.connector, run.mine, last[0])
    return replace(run, state=replace(run.state, incarnation=incarnation))


def reloaded(run: Run) -> Steps[Run]:
    """Return the run over the row as it is under its epoch: an operator may have moved it just before.

    Raises StaleEpochError where tasks were assigned by a configuration that is replaced by now.
    """
    state = yield from LoadConnector(run.connector)
    if state.config_version != run.state.config_version and not run.is_settling:
        raise StaleEpochError(f"Connector {run.connector} was reconfigured while its tasks were assigned: plan again")
    return run.refreshed(state)

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

    Producers are fenced twice: a transaction that a killed process left open blocks readers of the topic until it
    times out; and only a producer that begins after the epoch record is sure to see it. The epoch starts above the
    topic's, which outlives a lost database. If the offsets topic differs from the one SQL follows, the epoch is
    written to both, and the offsets to the new one. Raises StaleEpochError, DataLossError.
    """
    is_ahead, floor = False, 0
    while True:
        epoch = yield from RaiseEpoch(run.connector, run.holder, floor, run.is_settling)
        # Reload each time: a request may have been carried out before, in a topic that SQL did not follow until then.
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
        # The connector leaves that topic: whose it is there is open from now on.
        yield from WriteEpoch(run.connector, epoch, former.position.topic, is_released=True)
    yield from WriteEpoch(run.connector, epoch)
    yield from FenceProducers(run.connector, ever)
    run = replace(run, epoch=epoch, assignment=name)
    if is_elsewhere(run, topic):
        return (yield from _change_topic(run, is_ahead=is_ahead))
    return run


def _change_topic(run: Run, is_ahead: bool) -> Steps[Run]:
    """Move the offsets to the configured topic, or update SQL from it if the database is older."""
    # Read again: what an operator wrote there before this epoch's record is no longer valid.
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
    """Raise the epoch above one found in a target, and fence the current target with it.

    ``raising`` returns the effect that raises it, by default a plan's. Raises StaleEpochError.
    """
    epoch: int = yield raising(floor) if raising else RaiseEpoch(run.connector, run.holder, floor, run.is_settling)
    return replace(run, epoch=epoch), (yield from FenceTarget(run.connector, epoch))


def begin_above(run: Run) -> Steps[Run]:
    """Raise a connector's incarnation if the target already holds markers of it.

    The metadata database was lost, recreated or restored: the keys it would use belong to another incarnation.
    """
    last = yield from ReadLastInterval(run.connector)
    if last is None or last[0] < run.state.incarnation:
        return run
    incarnation = yield from RaiseIncarnation(run.connector, run.mine, last[0])
    return replace(run, state=replace(run.state, incarnation=incarnation))


def reloaded(run: Run) -> Steps[Run]:
    """Return the run with the row as it is under its epoch: an operator may have changed it just before.

    Raises StaleEpochError if tasks were assigned by a configuration that was replaced since.
    """
    state = yield from LoadConnector(run.connector)
    if state.config_version != run.state.config_version and not run.is_settling:
        raise StaleEpochError(f"Connector {run.connector} was reconfigured while its tasks were assigned: plan again")
    return run.refreshed(state)

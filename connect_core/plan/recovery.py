"""The outcome of an interval that a crash left unfinished, as decided by the target it was begun in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from connect_core.api.records import TopicPartition
from connect_core.errors import ConnectError, RetriableError, StaleEpochError
from connect_core.interval.effects import (
    AbandonInterval,
    CommitInterval,
    CompareTarget,
    Effect,
    FenceTarget,
    LoadConfig,
    PublishTarget,
    ReadTargetMarker,
    SweepTarget,
)
from connect_core.interval.values import IntervalRow
from connect_core.plan.bounds import covering
from connect_core.plan.ending import end_sink_interval
from connect_core.plan.fence import raise_above
from connect_core.plan.gone import to_record
from connect_core.plan.proof import FOREIGN, SUPERSEDED, has_ranges, is_superseded
from connect_core.plan.run import Run, Steps

__all__ = ["Ended", "end_at_home", "fence_home", "finish_marked", "home_of", "recovered"]

Positions = Mapping[TopicPartition, int]
Config = Mapping[str, str]

_MOVED = "it was interrupted, and the connector writes elsewhere now"
_BACKFILL = "the backfill was interrupted; its next attempt starts over"


class Ended(Enum):
    """The state of an interval according to the marker under its key."""

    COMMITTED = "COMMITTED"
    ABANDONED = "ABANDONED"
    SUPERSEDED = "SUPERSEDED"
    """The marker contains no position: the next key may have a marker, too."""


def recovered(run: Run, row: IntervalRow, kept: Positions | None) -> Steps[tuple[Run, bool]]:
    """End the interval if markers decide its outcome; false: it is to run again, in its bounds.

    One that was begun in another target, or by a deleted connector of this name,
    never runs again. Nor does a backfill's: it must not delay the live export.
    """
    home = yield from home_of(run, row)
    if row.is_backfill:
        return (yield from end_at_home(run, row, home, kept, _BACKFILL)), True
    if home is None and row.key.incarnation == run.state.incarnation:
        return run, (yield from finish_marked(run, row)) is not None
    return (yield from end_at_home(run, row, home, kept, _MOVED)), True


def finish_marked(run: Run, row: IntervalRow) -> Steps[Ended | None]:
    """Update SQL from the marker under this interval's key → how it ended; ``None`` if there is no marker."""
    marker = yield from ReadTargetMarker(row.key)
    if marker is None:
        return None
    if is_superseded(marker):
        if not marker.aborted:
            yield from PublishTarget(row.key, marker)
        yield from AbandonInterval(row.key, run.mine, SUPERSEDED, (yield from to_record(run, row)))
        return Ended.SUPERSEDED
    if not has_ranges(marker, row.ranges):
        yield from AbandonInterval(row.key, run.mine, FOREIGN)
        return Ended.ABANDONED
    if marker.aborted:
        reason = "the target contains its abort marker"
        yield from AbandonInterval(row.key, run.mine, reason, (yield from to_record(run, row)))
        return Ended.ABANDONED
    yield from PublishTarget(row.key, marker)
    yield from CommitInterval(row.key, run.mine, (), positions=covering(row, marker.positions), columns=marker.columns)
    return Ended.COMMITTED


def home_of(run: Run, row: IntervalRow) -> Steps[Config | None]:
    """Return the configuration that reaches the interval's own target; ``None``: the current one does."""
    if row.config_version == run.state.config_version:
        return None
    config = yield from LoadConfig(run.connector, row.config_version)
    if config is None or (yield from CompareTarget(run.connector, config)):
        return None
    return config


def fence_home(
    run: Run, home: Config, raising: Callable[[int], Effect[int]] | None = None
) -> Steps[tuple[Run, Positions | None]]:
    """Fence an earlier target, too, with the epoch of the current one → the positions it keeps.

    ``raising``: returns the effect that raises the epoch above one found there. Raises StaleEpochError.
    """
    try:
        return run, (yield from FenceTarget(run.connector, run.mine, home))
    except StaleEpochError as newer:
        if not newer.epoch:
            raise
        floor = newer.epoch
    run, _ = yield from raise_above(run, floor, raising)
    return run, (yield from FenceTarget(run.connector, run.mine, home))


def end_at_home(run: Run, row: IntervalRow, home: Config | None, kept: Positions | None, reason: str) -> Steps[Run]:
    """End an interval as its own target decides; nothing of it can commit there afterwards.

    An interval of a deleted connector is abandoned if a target other than the current one
    does not answer or is not capable of it. Raises ConnectError with the remedy.
    """
    if home is None:
        yield from end_sink_interval(run, row, kept, reason)
        return run
    has_answered = False
    try:
        run, there = yield from fence_home(run, home)
        has_answered = True
        yield from end_sink_interval(run, row, there, reason, home)
        yield from SweepTarget(run.connector, (), home)
    except StaleEpochError:
        raise
    except ConnectError as error:
        # A temporary error is retried if the target answers: it may hold a commit that is not published yet.
        is_transient = has_answered and isinstance(error, RetriableError)
        if row.key.incarnation != run.state.incarnation and not is_transient:
            yield from AbandonInterval(row.key, run.mine, f"the connector was deleted, and its target failed: {error}")
            return run
        raise _unreachable(row, error) from error
    return run


def _unreachable(row: IntervalRow, error: ConnectError) -> ConnectError:
    kind = RetriableError if isinstance(error, RetriableError) else ConnectError
    return kind(
        f"Interval {row.key.sequence} was started with configuration {row.config_version}, whose target has to tell "
        f"whether it was committed, but failed: {error}. Make it available, restore that configuration, or stop the "
        "connector and reset its offsets"
    )

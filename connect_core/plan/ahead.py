"""A target that is ahead of a metadata database that was lost or restored from a backup."""

from __future__ import annotations

from collections.abc import Mapping

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, IntervalKey
from connect_core.interval.effects import PublishTarget, ReadLastInterval, ReadTargetMarker
from connect_core.plan.fence import begin_above
from connect_core.plan.proof import is_superseded
from connect_core.plan.run import Run, Steps

__all__ = ["follow_group", "follow_target"]

Positions = Mapping[TopicPartition, int]


def follow_target(run: Run, stored: Positions) -> Steps[tuple[Run, Positions]]:
    """Return the positions that the markers under coming keys lead to, and the run above their incarnation.

    A plan takes such a marker for its own interval's. Where offsets are moved by hand, or a new incarnation begins,
    no marker may count for records that are requested again, and the markers' records must not be written again.
    """
    last = yield from ReadLastInterval(run.connector)
    positions, sequence = dict(stored), run.state.sequence + 1
    while True:
        key = IntervalKey(run.connector, run.state.incarnation, sequence, run.mine)
        marker = yield from ReadTargetMarker(key)
        if marker is None:
            break
        if is_superseded(marker) and not marker.aborted:
            yield from PublishTarget(key, marker)
        elif _joins(marker, positions, run.state.topic_ids):
            yield from PublishTarget(key, marker)
            positions.update(marker.positions)
        sequence += 1
    if sequence > run.state.sequence + 1 or (last is not None and last[0] > run.state.incarnation):
        run = yield from begin_above(run)
    return run, positions


def follow_group(run: Run, adopted: Positions, topic_ids: Mapping[str, str]) -> Steps[Positions]:
    """Return the positions a first plan adopts from a consumer group, or those of the target's last marker.

    If a metadata database was lost right after an interval, the group does not have its positions yet: the marker
    continues from the group's. ``topic_ids``: ids of the current topics, which a group does not store.
    """
    if not adopted:
        return adopted
    last = yield from ReadLastInterval(run.connector)
    if last is None:
        return adopted
    marker, key = yield from _last_that_moves(run, *last)
    if marker is None or not _joins(marker, adopted, topic_ids):
        return adopted
    yield from PublishTarget(key, marker)
    return {**adopted, **marker.positions}


def _last_that_moves(run: Run, incarnation: int, sequence: int) -> Steps[tuple[CommitMarker | None, IntervalKey]]:
    """Return the newest marker that contains positions; the latest commits of backfills are published."""
    while True:
        key = IntervalKey(run.connector, incarnation, sequence, run.mine)
        marker = yield from ReadTargetMarker(key)
        if marker is None or not is_superseded(marker):
            return marker, key
        if not marker.aborted:
            yield from PublishTarget(key, marker)
        sequence -= 1


def _joins(marker: CommitMarker, positions: Positions, topic_ids: Mapping[str, str]) -> bool:
    """Return whether a marker commits what follows these positions, in the same topics."""
    if marker.aborted or marker.is_foreign or marker.ranges is None or not marker.moves:
        return False
    return all(
        positions.get(part.topic_partition, part.start) == part.start
        and topic_ids.get(part.topic, part.topic_id) == part.topic_id
        for part in marker.ranges
    )

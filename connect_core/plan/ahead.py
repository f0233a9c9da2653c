"""A target that is ahead of the metadata database: a backup was restored, the target kept what was committed since."""

from __future__ import annotations

from collections.abc import Mapping

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, IntervalKey
from connect_core.interval.effects import PublishTarget, ReadTargetIncarnation, ReadTargetMarker
from connect_core.plan.fence import begin_above
from connect_core.plan.run import Run, Steps

__all__ = ["follow_target"]

Positions = Mapping[TopicPartition, int]


def follow_target(run: Run, stored: Positions) -> Steps[tuple[Run, Positions]]:
    """Return the positions that the markers under the keys to come lead to, and the run above their incarnation.

    A plan takes such a marker for its own interval. Where offsets are moved by hand, or the connector begins another
    life, none of them may stand for what is asked for anew, and their records must not be written again.
    """
    held: int = yield ReadTargetIncarnation(run.connector)
    positions, sequence = dict(stored), run.state.sequence + 1
    while True:
        key = IntervalKey(run.connector, run.state.incarnation, sequence, run.mine)
        marker: CommitMarker | None = yield ReadTargetMarker(key)
        if marker is None:
            break
        if _joins(marker, positions, run.state.topic_ids):
            yield PublishTarget(key, marker)
            positions.update(marker.positions)
        sequence += 1
    if held > run.state.incarnation or sequence > run.state.sequence + 1:
        run = yield from begin_above(run)
    return run, positions


def _joins(marker: CommitMarker, positions: Positions, topic_ids: Mapping[str, str]) -> bool:
    """Return whether a marker commits what follows these positions, of the topics they are of."""
    if marker.aborted or marker.is_foreign or marker.ranges is None:
        return False
    return all(
        positions.get(part.topic_partition, part.start) == part.start
        and topic_ids.get(part.topic, part.topic_id) == part.topic_id
        for part in marker.ranges
    )

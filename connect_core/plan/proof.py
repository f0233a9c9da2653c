"""What a marker proves: its key alone proves nothing, since an earlier incarnation may have used it."""

from __future__ import annotations

from collections.abc import Sequence

from connect_core.api.sink import CommitMarker, PartitionRange

__all__ = ["FOREIGN", "SUPERSEDED", "has_ranges", "is_superseded", "proves_commit"]

FOREIGN = "the manifest of an earlier incarnation already exists in its place"
"""Why an interval is abandoned whose key can never have a marker of its own."""
SUPERSEDED = "a manifest of a backfill, or of an abandoned interval, already exists in its place"
"""Why an interval is abandoned whose key the target has from a time that is missing in the metadata database."""


def has_ranges(marker: CommitMarker, ranges: Sequence[PartitionRange]) -> bool:
    """Return whether a marker is of the interval of these ranges: same deployment, topics and starts.

    A deployment, a metadata database or a topic that was recreated uses the same
    keys for other records. Such a marker is never counted as this interval's.
    """
    if marker.is_foreign:
        return False
    if marker.aborted or marker.ranges is None:
        return True
    mine = {part.topic_partition: part for part in ranges}
    return all(_is_same(mine.get(part.topic_partition), part) for part in marker.ranges)


def is_superseded(marker: CommitMarker) -> bool:
    """Return whether a marker of this deployment contains no position: the live intervals continue after it.

    It is a backfill's, or that of an interval that was abandoned at its start.
    """
    return not marker.is_foreign and (not marker.moves or (marker.aborted and marker.ranges == ()))


def proves_commit(marker: CommitMarker | None, ranges: Sequence[PartitionRange]) -> bool:
    """Return whether the interval of these ranges is committed."""
    return marker is not None and not marker.aborted and has_ranges(marker, ranges)


def _is_same(planned: PartitionRange | None, found: PartitionRange) -> bool:
    if planned is None or planned.start != found.start:
        return False
    return not (planned.topic_id and found.topic_id) or planned.topic_id == found.topic_id

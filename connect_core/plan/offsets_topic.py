"""A source's offsets carried over to another offsets topic: reconfigured, or recreated (row 52).

SQL records which topic it follows, by name and id. What another topic contains
for the connector is older, and is replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from connect_core.errors import DataLossError, NotFoundError
from connect_core.interval.effects import (
    LoadOffsets,
    LoadOffsetStates,
    LoadUnfinished,
    ReadOffsetsTopic,
    RepairOffsets,
    WriteOffsets,
)
from connect_core.interval.values import OffsetProjection, SourceOffsets
from connect_core.plan.run import Run, Steps

__all__ = ["carry_over", "check_finished", "is_elsewhere", "read_former", "replacing"]

Offsets: TypeAlias = Mapping[str, Mapping[str, Any] | None]
"""Keyed by the canonical JSON of their partition; ``None`` deletes one."""


def is_elsewhere(run: Run, found: OffsetProjection) -> bool:
    """Return whether what was read comes from another topic than the one SQL follows."""
    known = run.state.offsets_position
    return known is not None and found.position is not None and found.position.is_beside(known)


def read_former(run: Run, found: OffsetProjection) -> Steps[OffsetProjection | None]:
    """Read further in the topic that SQL follows, if ``found`` is of another one.

    ``None``: it is gone, or keeps the connector for another deployment now.
    """
    known = run.state.offsets_position
    if known is None or found.position is None or found.position.topic == known.topic:
        return None
    try:
        former = yield from ReadOffsetsTopic(run.connector, known, known.topic)
    except NotFoundError:
        return None
    return None if is_elsewhere(run, former) else former


def carry_over(run: Run, found: OffsetProjection) -> Steps[None]:
    """Write the connector's offsets to the topic they are kept in from now on, after all producers are fenced.

    ``found``: what that topic contains now. The offsets are those of the former
    topic; if it is gone, those in SQL, which has followed every interval that
    ended. Raises DataLossError if an unfinished interval's markers were lost with it.
    """
    former = yield from read_former(run, found)
    if former is not None:
        yield from RepairOffsets(run.connector, run.mine, former)
    else:
        known = run.state.offsets_position
        yield from check_finished(run, "" if known is None else known.topic)
    stored: SourceOffsets = yield from LoadOffsets(run.connector)
    states = yield from LoadOffsetStates(run.connector)
    if changes := replacing(found, stored):
        yield from WriteOffsets(run.connector, run.mine, changes, states)
    yield from RepairOffsets(run.connector, run.mine, OffsetProjection({}, run.mine, found.position))


def replacing(found: OffsetProjection, offsets: Mapping[str, Mapping[str, Any] | None]) -> Offsets:
    """Return the changes after which a topic contains these offsets and none of those found in it."""
    return {**{key: None for key, offset in found.offsets.items() if offset is not None}, **offsets}


def check_finished(run: Run, topic: str) -> Steps[None]:
    """Raise DataLossError if an interval is unfinished: the offsets topic that held its markers is gone."""
    row = yield from LoadUnfinished(run.connector)
    if row is not None:
        raise DataLossError(
            f"The offsets topic {topic} was deleted, or taken over by another deployment, while interval"
            f" {row.key.sequence} of {run.connector} was unfinished: how far it got is unknown. Stop the connector,"
            " alter or reset its offsets, and resume it"
        )

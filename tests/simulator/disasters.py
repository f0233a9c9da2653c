"""Disasters: what is lost, what is put back from a backup, and what another deployment has left in the target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey, PartitionRange
from tests.simulator.chances import BACKUP, FOREIGN, METADATA_LOST, METADATA_RESTORED, OFFSETS_LOST, TARGET_RESTORED
from tests.simulator.metadata import NAME

if TYPE_CHECKING:
    from tests.simulator.history import History

__all__ = ["Disasters"]


@dataclass(slots=True)
class Disasters:
    """The disasters of one history, and the backups made in it."""

    history: History
    _backup: Any = None

    def possible(self) -> tuple[str, ...]:
        """Return those that would change anything now."""
        history = self.history
        found: tuple[str, ...] = (OFFSETS_LOST,) if history.kind == "source" and history.broker.is_used else ()
        found = (*found, BACKUP, *((FOREIGN,) if history.kind == "files" else ()))
        if history.sql.intent is None:
            found = (*found, METADATA_LOST)
        if self._backup is not None:
            found = (*found, *((TARGET_RESTORED,) if history.kind == "database" else ()))
            found = (*found, *((METADATA_RESTORED,) if self._is_restorable() else ()))
        return found

    def acts(self) -> Mapping[str, Callable[[], None]]:
        """Return how each happens."""
        return {
            OFFSETS_LOST: self.lose_offsets,
            BACKUP: self.back_up,
            TARGET_RESTORED: self.restore_target,
            METADATA_RESTORED: self.restore_metadata,
            METADATA_LOST: self.lose_metadata,
            FOREIGN: self.make_foreign,
        }

    def lose_offsets(self) -> None:
        """Delete the offsets topic and create it again."""
        self.history.broker.recreate()
        self.history.has_lost_offsets = True

    def back_up(self) -> None:
        """Make backups of the target and of the metadata, each as it is now."""
        database, truth, sql = self.history.database, self.history.truth, self.history.sql
        self._backup = database.content(), truth.shown(), sql.content(), len(truth.moves)

    def _is_restorable(self) -> bool:
        """Whether a backup of the metadata loses no request: without positions in the target it stands there alone."""
        history = self.history
        is_same = len(history.truth.moves) == self._backup[3]
        return history.sql.intent is None and (is_same or history.kind in ("source", "database"))

    def restore_target(self) -> None:
        """Put the target's backup in its place: what was shown since is gone, and has to be shown again."""
        content, shown, *_ = self._backup
        self.history.database.restore(content)
        self.history.truth.rewind(shown)

    def restore_metadata(self) -> None:
        """Put the metadata's backup in its place."""
        self.history.sql.restore(self._backup[2])

    def lose_metadata(self) -> None:
        """Let the metadata start over. Where the target keeps no positions, reading goes on where the group stands."""
        history, truth = self.history, self.history.truth
        history.sql.restore(None)
        known = self._known_to_group()
        for part in history.parts if history.kind in ("files", "plain") else ():
            if known.get(part) != truth.position.get(part):
                truth.begin_anew(part)
                truth.first[part].update({known[part]} if part in known else ())

    def _known_to_group(self) -> dict[TopicPartition, int]:
        """Return what the group says, and the target's last marker where it joins on to that."""
        history, group = self.history, dict(self.history.group)
        last = history.home().last_interval() if history.kind == "files" and group else None
        marker = None if last is None else history.home().read_marker(IntervalKey(NAME, last[0], last[1], 0))
        if marker is None or marker.aborted or marker.is_foreign:
            return group
        joins = all(
            group.get(part.topic_partition, part.start) == part.start and part.topic_id == f"id-{history.topic_id}"
            for part in marker.ranges or ()
        )
        return {**group, **marker.positions} if joins else group

    def make_foreign(self) -> None:
        """Let another deployment have made the next manifests here, of the same records."""
        history, first = self.history, self.history.truth.first
        state, ends = history.sql.state, history.ends()
        starts = {part: history.truth.position.get(part, min(first[part])) for part in history.parts}
        ranges = [PartitionRange(*part, starts[part], end.stable, end.topic_id) for part, end in ends.items()]
        for sequence in (state.sequence + 1, state.sequence + 2):
            history.home(state.config).make_foreign(IntervalKey(NAME, state.incarnation, sequence, 1), ranges)

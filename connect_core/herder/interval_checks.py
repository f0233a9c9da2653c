"""Compares an interval's marker with its row in the metadata database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from connect_core.api.recount import Difference, RecountedInterval, RowsPerRecord
from connect_core.effects.connectors import ConnectorEffects
from connect_core.interval.effects import CompareTarget
from connect_core.interval.values import ConnectorState, IntervalState
from connect_core.store import Database, configs
from connect_core.store.interval_history import PastInterval

__all__ = ["IntervalChecks"]


@dataclass(slots=True)
class IntervalChecks:
    """Yields differences; ``notes`` list what could not be compared."""

    database: Database
    state: ConnectorState
    connector: ConnectorEffects
    notes: set[str] = field(default_factory=set)
    _is_here: dict[int, bool] = field(default_factory=dict)

    def missing(self, past: PastInterval) -> Iterator[Difference]:
        """Check an interval of the history that has no marker."""
        row = past.row
        if row.state is not IntervalState.COMMITTED:
            return
        if not self._was_here(row.config_version):
            self.notes.add("intervals of earlier configurations were written elsewhere, so they are not recounted")
            return
        said = f"committed with {past.counts.records} records"
        yield Difference("marker", f"interval {row.key.sequence}", said, "no marker in the target", row.key.sequence)

    def compared(self, one: RecountedInterval, past: PastInterval | None, *, is_known: bool) -> Iterator[Difference]:
        """Check an interval that has a marker, and perhaps a row; ``is_known``: the history goes back that far."""
        place, number = f"interval {one.key.sequence}", one.key.sequence
        yield from self._offsets(one)
        if past is None:
            if one.is_foreign:
                self.notes.add("markers of another deployment are counted against their own files only")
            elif is_known:
                yield Difference("history", place, "a marker in the target", "no row in the database", number)
            else:
                self.notes.add("intervals older than the history are counted against their own markers only")
            return
        state = past.row.state
        if not one.moves and not past.row.is_backfill:
            self.notes.add("backfills that the database does not know are counted against their own markers only")
        elif one.is_aborted != (state is IntervalState.ABANDONED):
            said = "aborted" if one.is_aborted else "committed"
            yield Difference("state", place, f"{state.value} in the database", f"{said} in the target", number)
        elif not one.is_aborted:
            yield from self._ranges(one, past)
            yield from self._counts(one, past)

    def _offsets(self, one: RecountedInterval) -> Iterator[Difference]:
        offsets = sum(part.end - part.start for part in one.ranges)
        if one.rows_per_record is not RowsPerRecord.ANY and not one.is_aborted and one.rows > offsets:
            said, found = f"{offsets} offsets", f"{one.rows} rows"
            yield Difference("rows", f"interval {one.key.sequence}", said, found, one.key.sequence)

    def _ranges(self, one: RecountedInterval, past: PastInterval) -> Iterator[Difference]:
        said = {(*part.topic_partition, part.start, part.end) for part in past.row.ranges if part.start < part.end}
        found = {(*part.topic_partition, part.start, part.end) for part in one.ranges if part.start < part.end}
        for topic, partition, start, end in sorted(said ^ found):
            where = "database" if (topic, partition, start, end) in said else "target"
            place = f"{topic}-{partition} [{start}, {end})"
            yield Difference("range", place, f"only in the {where}", "", one.key.sequence)

    def _counts(self, one: RecountedInterval, past: PastInterval) -> Iterator[Difference]:
        """Compare the number of rows with that of the records read."""
        counts = past.counts
        if one.rows_per_record is RowsPerRecord.ANY:
            return
        left = counts.records - counts.skipped - counts.dropped
        is_exact = one.rows_per_record is RowsPerRecord.ONE and past.row.config_version == self.state.config_version
        if one.rows > counts.records:
            # A driver that recovers from the marker of a dead one does not have its tasks' counts.
            self.notes.add("intervals that were recovered have more rows than the history has records")
        elif is_exact and one.rows < left:
            said = f"{left} records read and not skipped"
            yield Difference("records", f"interval {one.key.sequence}", said, f"{one.rows} rows", one.key.sequence)

    def _was_here(self, version: int) -> bool:
        """Return whether a configuration writes to the present one's target; assumed of unknown ones."""
        if version == self.state.config_version:
            return True
        if version not in self._is_here:
            with self.database.read() as connection:
                config = configs.find(connection, self.state.name, version)
            compare = self.connector.handlers()[CompareTarget]
            self._is_here[version] = config is None or bool(compare(CompareTarget(self.state.name, config)))
        return self._is_here[version]

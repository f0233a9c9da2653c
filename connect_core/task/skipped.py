"""The summary of an interval's skipped records: one line for each stage and kind of error."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from connect_core.interval.values import SkippedRecords
from connect_core.task.tolerance import Failure, class_name

__all__ = ["SkippedSummary"]

_MESSAGE_CHARACTERS = 1000


@dataclass(slots=True)
class SkippedSummary:
    """Counts tolerated failures; the first of each kind is kept as a sample."""

    _lines: dict[tuple[str, str], SkippedRecords] = field(default_factory=dict)

    def report(self, failure: Failure) -> None:
        """Count one failure of a record."""
        if not failure.is_of_record:
            return
        stage, kind = failure.step.stage.value, class_name(failure.error)
        line = self._lines.get((stage, kind))
        if line is None:
            message = str(failure.error)[:_MESSAGE_CHARACTERS]
            line = SkippedRecords(stage, kind, message, 0, failure.step.place.to_json())
        self._lines[stage, kind] = replace(line, records=line.records + 1)

    def lines(self) -> tuple[SkippedRecords, ...]:
        """Return the counts so far."""
        return tuple(self._lines.values())

"""A sink is configured to write elsewhere while an interval of its driver, which died in its commit, is unfinished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from tests.faults.exports import Export, LineExport, TableExport
from tests.faults.history import Findings
from tests.faults.rows.failpoints import arm, await_taken
from tests.faults.rows.row import Row
from tests.faults.world import World

_BATCH = 1000
_POINTS = ("K6", "K7", "K8")
"""Before the commit in the target; before the metadata follow; before files are published."""


class _Elsewhere(Export):
    """A sink with two places: what is in either of them counts."""

    place = 0

    @property
    def path(self) -> Path:
        """Where the sink writes now."""
        return self.world.folder / f"{self.name}-{self.place}"

    def sequences(self) -> Mapping[str, Sequence[Sequence[int]]]:
        """Return what stands in order in each of the places."""
        now, found = self.place, dict[str, Sequence[Sequence[int]]]()
        for place in (0, 1):
            self.place = place
            found |= {f"{name} of place {place}": some for name, some in super().sequences().items()}
        self.place = now
        return found


class _LinesElsewhere(_Elsewhere, LineExport):
    """A ``FileStreamSink`` and two files."""


class _TableElsewhere(TableExport):
    """A JDBC sink and two tables."""

    place = 0

    def rows(self) -> list[int]:
        """Return the numbers a reader of both tables sees."""
        topic, found = self.topic, super().rows()
        self.topic = f"{topic}-1"
        found += super().rows()
        self.topic = topic
        return found

    def _config(self, **config: str) -> dict[str, str]:
        return super()._config(table__name__format="${topic}-1" if self.place else "${topic}", **config)


def moved(kind: type[_Elsewhere | _TableElsewhere], world: World) -> Findings:
    """Between a driver's death and the next driver the configuration changes: place and number of tasks."""
    export = kind(world, f"row-54-{world.random.getrandbits(24):06x}")
    export.begin(2)
    export.write(0, _BATCH)
    world.drive(export.name)
    export.await_files(_BATCH)
    for number, point in enumerate(_POINTS, 1):
        arm(world, point, export.name, "kill")
        export.write(number * _BATCH, _BATCH)
        await_taken(world, f"no driver of {export.name} came to {point}")
        world.end_drivers()
        export.place = 1 - export.place
        export.reconfigure(tasks__max=str(1 + number))
        world.drive(export.name)
        export.await_files((number + 1) * _BATCH)
    return export.found(set(range((1 + len(_POINTS)) * _BATCH)), len(_POINTS))


ROWS: tuple[Row, ...] = (
    Row(54, "path changed between commit and recovery, Parquet", partial(moved, _Elsewhere)),
    Row(54, "file changed between commit and recovery, lines", partial(moved, _LinesElsewhere)),
    Row(54, "table changed between commit and recovery", partial(moved, _TableElsewhere)),
)

"""A connector of the file system source, driven interval by interval without a run."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from connect_core.api.batch import Batch
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.choices import FORMATS
from connect_core.connectors.filesystem.source.connector import FileSystemSourceConnector
from connect_core.connectors.filesystem.storages import LocalStorage
from connect_core.connectors.filesystem.tables import table_of
from connect_core.testing.source_engine import Lane, Position, SourceEngine, position_after

__all__ = ["Reading", "put", "written"]

VALUES_ONLY = Extras()


class Reading:
    """A connector and what its intervals commit."""

    def __init__(self, folder: Path, lane: Lane = Lane.BATCHES, tasks: int = 1, /, **config: str) -> None:
        self.folder, self.lane = folder, lane
        given = {key.replace("_", "."): value for key, value in config.items()}
        settings = {"path": "in", "topic": "t", "format": "text", "file.settle.ms": "0", "poll.interval.ms": "0"}
        self.config: Mapping[str, str] = {**settings, "tasks.max": str(tasks), **given}
        limits = WorkerLimits((folder,))
        self.engine = SourceEngine(FileSystemSourceConnector, self.config, limits, tasks, most_records=10**9)
        self.position = Position()
        self.records: list[Any] = []

    def interval(self) -> list[Any]:
        """Run one interval → its records; none where the plan finds nothing to do."""
        polls = self.engine.read(self.position, self.lane)
        self.position = position_after(polls, self.position)
        found = [record for poll in polls for record in poll.records]
        self.records += found
        return found

    def values(self) -> list[Any]:
        """Run one interval → the values of its records."""
        return [record.value for record in self.interval()]

    def until_idle(self) -> list[Any]:
        """Run intervals until there is nothing to do → the values of all records."""
        found: list[Any] = []
        while some := self.values():
            found += some
        return found


def put(place: Path, data: str | bytes, at: float | None = None) -> None:
    """Write a file, last modified ``at`` (seconds since 1970), else a minute ago."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data.encode() if isinstance(data, str) else data)
    then = time.time() - 60 if at is None else at
    os.utime(place, (then, then))


def written(folder: Path, form: str, records: Any, extras: Any = VALUES_ONLY, **config: Any) -> None:
    """Write records to one file, as the sink does."""
    made = FORMATS.built_in[form]()
    made.configure(config)
    rows = made.rows(Batch.from_records(records), extras)
    (folder / "in").mkdir(exist_ok=True)
    storage = LocalStorage(folder / "in")
    staging = storage.staging(folder / "in/_connect/1")
    output = staging.create("0", "x")
    writer = made.open(output, rows.columns)
    chunks = [[array] for array in rows.arrays]
    writer.write(table_of(chunks, rows.columns, rows.length))
    writer.close()
    staging.publish(output.finish(), f"file.{made.extension}")

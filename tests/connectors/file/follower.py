"""A connector of the file source, driven interval by interval without a run."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from connect_core.api.offsets import canonical
from connect_core.connectors.file.predecessor import QUIET_SECONDS
from connect_core.connectors.file.source import FileStreamSourceConnector, FileStreamSourceTask
from tests.connectors.contexts import Committed, DriverSide, SourceSide, limits_of

__all__ = ["TOPIC", "Follower", "leave", "write"]

TOPIC = "connect-test"


class Follower:
    """A connector and what its intervals commit: lines, offset and private state."""

    def __init__(self, folder: Path, batches: bool, file: str = "test.txt", **config: str) -> None:
        self.folder, self.batches = folder, batches
        self.config = {"file": file, "topic": TOPIC, **config}
        self.key = canonical({"filename": file})
        self.offsets: dict[str, dict[str, Any]] = {}
        self.states: dict[str, dict[str, str]] = {}
        self.lines: list[str] = []

    @property
    def position(self) -> int | None:
        return self.offsets.get(self.key, {}).get("position")

    def latest(self) -> dict[str, Any]:
        connector = FileStreamSourceConnector()
        connector.initialize(DriverSide(limits_of(self.folder), offset_states=self.states))
        connector.start(self.config)
        return dict(connector.latest(self.offsets) or {})

    def task(self, upper: dict[str, Any] | None) -> FileStreamSourceTask:
        task = FileStreamSourceTask()
        task.initialize(
            SourceSide(limits_of(self.folder), self.config, Committed(self.offsets), upper, offset_states=self.states)
        )
        task.start(self.config)
        return task

    def interval(self) -> list[str]:
        """Run one interval → its lines; nothing when the plan finds nothing to do."""
        upper = self.latest()
        return [] if upper == self.offsets else self.drain(self.task(upper))

    def drain(self, task: FileStreamSourceTask) -> list[str]:
        found: list[str] = []
        while records := self.poll(task):
            found += [value for value, _ in records]
            self.offsets = {**self.offsets, self.key: records[-1][1]}
            self.states = {self.key: dict(task.offset_state({"filename": self.config["file"]}) or {})}
        task.stop()
        self.lines += found
        return found

    def poll(self, task: FileStreamSourceTask) -> list[tuple[str, dict[str, Any]]]:
        if not self.batches:
            return [(record.value, dict(record.source_offset or {})) for record in task.poll() or ()]
        batch = task.poll_batch()
        assert batch is not None
        return [(record.value, dict(record.source_offset)) for record in batch.to_records()]  # type: ignore[attr-defined]


def write(path: Path, text: str) -> None:
    with path.open("a", newline="") as file:
        file.write(text)


def leave(path: Path) -> None:
    """Let nobody have written to a file for longer than a rotated one is followed."""
    then = time.time() - 2 * QUIET_SECONDS
    os.utime(path, (then, then))

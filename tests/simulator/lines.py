"""A file as target: FileStreamSink's own appender, control folder and staged lines, in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from typing import Any, NoReturn
from unittest.mock import patch

from connect_core.api.connector import WorkerLimits
from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, IntervalKey, PartitionRange, Staged
from connect_core.connectors import allowed_file
from connect_core.connectors.control_folder import ControlFolder
from connect_core.connectors.file import appender
from connect_core.connectors.file.appender import FileAppender
from connect_core.connectors.link_free import make_folders
from connect_core.connectors.staged_file import StagedFile
from connect_core.errors import RetriableError
from connect_core.interval.values import TaskPlan
from tests.simulator.targets import Acting, answered, by_range, folder_of
from tests.simulator.truth import Violation

__all__ = ["LinesTarget"]

_FILE = "out.txt"


class LinesTarget:
    """One file and the control folder beside it; ``FileTarget`` says what the methods are."""

    def __init__(self, deliver: Callable[[TopicPartition, int, int, int, str], None], connector: str) -> None:
        self.deliver = deliver
        self.expected: list[str] = []
        """The lines of all manifests, in the order of these."""
        self._root = folder_of(self)
        self._appender = self._of(connector, "deployment")
        self._another = self._of(connector, "another")

    def _of(self, connector: str, deployment: str) -> FileAppender:
        with _beneath_dev():
            return FileAppender(connector, _FILE, WorkerLimits(file_roots=(self._root,)), deployment)

    def fence(self, epoch: int) -> None:
        with _beneath_dev():
            self._appender.fence(epoch)

    def read_marker(self, key: IntervalKey) -> CommitMarker | None:
        return self._appender.read_marker(key)

    def last_interval(self) -> tuple[int, int] | None:
        return self._appender.last_interval()

    def stage(self, plan: TaskPlan) -> Acting:
        return by_range(plan, self._stage_range)

    def _stage_range(self, key: IntervalKey, part: PartitionRange, execution: str) -> Acting:
        """Stage the lines of a range → what the manifest will say of it."""
        folder = self._appender._control.attempt_folder(key, execution)
        make_folders(folder)
        lines = _lines(part)
        staged = StagedFile(folder / f"{part.partition}.lines")
        try:
            staged.write(lines[: len(lines) // 2])
            answered((yield "K4"))
            staged.write(lines[len(lines) // 2 :])
            written = staged.finish()
        finally:
            staged.discard()
        file = {"path": written.path.name, "size": written.size, "sha256": written.sha256, "attempt": execution}
        return {"topic_id": part.topic_id, **file}

    def commit(self, key: IntervalKey, staged: tuple[Staged, ...]) -> Acting:
        """Look at the epoch, then make the manifest: between the two a driver may sleep."""
        self._appender._control.check_epoch(key.epoch)
        answered((yield "K6"))
        is_first = self._appender.read_marker(key) is None
        with _beneath_dev(), patch.object(ControlFolder, "check_epoch", lambda control, epoch: None):
            marker = self._appender.commit(key, staged)
        for part in staged if is_first else ():
            place = TopicPartition(part.topic, part.partition)
            self.deliver(place, part.start, part.end, 0, part.detail["topic_id"])
        if is_first:
            # As the appender orders them.
            for part in sorted(staged, key=lambda one: (one.topic, one.partition, one.start)):
                self.expected += _lines(_range_of(part)).decode().splitlines()
        return marker

    def publish(self, key: IntervalKey, marker: CommitMarker) -> Acting:
        """Append what the manifest names; whoever dies meanwhile leaves half of the bytes."""
        if marker.aborted or self._appender._control.is_published(key):
            return
        fault = yield "K8"
        with _beneath_dev():
            if fault is not None:
                with patch.object(appender, "_write_at", _write_half):
                    self._appender.publish(key, marker)
            self._appender.publish(key, marker)

    def abandon(self, key: IntervalKey, positions: Any) -> CommitMarker:
        with _beneath_dev():
            return self._appender.abandon(key, positions)

    def sweep(self, keep: Collection[IntervalKey]) -> None:
        with _beneath_dev():
            self._appender.sweep(keep)

    def make_foreign(self, key: IntervalKey, ranges: Collection[PartitionRange]) -> None:
        """Let another deployment have made this manifest."""
        staged = [Staged(one.topic, one.partition, one.start, one.end, {"topic_id": one.topic_id}) for one in ranges]
        self._another._control.commit(key, staged, {"start_length": 0, "end_length": 0, "lines": []})

    def look(self) -> None:
        """Lines are appended without a mark of their end: the whole file is looked at when all is done."""

    def check_end(self) -> None:
        """I1 to I3, I7: the file has the lines of all manifests, once each and in order."""
        file = self._root / _FILE
        found = file.read_text().splitlines() if file.exists() else []
        if found != self.expected:
            raise Violation(f"I7 the manifests name {self.expected}, the file has {found}")


def _beneath_dev() -> Any:
    """Let files lie in memory, which is where no connector may write."""
    return patch.object(allowed_file, "_NEVER", ())


def _write_half(descriptor: int, block: bytes, place: int) -> NoReturn:
    os.pwrite(descriptor, block[: len(block) // 2], place)
    raise RetriableError("died while it wrote")


def _lines(part: PartitionRange) -> bytes:
    rows = (f"{part.topic}-{part.partition} {part.topic_id} {at}\n" for at in range(part.start, part.end))
    return "".join(rows).encode()


def _range_of(part: Staged) -> PartitionRange:
    return PartitionRange(part.topic, part.partition, part.start, part.end, part.detail["topic_id"])

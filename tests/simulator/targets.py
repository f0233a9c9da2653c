"""A target in memory with the committer a connector would bring: files with manifests."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, IntervalKey, PartitionRange, Staged
from connect_core.connectors.control_folder import execution_of
from connect_core.errors import ConnectError, RetriableError, StaleEpochError
from connect_core.interval.values import TaskPlan
from tests.simulator.truth import Violation

Ranges = Mapping[TopicPartition, PartitionRange]

_MEMORY = Path("/dev/shm")
"""Where files are quick, if there is such a place: what is made durable is not what is tested."""

Acting = Generator[str, str | None, Any]
"""An effect of several acts: yields the point before each further one, and is sent its fault."""


def folder_of(owner: object) -> Path:
    """Create a folder that goes away with its owner."""
    root = Path(tempfile.mkdtemp(prefix="connect-simulator-", dir=_MEMORY if _MEMORY.is_dir() else None))
    weakref.finalize(owner, shutil.rmtree, root, ignore_errors=True)
    return root


def answered(fault: str | None) -> None:
    """Give up where a request or its answer is lost. Raises RetriableError."""
    if fault is not None:
        raise RetriableError(f"no answer: {fault}")


def stale(newer: int) -> StaleEpochError:
    error = StaleEpochError(f"epoch {newer} stands in the target")
    error.epoch = newer
    return error


def acted(answer: Any) -> Acting:
    """Go on with an act of several, to its answer; what is no such act is the answer."""
    if isinstance(answer, Generator):
        answer = yield from answer
    return answer


def by_range(plan: TaskPlan, stage: Callable[[IntervalKey, PartitionRange, str], Acting]) -> Acting:
    """Stage range by range, as one execution of a task → what it reports."""
    staged, execution = [], execution_of(plan.attempt_id)
    for part in plan.ranges:
        detail = yield from stage(plan.key, part, execution)
        staged.append(Staged(part.topic, part.partition, part.start, part.end, detail))
    return tuple(staged)


@dataclass(slots=True)
class FileTarget:
    """Staged files, manifests made once and never changed, final names that are deterministic."""

    deliver: Callable[[TopicPartition, int, int, int, str], None]
    epoch: int = 0
    staged: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    """Path → incarnation and sequence, and ``torn`` or ``whole``."""
    manifests: dict[tuple[int, int], CommitMarker] = field(default_factory=dict)
    published: set[tuple[int, int]] = field(default_factory=set)
    final: dict[tuple[TopicPartition, int, int], str] = field(default_factory=dict)

    def fence(self, epoch: int) -> None:
        if self.epoch > epoch:
            raise stale(self.epoch)
        self.epoch = epoch

    def read_marker(self, key: IntervalKey) -> CommitMarker | None:
        return self.manifests.get((key.incarnation, key.sequence))

    def last_interval(self) -> tuple[int, int] | None:
        return max(self.manifests, default=None)

    def create(self, key: IntervalKey, marker: CommitMarker) -> CommitMarker:
        """Create the manifest unless there is one."""
        name = key.incarnation, key.sequence
        if name not in self.manifests:
            self.manifests[name] = marker
            for file in (marker.detail or {}).get("files", ()):
                place = TopicPartition(file["topic"], file["partition"])
                self.deliver(place, file["start"], file["end"], 0, file["topic_id"])
        return self.manifests[name]

    def stage(self, plan: TaskPlan) -> Acting:
        """Stage the files of a task → what it reports."""
        return by_range(plan, self._stage_range)

    def _stage_range(self, key: IntervalKey, part: PartitionRange, execution: str) -> Acting:
        """Stage a file of a range → what the manifest will say of it."""
        path = f"{execution}/{part.partition}"
        self.staged[path] = key.incarnation, key.sequence, "torn"
        answered((yield "K4"))
        self.staged[path] = key.incarnation, key.sequence, "whole"
        return {"path": path, "topic_id": part.topic_id}

    def commit(self, key: IntervalKey, staged: tuple[Staged, ...]) -> Acting:
        """Look at the epoch, then make the manifest: between the two a driver may sleep."""
        if self.epoch > key.epoch:
            raise stale(self.epoch)
        answered((yield "K6"))
        positions = {TopicPartition(one.topic, one.partition): one.end for one in staged}
        files = [
            {"topic": one.topic, "partition": one.partition, "start": one.start, "end": one.end, **one.detail}
            for one in staged
        ]
        ranges = tuple(
            PartitionRange(one.topic, one.partition, one.start, one.end, one.detail["topic_id"]) for one in staged
        )
        return self.create(key, CommitMarker(positions, detail={"files": files}, ranges=ranges))

    def publish(self, key: IntervalKey, marker: CommitMarker) -> Acting:
        """Move the files the manifest names; again, by anyone, it changes nothing."""
        place = key.incarnation, key.sequence
        if marker.aborted or place in self.published:
            return
        for file in (marker.detail or {}).get("files", ()):
            name = TopicPartition(file["topic"], file["partition"]), file["start"], file["end"]
            path = file["path"]
            if path in self.staged:
                if self.staged[path][2] != "whole":
                    raise Violation(f"I7 a torn file {path} is published")
                self.final[name] = path
                del self.staged[path]
            elif self.final.get(name) != path:
                raise ConnectError(f"{path} is neither staged nor published")
            answered((yield "K8"))
        self.published.add(place)

    def abandon(self, key: IntervalKey, positions: Any) -> CommitMarker:
        return self.create(key, CommitMarker({}, aborted=True))

    def make_foreign(self, key: IntervalKey, ranges: Collection[PartitionRange]) -> None:
        """Let another deployment have made this manifest."""
        positions = {one.topic_partition: one.end for one in ranges}
        self.manifests.setdefault(
            (key.incarnation, key.sequence), CommitMarker(positions, ranges=tuple(ranges), is_foreign=True)
        )

    def sweep(self, keep: Collection[IntervalKey]) -> None:
        """Remove what finished intervals other than ``keep`` have staged."""
        kept = {(key.incarnation, key.sequence) for key in keep}
        for path, (incarnation, sequence, _) in list(self.staged.items()):
            marker = self.manifests.get((incarnation, sequence))
            done = marker is not None and (marker.aborted or (incarnation, sequence) in self.published)
            if done and (incarnation, sequence) not in kept:
                del self.staged[path]

    def look(self) -> None:
        """Nothing is to be seen of this one before its end."""

    def check_end(self) -> None:
        """I7: readers see exactly the files the manifests name, the last one of each name."""
        named = {}
        for key in sorted(self.manifests):
            for file in (self.manifests[key].detail or {}).get("files", ()):
                named[TopicPartition(file["topic"], file["partition"]), file["start"], file["end"]] = file["path"]
        if named != self.final:
            raise Violation(f"I7 the manifests name {named}, readers see {self.final}")

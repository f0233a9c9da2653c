"""A folder as target: FileSystemSink's own task, committer and control folder, on files of this machine."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

from connect_core.api.backfill import Backfill, ExistingExports
from connect_core.api.connector import WorkerLimits
from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import CommitMarker, IntervalContext, IntervalKey, PartitionRange, Staged
from connect_core.connectors.filesystem.sink import task as sink_task
from connect_core.connectors.filesystem.sink.committer import FileSystemCommitter
from connect_core.connectors.filesystem.sink.config import Settings
from connect_core.connectors.filesystem.sink.finished import SUCCESS
from connect_core.connectors.filesystem.sink.task import FileSystemSinkTask
from connect_core.interval.values import TaskPlan
from tests.connectors.contexts import SinkSide
from tests.simulator.folder_storage import TurningStorage
from tests.simulator.targets import Acting, folder_of
from tests.simulator.truth import Violation
from tests.simulator.turns import in_turns

__all__ = ["FolderTarget"]

_CONFIG: Mapping[str, str] = {"path": "out", "format": "json"}
_SETTINGS = Settings.of(_CONFIG)
_DEPLOYMENT = "deployment"

Deliver = Callable[[TopicPartition, int, int, int, str], None]
Fill = Callable[[TopicPartition, int, int, str], None]
Rows = tuple[tuple[str, int, int], ...]
"""Topic id, partition and offset of each record of a file."""


@dataclass(frozen=True, slots=True)
class _Version:
    """What a manifest says of a file, and the records of its range."""

    sha256: str
    rows: Rows


@dataclass(slots=True)
class _Seen:
    """What readers saw of the files last; those that are still the same are not read again."""

    stamps: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)


class FolderTarget:
    """One folder; ``FileTarget`` says what the methods are. Each process has a committer of its own."""

    def __init__(self, deliver: Deliver, fill: Fill, connector: str, actor: Callable[[], object]) -> None:
        self._deliver, self._fill, self._connector, self._actor = deliver, fill, connector, actor
        self._root = folder_of(self)
        self._storage = TurningStorage(self._root, self._note_proof)
        self._committers: weakref.WeakKeyDictionary[object, FileSystemCommitter] = weakref.WeakKeyDictionary()
        self._nobody = self._new_committer(_DEPLOYMENT)
        self.versions: dict[str, list[_Version]] = {}
        """Name → what the manifests say of it, one after the other."""
        self.manifests: list[list[tuple[str, int]]] = []
        """The files of each manifest, and which version of its name each is."""
        self._seen = _Seen()

    def _new_committer(self, deployment: str) -> FileSystemCommitter:
        return FileSystemCommitter(
            self._connector,
            _SETTINGS.layout(self._storage),
            _SETTINGS.format,
            deployment,
            _SETTINGS.nulls,
            _SETTINGS.partitioner,
        )

    @property
    def _committer(self) -> FileSystemCommitter:
        actor = self._actor()
        if actor is None:
            return self._nobody
        if actor not in self._committers:
            self._committers[actor] = self._new_committer(_DEPLOYMENT)
        return self._committers[actor]

    # -- what drivers do

    def fence(self, epoch: int) -> Acting:
        committer = self._committer
        return in_turns("K0", lambda: committer.fence(epoch))

    def read_marker(self, key: IntervalKey) -> CommitMarker | None:
        return self._committer.read_marker(key)

    def last_interval(self) -> tuple[int, int] | None:
        return self._committer.last_interval()

    def commit(self, key: IntervalKey, staged: tuple[Staged, ...]) -> Acting:
        committer = self._committer
        return in_turns("K6", lambda: committer.commit(key, staged))

    def replace(self, key: IntervalKey, staged: tuple[Staged, ...], backfill: Backfill) -> Acting:
        committer = self._committer
        return in_turns("K6", lambda: committer.replace(key, staged, backfill))

    def publish(self, key: IntervalKey, marker: CommitMarker) -> Acting:
        committer = self._committer
        return in_turns("K8", lambda: committer.publish(key, marker))

    def abandon(self, key: IntervalKey, positions: Any) -> Acting:
        committer = self._committer
        return in_turns("K6", lambda: committer.abandon(key, positions))

    def sweep(self, keep: Collection[IntervalKey]) -> Acting:
        committer = self._committer
        return in_turns("K8", lambda: committer.sweep(keep))

    def existing(self, ranges: Sequence[PartitionRange]) -> ExistingExports:
        return self._nobody.existing(ranges)

    # -- what tasks do

    def stage(self, plan: TaskPlan) -> Acting:
        """Stage all ranges of a task, as one execution of it."""
        return in_turns("K4", lambda: self._staged(plan))

    def _staged(self, plan: TaskPlan) -> tuple[Staged, ...]:
        task = FileSystemSinkTask()
        context = IntervalContext(plan.key, plan.ranges, plan.columns, plan.attempt_id)
        task.initialize(SinkSide(WorkerLimits(), _CONFIG, context))
        with patch.object(sink_task, "open_storage", lambda *_, **__: self._storage):
            task.start(_CONFIG)
        try:
            for part in plan.ranges:
                task.put([_record(part, at, plan.config_version) for at in range(part.start, part.end)])
            return tuple(task.stage({part.topic_partition: part.end for part in plan.ranges}))
        finally:
            task.stop()

    # -- what there is to see

    def make_foreign(self, key: IntervalKey, ranges: Collection[PartitionRange]) -> None:
        """Let another deployment have made this manifest."""
        staged = [Staged(one.topic, one.partition, one.start, one.end, {"topic_id": one.topic_id}) for one in ranges]
        self._new_committer("another")._control.commit(key, staged, {"files": [], "columns": {}})

    def _note_proof(self, place: Path, content: Mapping[str, Any]) -> None:
        """Tell of a manifest: it is the commit."""
        is_manifest = place.suffix == ".json" and place.parent.name.isdigit()
        if not is_manifest or content["aborted"] or content["deployment"] != _DEPLOYMENT:
            return
        ids = content["topic_ids"]
        ranges = [PartitionRange(**one, topic_id=ids[one["topic"]]) for one in content["ranges"]]
        self._note_files([one for one in ranges if one.start < one.end], content["files"])
        for one in ranges:
            if content.get("moves", True):
                self._deliver(one.topic_partition, one.start, one.end, 0, one.topic_id)
            else:
                self._fill(one.topic_partition, one.start, one.end, one.topic_id)

    def _note_files(self, ranges: Sequence[PartitionRange], files: Sequence[Mapping[str, Any]]) -> None:
        if len(ranges) != len(files):
            raise Violation(f"I6 a manifest has {len(files)} files of {ranges}")
        named = []
        for part, file in zip(ranges, files, strict=True):
            versions = self.versions.setdefault(file["name"], [])
            if versions and versions[-1].rows != _rows(part):
                raise Violation(f"I1 {file['name']} has {versions[-1].rows}: {_rows(part)} would replace them")
            named.append((file["name"], len(versions)))
            versions.append(_Version(file["sha256"], _rows(part)))
        self.manifests.append(named)

    def look(self) -> None:
        """I7: readers see whole files that a manifest names, and ``_SUCCESS`` beside whole intervals only."""
        if not self._storage.is_changed:
            return
        self._storage.is_changed = False
        places = {str(place.relative_to(self._root)): place for place in self._visible()}
        marked = {name for name in places if name.endswith(SUCCESS)}
        for name in {*places} - marked:
            self._read(name, places[name])
        for name in {*self._seen.stamps} - {*places}:
            raise Violation(f"I7 {name} was there and is not any more")
        if marked:
            self._check_marked()

    def _visible(self) -> list[Path]:
        """Return what readers list: not the control folder."""
        folders = [place for place in self._root.iterdir() if place.name != "_connect"]
        return sorted(place for folder in folders for place in folder.rglob("*") if place.is_file())

    def _read(self, name: str, place: Path) -> None:
        stat = place.stat()
        stamp = stat.st_ino, stat.st_size, stat.st_mtime_ns
        if self._seen.stamps.get(name) == stamp:
            return
        content = place.read_bytes()
        found = sha256(content).hexdigest()
        version = next((one for one in self.versions.get(name, ()) if one.sha256 == found), None)
        if version is None:
            raise Violation(f"I7 readers see {name} with {content!r}, which no manifest names")
        if _read_rows(content) != version.rows:
            raise Violation(f"I7 {name} has {content!r}, not {version.rows}")
        self._seen.stamps[name], self._seen.hashes[name] = stamp, found

    def _check_marked(self) -> None:
        for named in self.manifests:
            there = [self._is_there(name, number) for name, number in named]
            if any(there) and not all(there):
                raise Violation(f"I7 {SUCCESS} stands beside a part of {named}")

    def _is_there(self, name: str, number: int) -> bool:
        """Whether a file has come to this version, or to a later one."""
        return self._seen.hashes.get(name) in {one.sha256 for one in self.versions[name][number:]}

    def check_end(self) -> None:
        """I1 to I3, I7, I10: readers see the files of all manifests, the last of each name; nothing is left over."""
        self._storage.is_changed = True
        self.look()
        wanted = {name: versions[-1].sha256 for name, versions in self.versions.items()}
        if wanted != self._seen.hashes:
            lacking = sorted(name for name in wanted if wanted[name] != self._seen.hashes.get(name))
            raise Violation(f"I7 readers do not see {lacking} as the last manifest has it")
        if wanted and not any(place.name == SUCCESS for place in self._visible()):
            raise Violation(f"I8 {SUCCESS} is missing, and all is published")
        self._nobody.sweep(())
        control = self._nobody._control
        for name in control.store.names(control.staging):
            incarnation, _, sequence = name.partition("-")
            if control.marker(IntervalKey("", int(incarnation), int(sequence), 0)) is not None:
                raise Violation(f"I10 what interval {sequence} staged is left, and it is over")
        if drafts := [*self._root.rglob(".*.draft")]:
            raise Violation(f"I10 {drafts} are left")


def _record(part: PartitionRange, at: int, version: int) -> SinkRecord:
    # By the configuration, as a transform might make it: an export by another one has other bytes.
    value = {"topic": part.topic_id, "partition": part.partition, "at": at, "by": "v" * version}
    return SinkRecord(part.topic, part.partition, value=value, kafka_offset=at, timestamp=at)


def _rows(part: PartitionRange) -> Rows:
    return tuple((part.topic_id, part.partition, at) for at in range(part.start, part.end))


def _read_rows(content: bytes) -> Rows:
    return tuple((one["topic"], one["partition"], one["at"]) for one in map(json.loads, content.splitlines()))

"""Makes manifests and puts staged files in place, driven by the manifest only."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, IntervalKey, Staged
from connect_core.connectors.control_folder import ControlFolder, Owner, claim, release, write_durably
from connect_core.connectors.filesystem.columns import (
    ColumnKinds,
    KindConflict,
    merge_columns,
    stored,
    to_text,
)
from connect_core.connectors.filesystem.config import PATH
from connect_core.connectors.filesystem.layout import Layout
from connect_core.connectors.filesystem.parquet import Part, rewrite
from connect_core.connectors.filesystem.staging import StagedTopic
from connect_core.connectors.link_free import make_folders, remove, rename, sync_folder
from connect_core.connectors.staged_file import verify
from connect_core.errors import DataError

__all__ = ["FileSystemCommitter"]

_SUCCESS = "_SUCCESS"
Pieces: TypeAlias = list[tuple[Staged, StagedTopic]]


@dataclass(slots=True)
class FileSystemCommitter:
    """The committer of one connector's folder; the manifest of an interval is its commit."""

    connector: str
    layout: Layout
    codec: str
    deployment: str = ""
    _control: ControlFolder = field(init=False)
    _epoch: int | None = None

    def __post_init__(self) -> None:
        self._control = self.layout.control(self.connector, self.deployment)

    def fence(self, epoch: int) -> Mapping[TopicPartition, int] | None:
        """Claim the folder's manifests and record the epoch. Raises ConfigError, StaleEpochError."""
        claim(self._owner_file, self._owner, PATH, str(self.layout.root))
        self._control.raise_epoch(epoch)
        self._epoch = epoch
        return None

    def last_interval(self) -> tuple[int, int] | None:
        """Return the newest interval the control folder has a manifest of."""
        return self._control.last_interval()

    def read_marker(self, interval: IntervalKey) -> CommitMarker | None:
        """Return the marker of an interval, or ``None``."""
        return self._control.marker(interval)

    def commit(self, interval: IntervalKey, staged: Sequence[Staged]) -> CommitMarker:
        """Give all schemaless files of a topic the same columns, then make the manifest.

        Raises StaleEpochError, DataError where fields conflict between
        partitions, ConfigError for a topic another connector writes.
        """
        self._control.check_epoch(interval.epoch)
        standing = self._control.marker(interval)
        if standing is not None:
            return standing
        ordered = sorted(staged, key=lambda part: (part.topic, part.partition, part.start))
        pieces = [
            (part, StagedTopic.from_detail(file, self._control.attempt_folder(interval, part.detail["attempt"])))
            for part in ordered
            for file in part.detail["files"]
        ]
        columns = _union(pieces)
        for topic in {piece.topic for _, piece in pieces}:
            claim(self.layout.owner(topic), self._owner, PATH, str(self.layout.topic_folder(topic)))
        files = [self._file(interval, part, piece, columns) for part, piece in pieces]
        texts = {topic: {name: to_text(kind) for name, kind in stored(kinds)} for topic, kinds in columns.items()}
        return self._control.commit(interval, ordered, {"files": files, "columns": texts})

    def publish(self, interval: IntervalKey, marker: CommitMarker) -> None:
        """Move the files the manifest names to their final names; ``_SUCCESS`` comes last."""
        if marker.aborted or self._control.is_published(interval):
            return
        if self._epoch is not None:
            self._control.check_epoch(self._epoch)
        files: Sequence[Mapping[str, Any]] = (marker.detail or {})["files"]
        topics = sorted({file["topic"] for file in files})
        for topic in topics:
            remove(self.layout.topic_folder(topic) / _SUCCESS)
        for file in files:
            self._move(interval, file)
        for folder in {self.layout.place(file["name"]).parent for file in files}:
            sync_folder(folder)
        for topic in topics:
            self._close(topic)
        self._control.set_published(interval)

    def abandon(self, interval: IntervalKey, positions: Mapping[TopicPartition, int | None] | None) -> CommitMarker:
        """Make the abort manifest unless the interval has a manifest; the folder keeps no positions."""
        return self._control.abandon(interval, positions)

    def sweep(self, keep: Collection[IntervalKey]) -> None:
        """Remove the staged files of finished intervals."""
        self._control.sweep(keep)

    def release(self) -> None:
        """Let other connectors write the topics' folders; the data stays."""
        for place in (*self.layout.owners(), self._owner_file):
            release(place, self._owner)

    def close(self) -> None:
        """Hold nothing, free nothing."""

    @property
    def _owner(self) -> Owner:
        return Owner(self.connector, self.deployment)

    @property
    def _owner_file(self) -> Path:
        return self._control.path / "owner.json"

    def _file(
        self, interval: IntervalKey, part: Staged, piece: StagedTopic, columns: Mapping[str, ColumnKinds]
    ) -> dict[str, Any]:
        wanted = stored(columns[piece.topic] if piece.is_schemaless else piece.columns)
        read = TopicPartition(part.topic, part.partition)
        try:
            done = self._united(piece, wanted)
        except DataError as error:
            raise DataError(f"topic {read.topic}, partition {read.partition}: {error}") from error
        folder = self._control.attempt_folder(interval, "")
        return {
            "staged": str(done.file.path.relative_to(folder)),
            "name": self.layout.final_name(piece.topic, part),
            "size": done.file.size,
            "sha256": done.file.sha256,
            "rows": done.rows,
            "topic": piece.topic,
        }

    def _united(self, piece: StagedTopic, wanted: ColumnKinds) -> Part:
        """Return the one part there is, or a new one where it lacks columns or there are several."""
        first, *others = piece.parts
        if not others and dict(first.columns) == dict(wanted):
            return first
        place = first.file.path.with_suffix(f".{secrets.token_hex(6)}.parquet")
        return rewrite(piece.parts, place, wanted, self.codec)

    def _move(self, interval: IntervalKey, file: Mapping[str, Any]) -> None:
        staged = self._control.attempt_folder(interval, "") / file["staged"]
        final = self.layout.place(file["name"])
        if not staged.exists():
            verify(final, file["size"], file["sha256"])
            return
        verify(staged, file["size"], file["sha256"])
        make_folders(final.parent)
        try:
            rename(staged, self.layout.place(file["name"]))
        except FileNotFoundError:
            # Another driver that recovers the same interval was faster.
            verify(final, file["size"], file["sha256"])

    def _close(self, topic: str) -> None:
        place: Path = self.layout.topic_folder(topic) / _SUCCESS
        remove(place)
        write_durably(place, b"")
        sync_folder(place.parent)


def _union(pieces: Pieces) -> dict[str, ColumnKinds]:
    """Return the columns of each topic's schemaless rows. Raises DataError naming where they conflict."""
    columns: dict[str, ColumnKinds] = {}
    for part, piece in pieces:
        if not piece.is_schemaless:
            continue
        try:
            columns[piece.topic] = merge_columns(columns.get(piece.topic, ()), piece.columns)
        except KindConflict as conflict:
            offset = piece.found.get(conflict.field.split(".")[0].removesuffix("[]"))
            raise DataError(
                f"topic {part.topic}, partition {part.partition}, offset {offset}: {conflict} by other partitions; "
                "mend the producer, or cast the field by a transform"
            ) from conflict
    return columns

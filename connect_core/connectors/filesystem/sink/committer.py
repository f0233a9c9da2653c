"""Creates manifests and publishes staged files, based on the manifest only."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

from connect_core.api.backfill import Backfill, ExistingExports
from connect_core.api.records import TopicPartition
from connect_core.api.recount import Difference, RecountedInterval, RowsPerRecord
from connect_core.api.sink import CommitMarker, CommittedFile, IntervalKey, PartitionRange, Staged
from connect_core.connectors.control_folder import ControlFolder, Owner, claim, release
from connect_core.connectors.filesystem.columns import (
    ColumnKinds,
    KindConflict,
    merge_columns,
    stored,
    to_text,
    with_shared,
)
from connect_core.connectors.filesystem.formats.format import Format
from connect_core.connectors.filesystem.hive.registration import Registration
from connect_core.connectors.filesystem.partitioners import Partitioner
from connect_core.connectors.filesystem.partitioners.default import DefaultPartitioner
from connect_core.connectors.filesystem.side_by_side import for_each
from connect_core.connectors.filesystem.sink import replacing
from connect_core.connectors.filesystem.sink.config import PATH
from connect_core.connectors.filesystem.sink.file_recount import FileRecount
from connect_core.connectors.filesystem.sink.finished import SUCCESS, folders_of, left_open, touched
from connect_core.connectors.filesystem.sink.layout import Layout
from connect_core.connectors.filesystem.sink.recount import Recount
from connect_core.connectors.filesystem.sink.staging.parts import Part
from connect_core.connectors.filesystem.sink.staging.staged_file import StagedData
from connect_core.connectors.filesystem.storages.storage import Staging
from connect_core.connectors.filesystem.tombstones import NullValues
from connect_core.errors import ConnectError, DataError

__all__ = ["FileSystemCommitter"]

Marker = TypeVar("Marker", CommitMarker, CommitMarker | None)
Item = TypeVar("Item")
Pieces: TypeAlias = list[tuple[Staged, StagedData]]


@dataclass(slots=True)
class FileSystemCommitter:
    """The committer of one connector's files; the manifest of an interval is its commit."""

    connector: str
    layout: Layout
    format: Format
    deployment: str = ""
    nulls: NullValues = NullValues.WRITE
    partitioner: Partitioner = field(default_factory=DefaultPartitioner)
    hive: Registration | None = None
    _control: ControlFolder = field(init=False)
    _epoch: int | None = None
    _recounted: Recount | None = None

    def __post_init__(self) -> None:
        self._control = self.layout.control(self.connector, self.deployment)

    def fence(self, epoch: int) -> Mapping[TopicPartition, int] | None:
        """Claim the folder's manifests and record the epoch. Raises ConfigError, StaleEpochError."""
        self._claim(self._owner_file, str(self.layout.storage.root))
        self._control.raise_epoch(epoch)
        self._epoch = epoch
        return None

    def last_interval(self) -> tuple[int, int] | None:
        """Return the newest interval with a manifest in the control folder."""
        return self._control.last_interval()

    def read_marker(self, interval: IntervalKey) -> CommitMarker | None:
        """Return the marker of an interval, or ``None``."""
        return self._with_files(self._control.marker(interval))

    def commit(self, interval: IntervalKey, staged: Sequence[Staged]) -> CommitMarker:
        """Give all schemaless files of a topic the same columns, then create the manifest.

        Raises StaleEpochError, DataError if fields conflict between partitions, ConfigError for a topic that another
        connector writes, and RetriableError if the staged files are on another machine only.
        """
        self._control.check_epoch(interval.epoch)
        existing = self._control.marker(interval)
        if existing is not None:
            return self._with_files(existing)
        ordered, content = self._content(interval, staged)
        folders = folders_of(self._control, interval, ordered, content["files"])
        if folders is not None:
            content["folders"] = folders
        return self._with_files(self._control.commit(interval, ordered, content))

    def refusal(self) -> str | None:
        """Return why a backfill cannot replace files, or ``None``."""
        return replacing.refusal(self.layout.storage, self.partitioner)

    def existing(self, ranges: Sequence[PartitionRange]) -> ExistingExports:
        """Return the earlier export of these ranges."""
        return replacing.existing(self._control, self.layout.storage, ranges)

    def replace(self, interval: IntervalKey, staged: Sequence[Staged], backfill: Backfill) -> CommitMarker:
        """Create the manifest of an interval whose files replace those of the same names.

        Raises StaleEpochError, ConfigError, DataError if an earlier file of these ranges would remain, and
        RetriableError if a suspended driver could still publish an earlier file.
        """
        self._control.check_epoch(interval.epoch)
        existing = self._control.marker(interval)
        if existing is not None:
            return self._with_files(existing)
        replacing.clear_staged(self._control, interval)
        ordered, content = self._content(interval, staged)
        storage, files = self.layout.storage, content["files"]
        ranges = [
            PartitionRange(part.topic, part.partition, part.start, part.end, part.detail["topic_id"])
            for part in ordered
        ]
        content |= replacing.replacement(self._control, storage, ranges, files)
        content |= {
            "config_version": backfill.config_version,
            "marks": replacing.marks(storage, self.partitioner, files, backfill),
            # Passed on, so that the live export finds them behind any number of backfills.
            "folders": {"finished": [], "open": left_open(self._control, interval)},
        }
        return self._with_files(self._control.commit(interval, ordered, content))

    def _content(self, interval: IntervalKey, staged: Sequence[Staged]) -> tuple[list[Staged], dict[str, Any]]:
        """Return the staged parts in order, and the files and columns of their manifest."""
        ordered = sorted(staged, key=lambda part: (part.topic, part.partition, part.start))
        pieces = [(part, StagedData.from_detail(file)) for part in ordered for file in part.detail["files"]]
        held = [one.held for _, piece in pieces for one in piece.parts]
        self.layout.storage.check_visible(self._control.attempt_folder(interval, ""), held)
        columns = _union(pieces)
        for topic in {piece.key.topic for _, piece in pieces}:
            self._claim(self.layout.owner(topic), str(self.layout.storage.root / self.layout.home(topic)))
        files = [self._file(interval, part, piece, columns) for part, piece in pieces]
        texts = {topic: {name: to_text(kind) for name, kind in stored(kinds)} for topic, kinds in columns.items()}
        content = {"files": files, "columns": texts}
        if self.hive is not None:
            content["hive"] = self._tables(self.hive, pieces, columns)
        return ordered, content

    def _tables(self, hive: Registration, pieces: Pieces, columns: Mapping[str, ColumnKinds]) -> dict[str, Any]:
        found: dict[str, list[ColumnKinds]] = {}
        for _, piece in pieces:
            found.setdefault(piece.key.topic, []).append(_wanted(piece, columns))
        return hive.content(found, {topic: self.layout.home(topic) for topic in found})

    def publish(self, interval: IntervalKey, marker: CommitMarker) -> None:
        """Move the manifest's files to their final names; ``_SUCCESS`` follows, first in folders by time.

        Their tables are registered last: files do not wait for a metastore. Raises StaleEpochError, ConnectError.
        """
        if marker.aborted or self._control.is_published(interval):
            return
        manifest = marker.detail or {}
        files: Sequence[Mapping[str, Any]] = manifest["files"]
        storage, homes = self.layout.storage, sorted({self._home(file) for file in files})
        finished: Sequence[str] = manifest.get("folders", {}).get("finished", ()) or manifest.get("marks", ())
        staging = self.layout.staging(self._control, interval)
        self._each((*homes, *sorted(touched(files))), self._open)
        self._each(files, lambda file: self._move(staging, file))
        storage.settle({file["name"] for file in files})
        self._each(finished, self._close)
        self._each(homes, self._close)
        if self.hive is not None and "hive" in manifest:
            self._check_epoch()
            self.hive.register(manifest["hive"], files)
        self._control.set_published(interval)

    def abandon(self, interval: IntervalKey, positions: Mapping[TopicPartition, int | None] | None) -> CommitMarker:
        """Create the abort manifest unless the interval has a manifest; the folder contains no positions."""
        return self._with_files(self._control.abandon(interval, positions))

    def sweep(self, keep: Collection[IntervalKey]) -> None:
        """Remove the staged files of finished intervals."""
        self._control.sweep(keep)

    def release(self) -> None:
        """Allow other connectors to write the topics' folders; the data is kept."""
        for place in (*self.layout.owners(), self._owner_file):
            release(place, self._owner, self.layout.storage.control)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def recount(self, first: int, last: IntervalKey) -> Iterator[RecountedInterval]:
        """Yield the manifests compared with the files. Raises ConnectError if the storage cannot be listed and read."""
        published = self.layout.storage.published()
        if published is None:
            raise ConnectError(f"the storage {type(self.layout.storage).__name__} cannot list and read its contents")
        files = FileRecount(self.layout.storage, published, self.format)
        rows = RowsPerRecord.ONE if self.nulls is NullValues.WRITE else RowsPerRecord.AT_MOST_ONE
        self._recounted = Recount(self.layout, self._control, files, rows)
        yield from self._recounted.intervals(first, last)

    def foreign_objects(self) -> Iterator[Difference]:
        """Yield the files in the topics' folders that no manifest names."""
        if self._recounted is not None:
            yield from self._recounted.foreign_objects()

    @property
    def _owner(self) -> Owner:
        return Owner(self.connector, self.deployment)

    @property
    def _owner_file(self) -> Path:
        return self._control.path / "owner.json"

    def _claim(self, place: Path, what: str) -> None:
        claim(place, self._owner, PATH, what, self.layout.storage.control)

    def _home(self, file: Mapping[str, Any]) -> str:
        # From the manifest: recovery must not follow a setting that was changed since. Old manifests have only the
        # topic.
        return str(file.get("home") or self.layout.home(file["topic"]))

    def _file(
        self, interval: IntervalKey, part: Staged, piece: StagedData, columns: Mapping[str, ColumnKinds]
    ) -> dict[str, Any]:
        topic = piece.key.topic
        wanted = _wanted(piece, columns)
        read = TopicPartition(part.topic, part.partition)
        name = self.layout.final_name(piece.key, read, part.start, part.end, part.detail["topic_id"])
        try:
            done = self._united(self.layout.staging(self._control, interval), part, piece, wanted, name)
        except DataError as error:
            raise DataError(f"topic {read.topic}, partition {read.partition}: {error}") from error
        told = {"name": name, "rows": done.rows, "topic": topic, "home": self.layout.home(topic)}
        if piece.ends is not None:
            told["ends"] = piece.ends
        return {**done.held, **told}

    def _united(self, staging: Staging, part: Staged, piece: StagedData, wanted: ColumnKinds, name: str) -> Part:
        """Return the only part, or a new one if it lacks columns or there are several."""
        first, *others = piece.parts
        if not others and dict(first.columns) == dict(wanted) and first.final in ("", name):
            return first
        place = f"{part.detail['attempt']}/{secrets.token_hex(8)}.{self.format.extension}"
        output = staging.create(place, name)
        try:
            self.format.unite(_opened(staging, piece.parts), output, wanted)
            return Part(output.finish(name), wanted, piece.rows, name)
        finally:
            output.discard()

    def _with_files(self, marker: Marker) -> Marker:
        """Return the marker of a manifest with the files it names."""
        if marker is None or marker.aborted:
            return marker
        files: Sequence[Mapping[str, Any]] = (marker.detail or {})["files"]
        address = self.layout.storage.address
        written = tuple(CommittedFile(address(f["name"]), f["rows"], f["size"]) for f in files)
        replaced = tuple(address(name) for name in (marker.detail or {}).get("replaces", ()))
        return replace(marker, files=written, replaced=replaced)

    def _each(self, items: Sequence[Item], act: Callable[[Item], None]) -> None:
        for_each(items, self.layout.storage.requests_at_once, act)

    def _check_epoch(self) -> None:
        # Before every mark: that of a driver that was suspended would stand beside a part of a later interval. Only the
        # instant after this remains. Not the interval's epoch: publishing an older driver's interval is recovery.
        if self._epoch is not None:
            self._control.check_epoch(self._epoch)

    def _open(self, folder: str) -> None:
        self._check_epoch()
        self.layout.storage.unmark(f"{folder}/{SUCCESS}")

    def _move(self, staging: Staging, file: Mapping[str, Any]) -> None:
        staging.publish(file, file["name"])

    def _close(self, folder: str) -> None:
        self._check_epoch()
        self.layout.storage.mark(f"{folder}/{SUCCESS}")


def _wanted(piece: StagedData, columns: Mapping[str, ColumnKinds]) -> ColumnKinds:
    """Return the columns of a file; those without a schema have those of their topic."""
    if piece.is_schemaless is None:
        return stored(with_shared(piece.columns, columns.get(piece.key.topic, ())))
    return stored(columns[piece.key.topic] if piece.is_schemaless else piece.columns)


def _opened(staging: Staging, parts: Sequence[Part]) -> Iterator[tuple[BinaryIO, ColumnKinds]]:
    """Return the parts one after the other, each closed before the next is opened."""
    for part in parts:
        with staging.open(part.held) as source:
            yield source, part.columns


def _union(pieces: Pieces) -> dict[str, ColumnKinds]:
    """Return the columns of each topic's schemaless rows. Raises DataError naming where they conflict."""
    columns: dict[str, ColumnKinds] = {}
    for part, piece in pieces:
        if not piece.is_schemaless:
            continue
        try:
            columns[piece.key.topic] = merge_columns(columns.get(piece.key.topic, ()), piece.columns)
        except KindConflict as conflict:
            offset = piece.found.get(conflict.field.split(".")[0].removesuffix("[]"))
            raise DataError(
                f"topic {part.topic}, partition {part.partition}, offset {offset}: {conflict} by other partitions; "
                "fix the producer, or cast the field with a transform"
            ) from conflict
    return columns

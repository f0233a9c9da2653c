"""Appends staged lines to a file exactly once: the manifest is written first."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from connect_core.api.connector import WorkerLimits
from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, IntervalKey, Staged
from connect_core.connectors.allowed_file import AllowedFile, allowed_path
from connect_core.connectors.control_folder import ControlFolder, Owner, claim, release
from connect_core.connectors.file.config import FILE
from connect_core.connectors.link_free import sync_folder
from connect_core.connectors.path_names import escaped
from connect_core.connectors.staged_file import check_visible, verify
from connect_core.errors import ConnectError

__all__ = ["FileAppender", "control_of"]

_BLOCK = 8 * 1024 * 1024
_LONGEST_NAME = 150
_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class FileAppender:
    """The committer of one file.

    The manifest gives the position of every byte in the file. Appending writes only at these positions: it is
    idempotent, whoever does it and whenever.
    """

    connector: str
    value: str
    limits: WorkerLimits
    deployment: str = ""
    _control: ControlFolder = field(init=False)
    _epoch: int | None = None

    def __post_init__(self) -> None:
        self._control = control_of(self.value, self.connector, self.limits, self.deployment)

    def fence(self, epoch: int) -> Mapping[TopicPartition, int] | None:
        """Claim the file and record the epoch. Raises ConfigError, StaleEpochError.

        While its folder is missing, an older driver has nothing to write to: its tasks fail, and the first commit
        claims the file.
        """
        if self._file().path.parent.is_dir():
            self._claim(epoch)
        return None

    def _claim(self, epoch: int) -> None:
        claim(self._owner_file, self._owner, FILE, self.value)
        self._control.raise_epoch(epoch)
        self._epoch = epoch

    def last_interval(self) -> tuple[int, int] | None:
        """Return the newest interval with a manifest in the control folder."""
        return self._control.last_interval()

    def read_marker(self, interval: IntervalKey) -> CommitMarker | None:
        """Return the marker of an interval, or ``None``."""
        return self._control.marker(interval)

    def commit(self, interval: IntervalKey, staged: Sequence[Staged]) -> CommitMarker:
        """Create the manifest: the file's start and end length, and the staged lines.

        Raises StaleEpochError, and RetriableError if the staged lines are on another machine only.
        """
        if self._epoch is None:
            self._claim(interval.epoch)
        self._control.check_epoch(interval.epoch)
        ordered = sorted(staged, key=lambda part: (part.topic, part.partition, part.start))
        lines = [
            {name: part.detail[name] for name in ("attempt", "path", "size", "sha256")}
            for part in ordered
            if "path" in part.detail
        ]
        for part in lines:
            check_visible(self._staged(interval, part), FILE, self.value)
        start = self._length()
        end = start + sum(part["size"] for part in lines)
        content = {"start_length": start, "end_length": end, "lines": lines}
        return self._control.commit(interval, ordered, content)

    def publish(self, interval: IntervalKey, marker: CommitMarker) -> None:
        """Append the lines that the manifest names. Raises StaleEpochError, ConnectError."""
        if marker.aborted or self._control.is_published(interval):
            return
        manifest = marker.detail or {}
        self._check_epoch()
        for part in manifest["lines"]:
            verify(self._staged(interval, part), part["size"], part["sha256"])
        if manifest["lines"]:
            self._append(interval, manifest)
        self._control.set_published(interval)

    def abandon(self, interval: IntervalKey, positions: Mapping[TopicPartition, int | None] | None) -> CommitMarker:
        """Create the abort manifest unless the interval has a manifest; the file contains no positions."""
        return self._control.abandon(interval, positions)

    def sweep(self, keep: Collection[IntervalKey]) -> None:
        """Remove the staged lines of finished intervals."""
        self._control.sweep(keep)

    def release(self) -> None:
        """Allow another connector to use the file; the epochs are kept and fence leftover drivers of this one."""
        release(self._owner_file, self._owner)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    @property
    def _owner(self) -> Owner:
        return Owner(self.connector, self.deployment)

    @property
    def _owner_file(self) -> Path:
        return _folder(self.value, self.limits) / "owner.json"

    def _check_epoch(self) -> None:
        # Not the interval's epoch: publishing an older driver's interval is recovery.
        if self._epoch is not None:
            self._control.check_epoch(self._epoch)

    def _length(self) -> int:
        try:
            descriptor = self._file().open(os.O_RDONLY)
        except FileNotFoundError:
            return 0
        try:
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)

    def _append(self, interval: IntervalKey, manifest: Mapping[str, Any]) -> None:
        descriptor = self._file().open(os.O_RDWR | os.O_CREAT)
        try:
            self._check_length(os.fstat(descriptor).st_size, manifest)
            place: int = manifest["start_length"]
            for part in manifest["lines"]:
                with self._staged(interval, part).open("rb") as staged:
                    while block := staged.read(_BLOCK):
                        # A driver that was suspended must not write into a file that others have truncated since.
                        self._check_epoch()
                        place += _write_at(descriptor, block, place)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync_folder(self._file().path.parent)

    def _check_length(self, length: int, manifest: Mapping[str, Any]) -> None:
        start, end = manifest["start_length"], manifest["end_length"]
        if length < start:
            raise ConnectError(
                f"{self._file().path} has {length} bytes, but lines have to be appended at byte {start}: it was "
                f"truncated or replaced meanwhile; restore its first {start} bytes (or pad it: truncate -s {start})"
            )
        if length > end:
            _LOG.warning("%s has %d bytes, %d expected: another program writes to it", self._file().path, length, end)

    def _staged(self, interval: IntervalKey, part: Mapping[str, Any]) -> Path:
        path: Path = self._control.attempt_folder(interval, part["attempt"]) / part["path"]
        return path

    def _file(self) -> AllowedFile:
        return AllowedFile.resolve(FILE, self.value, self.limits)


def control_of(value: str, connector: str, limits: WorkerLimits, deployment: str = "") -> ControlFolder:
    """Return a connector's control folder, in the hidden folder next to its file. Raises ConfigError."""
    folder, name = _folder(value, limits), escaped(connector)
    return ControlFolder(folder / "manifests" / name, folder / "staged" / name, folder / "epochs", deployment)


def _folder(value: str, limits: WorkerLimits) -> Path:
    path = AllowedFile.resolve(FILE, value, limits).path
    name = path.name
    if len(name.encode()) > _LONGEST_NAME:
        name = f"{name[: _LONGEST_NAME // 4]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    return allowed_path(FILE, str(path.parent / f".connect-{name}"), limits)


def _write_at(descriptor: int, block: bytes, place: int) -> int:
    written = 0
    while written < len(block):
        written += os.pwrite(descriptor, memoryview(block)[written:], place + written)
    return written

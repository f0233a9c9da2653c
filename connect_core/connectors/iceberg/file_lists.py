"""Data files with their metrics as text, to pass from a task to the driver: in Iceberg's own Avro form."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from io import BytesIO
from typing import Any

from pyiceberg.manifest import DataFile, ManifestEntry, ManifestEntryStatus, ManifestFile, write_manifest
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema

__all__ = ["files_of_text", "text_of_files"]

_VERSION = 2


class _Memory(BytesIO):
    """A file in memory that stays readable once it is closed."""

    content = b""

    def close(self) -> None:
        if not self.closed:
            self.content = self.getvalue()
        super().close()


class _File:
    """pyiceberg's input and output in memory."""

    location = "memory://files.avro"

    def __init__(self, content: bytes = b"") -> None:
        self._stream = _Memory(content)

    def __len__(self) -> int:
        return len(self.content)

    @property
    def content(self) -> bytes:
        return self._stream.content if self._stream.closed else self._stream.getvalue()

    def create(self, overwrite: bool = False) -> _Memory:
        return self._stream

    def open(self, seekable: bool = True) -> _Memory:
        return self._stream

    def new_input(self, location: str) -> _File:
        return self


def text_of_files(files: Iterable[DataFile], spec: PartitionSpec, schema: Schema) -> str:
    """Return data files of one partition spec as text."""
    output: Any = _File()
    with write_manifest(_VERSION, spec, schema, output, 1, "deflate") as writer:
        for file in files:
            entry = ManifestEntry.from_args(
                status=ManifestEntryStatus.ADDED,
                snapshot_id=1,
                sequence_number=None,
                file_sequence_number=None,
                data_file=file,
            )
            writer.add(entry)
    return base64.b64encode(output.content).decode()


def files_of_text(text: str, spec_id: int) -> list[DataFile]:
    """Return the data files in the result of ``text_of_files``."""
    source: Any = _File(base64.b64decode(text))
    manifest = ManifestFile.from_args(manifest_path=source.location, partition_spec_id=spec_id, sequence_number=0)
    return [entry.data_file for entry in manifest.fetch_manifest_entry(source)]

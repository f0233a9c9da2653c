"""Files within a table's folder, accessed by delta-rs's own stores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import FileSystem, PyFileSystem

__all__ = ["files_of"]


def files_of(place: str, options: Mapping[str, str]) -> FileSystem:
    """Return the file system of a folder."""
    return PyFileSystem(_Handler(place, dict(options)))


class _Handler(DeltaStorageHandler):  # type: ignore[misc]
    """Passes on bytes instead of pyarrow's buffers."""

    def open_output_stream(self, path: str, metadata: Mapping[str, str] | None = None) -> pa.PythonFile:
        return pa.PythonFile(_Output(self._handler.open_output_stream(path, metadata)), "w")


class _Output:
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, data: Any) -> int:
        return int(self._stream.write(bytes(data)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

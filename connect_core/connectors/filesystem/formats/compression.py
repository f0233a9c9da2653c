"""Compresses whole files while they are written: gzip and zstd."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa

from connect_core.api.config import ConfigDef, ConfigType, Importance, ValidString
from connect_core.connectors.filesystem.storages.storage import Output

__all__ = ["COMPRESSION", "COMPRESSION_KEYS", "ENDINGS", "compressed", "pieces_of"]

_PIECE = 1024 * 1024

COMPRESSION = "compression.type"
ENDINGS = {"none": "", "gzip": ".gz", "zstd": ".zst"}
COMPRESSION_KEYS = ConfigDef().define(
    COMPRESSION,
    ConfigType.STRING,
    "none",
    validator=ValidString.one_of(*ENDINGS),
    importance=Importance.MEDIUM,
    doc="Compression of files of the formats json, csv and raw; it is the suffix of their names, as in .json.gz.",
)


def compressed(output: Output, codec: str) -> pa.NativeFile:
    """Return a file that writes compressed bytes to ``output``; closing it writes the end of the stream."""
    sink = pa.PythonFile(output, "w")
    return sink if codec == "none" else pa.CompressedOutputStream(sink, codec)


def pieces_of(source: BinaryIO, codec: str) -> Iterator[bytes]:
    """Return the uncompressed content of a file, piece by piece."""
    file = source if codec == "none" else pa.CompressedInputStream(source, codec)
    while piece := file.read(_PIECE):
        yield piece

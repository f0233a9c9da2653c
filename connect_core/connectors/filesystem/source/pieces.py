"""Splits files into pieces, and reads these."""

from __future__ import annotations

from collections.abc import Iterator

from connect_core.api.batch import Data
from connect_core.connectors.filesystem.formats import FormatReader
from connect_core.connectors.filesystem.formats.reading import compression_of
from connect_core.connectors.filesystem.source.config import SourceSettings
from connect_core.connectors.filesystem.source.piece import Piece
from connect_core.connectors.filesystem.storages import FileEntry, SourceFiles
from connect_core.errors import DataError

__all__ = ["PIECE_BYTES", "has_rows", "pieces_of", "rows_of"]

PIECE_BYTES = 64 * 1024 * 1024
"""Size of the pieces of large files; must not change, as what was read of a file is stored by piece."""


def pieces_of(entry: FileEntry, settings: SourceSettings) -> list[Piece]:
    """Return the pieces of a file: one, unless it is large and can be read in several."""
    is_whole = settings.by_name or not settings.reader.is_split or compression_of(entry.name) is not None
    size = entry.size if is_whole else PIECE_BYTES
    return [Piece(entry, begin, min(begin + size, entry.size)) for begin in range(0, entry.size, size)]


def has_rows(files: SourceFiles, reader: FormatReader, piece: Piece) -> bool:
    """Return whether a piece has a row. Raises ConnectError for a file that cannot be read."""
    return next(rows_of(files, reader, piece, 0), None) is not None


def rows_of(files: SourceFiles, reader: FormatReader, piece: Piece, skip: int) -> Iterator[Data]:
    """Return the rows of a piece, block by block, always of the version that was listed.

    Raises FileGoneError, FileChangedError and DataError.
    """
    with files.open(piece.entry) as file:
        blocks = reader.read(file, piece.entry.name, (piece.begin, piece.end), skip)
        for block in _readable(blocks, piece.entry.name):
            if len(block):
                files.check(piece.entry)
                yield block


def _readable(blocks: Iterator[Data], name: str) -> Iterator[Data]:
    try:
        yield from blocks
    except OSError as error:
        # Errors of the operating system have a number; those for bytes that cannot be decompressed have none.
        if error.errno is not None:
            raise
        raise DataError(f"{name} is corrupt: {error}; replace or remove it") from error

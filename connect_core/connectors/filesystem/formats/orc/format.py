"""ORC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, ValidString
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.columns import ColumnKinds, Kind, kind_parts
from connect_core.connectors.filesystem.formats.format import ColumnFormat
from connect_core.connectors.filesystem.formats.orc.arrays import aligned
from connect_core.connectors.filesystem.rows import Rows
from connect_core.connectors.filesystem.storages.storage import Output
from connect_core.errors import DataError

__all__ = ["OrcFormat"]

_CODEC = "orc.codec"
_REFUSED = {
    "time32[ms]": "a time of day, for which ORC has no type",
    "decimal256": "a number of more than 38 digits, for which ORC has no type",
}


class OrcFormat(ColumnFormat):
    """Columns of ORC's own types; one stripe per write."""

    extension = "orc"
    definition = ConfigDef().define(
        _CODEC,
        ConfigType.STRING,
        "zstd",
        validator=ValidString.one_of("none", "snappy", "zlib", "lz4", "zstd"),
        importance=Importance.LOW,
        doc="Compression of ORC files.",
    )

    def setup(self, settings: AbstractConfig) -> None:
        """Read the codec."""
        codec = settings.get_string(_CODEC) or "none"
        self._codec = "uncompressed" if codec == "none" else codec

    def rows(self, batch: Batch, extras: Extras) -> Rows:
        """Return the columns. Raises DataError for a field for which ORC has no type."""
        rows = super().rows(batch, extras)
        for name, kind in rows.columns:
            _check(name, kind)
        return rows

    def open(self, output: Output, columns: ColumnKinds) -> _Writer:
        """Start a file."""
        return _Writer(output, self._codec)

    def read(self, source: BinaryIO, columns: ColumnKinds) -> Iterator[pa.RecordBatch]:
        """Return the rows of a file."""
        from pyarrow import orc

        file = orc.ORCFile(source)
        try:
            for stripe in range(file.nstripes):
                yield file.read_stripe(stripe)
        except pa.ArrowInvalid as error:
            raise DataError(
                f"columns that were found later cannot be added to the ORC data: {error}; Arrow reads no time before "
                "1677 or after 2262 of ORC: convert the field to a string with a transform or choose another format"
            ) from error

    def count(self, source: BinaryIO) -> int:
        """Return the count in the footer."""
        from pyarrow import orc

        return int(orc.ORCFile(source).nrows)


class _Writer:
    def __init__(self, output: Output, codec: str) -> None:
        # Imported lazily: few users read or write ORC.
        from pyarrow import orc

        self._writer = orc.ORCWriter(output, compression=codec)

    def write(self, table: pa.Table) -> None:
        """Append rows; columns of null type become texts, as ORC has no such type."""
        schema = pa.schema([pa.field(field.name, _typed(field.type)) for field in table.schema])
        columns = [aligned(column) for column in table.cast(schema).columns]
        self._writer.write(pa.Table.from_arrays(columns, schema=schema))

    def close(self) -> None:
        """Write the end of the file."""
        self._writer.close()

    def abandon(self) -> None:
        """Discard the file, without writing its end."""
        self._writer.is_open = False


def _typed(kind: pa.DataType) -> pa.DataType:
    return pa.string() if pa.types.is_null(kind) else kind


def _check(name: str, kind: Kind) -> None:
    for part in kind_parts(kind):
        reason = _REFUSED.get(part.partition("(")[0])
        if reason is not None:
            raise DataError(f"field {name} holds {reason}; cast it with a transform, or choose another format")

"""JSON, one line per record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

import pyarrow as pa

from connect_core.api.batch import Batch, Data, Objects
from connect_core.api.config import (
    AbstractConfig,
    CaseInsensitiveValidString,
    ConfigDef,
    ConfigType,
    Importance,
    ValidString,
)
from connect_core.connectors.filesystem.batch_rows import Extras, extra_columns, plain_columns
from connect_core.connectors.filesystem.formats.compression import (
    COMPRESSION,
    COMPRESSION_KEYS,
    ENDINGS,
    pieces_of,
)
from connect_core.connectors.filesystem.formats.json.scalars import (
    DECIMALS,
    MAPS,
    TIMES,
    scalars_of,
    with_arrays,
    with_millis,
)
from connect_core.connectors.filesystem.formats.json.values import json_bytes
from connect_core.connectors.filesystem.formats.line_reading import JsonLinesReader
from connect_core.connectors.filesystem.formats.lines import LineFormat
from connect_core.connectors.filesystem.formats.maps import Scalars, formed, pairs_to_maps, with_entries
from connect_core.connectors.filesystem.formats.plain_times import plain_type
from connect_core.connectors.filesystem.formats.reading import FormatReader
from connect_core.connectors.filesystem.rows import VALUE
from connect_core.errors import DataError

__all__ = ["JsonLinesFormat"]

_TIMES = "json.time.format"
_DECIMALS = "json.decimal.format"
_MAPS = "json.map.format"


class JsonLinesFormat(LineFormat):
    """A record's value as it is: absent fields are not written, and types may differ from line to line."""

    reader: type[FormatReader] | None = JsonLinesReader
    definition = (
        ConfigDef(COMPRESSION_KEYS)
        .define(
            _TIMES,
            ConfigType.STRING,
            TIMES[0],
            validator=ValidString.one_of(*TIMES),
            importance=Importance.LOW,
            doc="How JSON files represent Connect's Date, Time and Timestamp: iso8601 (text), or number (of days or "
            "milliseconds, as Connect's JsonConverter).",
        )
        .define(
            _DECIMALS,
            ConfigType.STRING,
            DECIMALS[0],
            validator=CaseInsensitiveValidString.one_of(*DECIMALS),
            importance=Importance.LOW,
            doc="How JSON files represent Connect's Decimal: NUMERIC (in full), or BASE64 (its unscaled bytes).",
        )
        .define(
            _MAPS,
            ConfigType.STRING,
            MAPS[0],
            validator=ValidString.one_of(*MAPS),
            importance=Importance.LOW,
            doc="How JSON files represent a map whose keys are not text: as a list of objects with key and value "
            "(schemaless: one object, named by the keys' text), or of arrays of the two, as Connect's JsonConverter.",
        )
    )
    _scalars: Scalars | None = None
    _has_numbers = False
    """Whether times are numbers."""
    _has_arrays = False
    """Whether the entries of a map whose keys are not text are arrays."""

    @property
    def extension(self) -> str:
        """``json``, with the ending of the compression."""
        return f"json{ENDINGS[self.codec]}"

    def setup(self, settings: AbstractConfig) -> None:
        """Read the compression, and the form of times and decimals."""
        self.codec = settings.get_string(COMPRESSION) or "none"
        self._has_numbers = settings.get_string(_TIMES) == "number"
        self._has_arrays = settings.get_string(_MAPS) == "arrays"
        self._scalars = scalars_of((settings.get_string(_DECIMALS) or "").upper())

    def encoded(self, batch: Batch, extras: Extras) -> pa.Array:
        """Return the values as JSON; additional columns are added to their fields. Raises DataError."""
        values = self._values(batch.value)
        more = extra_columns(batch, extras)
        if more:
            columns = [self._cells(array) for _, _, array in more]
            names = [name for name, _, _ in more]
            values = [_joined(value, names, cells) for value, *cells in zip(values, *columns, strict=True)]
        return pa.array([json_bytes(value) for value in values], pa.binary())

    def count(self, source: BinaryIO) -> int:
        """Return the number of lines: a JSON value contains no line feed."""
        return sum(piece.count(b"\n") for piece in pieces_of(source, self.codec))

    def _values(self, data: Data) -> Sequence[Any]:
        """Return the values: those with a schema as converted by Arrow, so that both lanes write the same."""
        if isinstance(data, Objects) and data.schemas[0] is None:
            values = [with_millis(value) for value in data.values] if self._has_numbers else data.values
            return [with_arrays(value) for value in values] if self._has_arrays else values
        return self._cells(plain_columns(data).array)

    def _cells(self, array: pa.Array) -> list[Any]:
        form = pairs_to_maps(with_entries(array.type), self._scalars, has_arrays=self._has_arrays)
        plain = array.cast(plain_type(array.type)) if self._has_numbers else array
        try:
            values: list[Any] = plain.to_pylist()
        except (ValueError, OverflowError) as error:
            raise DataError(f"a date or time is outside the years 1 to 9999 that JSON supports: {error}") from error
        return formed(values, form)


def _joined(value: Any, names: Sequence[str], cells: Sequence[Any]) -> dict[str, Any]:
    fields = value if isinstance(value, dict) else {VALUE: value}
    taken = next((name for name in names if name in fields), None)
    if taken is not None:
        raise DataError(f"field {taken} of the value has the name of a column requested by an include setting")
    return {**fields, **dict(zip(names, cells, strict=True))}

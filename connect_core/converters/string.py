"""StringConverter: any value as its text, text as strings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Columns, Data
from connect_core.api.config import ConfigDef, ConfigType, Importance, Width
from connect_core.api.convert import Converter, HeaderConverter
from connect_core.api.data import OPTIONAL_STRING_SCHEMA, Schema, SchemaAndValue, to_text
from connect_core.api.data.schema import LOGICAL_CLASSES
from connect_core.converters.columns import columns_of
from connect_core.converters.kind import define_kind, with_kind
from connect_core.errors import DataError
from connect_core.java.charsets import Charset, find_charset
from connect_core.java.column_text import column_text, logical_column_text

__all__ = ["StringConverter"]

ENCODING = "converter.encoding"

CONFIG = define_kind(ConfigDef()).define(
    ENCODING,
    ConfigType.STRING,
    "UTF-8",
    importance=Importance.HIGH,
    doc="Character set of the bytes in Kafka, by its Java name.",
    width=Width.MEDIUM,
    display_name="Encoding",
)


class StringConverter(Converter, HeaderConverter):
    """Text in one character set; any value is written in the form of Java's ``toString``.

    Malformed bytes become U+FFFD, characters that the set
    lacks become ``?``. Connect: ``StringConverter``.
    """

    def configure(self, configs: Mapping[str, Any], is_key: bool | None = None) -> None:
        """Apply the settings. Raise SerializationError for an unknown character set."""
        config = CONFIG.parse(with_kind(configs, is_key))
        self._charset: Charset = find_charset(config[ENCODING])

    def config(self) -> ConfigDef:
        """Return the settings of this converter."""
        return CONFIG

    def from_connect_data(self, topic: str | None, schema: Schema | None, value: Any) -> bytes | None:
        """Return the text of a value; a null is a Kafka null. Raise DataError for a value nested too deeply."""
        if value is None:
            return None
        try:
            return self._charset.encode(value if type(value) is str else to_text(value))
        except RecursionError as error:
            raise DataError(
                f"Failed to write data for topic {topic} as text: it is nested too deeply; flatten it with a transform"
            ) from error

    def to_connect_data(self, topic: str | None, value: bytes | None) -> SchemaAndValue:
        """Return the bytes as text under an optional string schema."""
        return SchemaAndValue(OPTIONAL_STRING_SCHEMA, None if value is None else self._charset.decode(value))

    def from_connect_header(
        self, topic: str | None, header_key: str, schema: Schema | None, value: Any
    ) -> bytes | None:
        """Return the text of a header's value."""
        return self.from_connect_data(topic, schema, value)

    def to_connect_header(self, topic: str | None, header_key: str, value: bytes | None) -> SchemaAndValue:
        """Return a header's bytes as text."""
        return self.to_connect_data(topic, value)

    def from_connect_batch(self, topic: pa.Array, data: Data) -> pa.Array | None:
        """Return the text of all rows of strings, numbers and booleans; only UTF-8."""
        columns = columns_of(data)
        if columns is None or not self._charset.is_utf8:
            return None
        text = _text(columns.schema, columns.array)
        return None if text is None else text.cast(pa.binary())

    def to_connect_batch(self, topic: pa.Array, values: pa.BinaryArray) -> Columns | None:
        """Return all rows as text."""
        try:
            if self._charset.is_utf8:
                return Columns(OPTIONAL_STRING_SCHEMA, values.cast(pa.string()))
        except pa.ArrowInvalid:
            pass
        decode: Callable[[bytes], str] = self._charset.decode
        texts = [None if value is None else decode(value) for value in values.to_pylist()]
        try:
            return Columns(OPTIONAL_STRING_SCHEMA, pa.array(texts, pa.string()))
        except UnicodeEncodeError:
            return None


def _text(schema: Schema | None, column: pa.Array) -> pa.Array | None:
    """Return ``to_text`` of every row, ``None`` if only records can be written; nulls stay null."""
    if pa.types.is_decimal128(column.type) or pa.types.is_temporal(column.type):
        return logical_column_text(column)
    return None if schema is not None and schema.name in LOGICAL_CLASSES else column_text(column)

"""ByteArrayConverter: bytes passed through unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Columns, Data
from connect_core.api.config import ConfigDef
from connect_core.api.convert import Converter, HeaderConverter
from connect_core.api.data import OPTIONAL_BYTES_SCHEMA, Schema, SchemaAndValue, SchemaType
from connect_core.converters.columns import columns_of
from connect_core.converters.kind import define_kind
from connect_core.errors import DataError

__all__ = ["ByteArrayConverter"]

CONFIG = define_kind(ConfigDef())


class ByteArrayConverter(Converter, HeaderConverter):
    """Passes bytes through, rejects everything else. Connect: ``ByteArrayConverter``."""

    def configure(self, configs: Mapping[str, Any], is_key: bool | None = None) -> None:
        """Do nothing: there are no settings to apply."""

    def config(self) -> ConfigDef:
        """Return the settings of this converter."""
        return CONFIG

    def from_connect_data(self, topic: str | None, schema: Schema | None, value: Any) -> bytes | None:
        """Return the bytes. Raise DataError for another schema or class."""
        if schema is not None and schema.type is not SchemaType.BYTES:
            raise DataError(f"Invalid schema type for ByteArrayConverter: {schema.type}")
        if value is not None and not isinstance(value, bytes | memoryview):
            raise DataError(f"ByteArrayConverter is not compatible with objects of type class {type(value).__name__}")
        return bytes(value) if isinstance(value, memoryview) else value

    def to_connect_data(self, topic: str | None, value: bytes | None) -> SchemaAndValue:
        """Return the bytes under an optional bytes schema."""
        return SchemaAndValue(OPTIONAL_BYTES_SCHEMA, value)

    def from_connect_header(
        self, topic: str | None, header_key: str, schema: Schema | None, value: Any
    ) -> bytes | None:
        """Return the bytes of a header's value."""
        return self.from_connect_data(topic, schema, value)

    def to_connect_header(self, topic: str | None, header_key: str, value: bytes | None) -> SchemaAndValue:
        """Return a header's bytes."""
        return self.to_connect_data(topic, value)

    def from_connect_batch(self, topic: pa.Array, data: Data) -> pa.Array | None:
        """Return the bytes of all rows."""
        columns = columns_of(data)
        if columns is None or (columns.schema is not None and columns.schema.type is not SchemaType.BYTES):
            return None
        if pa.types.is_null(columns.array.type):
            return pa.nulls(len(columns), pa.binary())
        return columns.array if pa.types.is_binary(columns.array.type) else None

    def to_connect_batch(self, topic: pa.Array, values: pa.BinaryArray) -> Columns | None:
        """Return the bytes of all rows."""
        return Columns(OPTIONAL_BYTES_SCHEMA, values)

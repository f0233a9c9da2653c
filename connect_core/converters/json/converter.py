"""JsonConverter: keys, values and headers as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Columns, Data, Objects
from connect_core.api.config import ConfigDef
from connect_core.api.convert import Converter, HeaderConverter
from connect_core.api.data import Schema, SchemaAndValue
from connect_core.converters.columns import columns_of
from connect_core.converters.json.config import CONFIG, JsonSettings
from connect_core.converters.json.read.columns import read_batch
from connect_core.converters.json.read.documents import JsonReader
from connect_core.converters.json.write.columns import ColumnWriter
from connect_core.converters.json.write.quick import quick_json
from connect_core.converters.json.write.values import JsonWriter
from connect_core.converters.kind import with_kind
from connect_core.errors import DataError

__all__ = ["JsonConverter"]

_UNWRITABLE = "Converting Kafka Connect data to byte[] failed due to serialization error: "


class JsonConverter(Converter, HeaderConverter):
    """JSON with or without a schema envelope. Connect: ``JsonConverter``."""

    def configure(self, configs: Mapping[str, Any], is_key: bool | None = None) -> None:
        """Apply the settings. Raise ConfigError, or DataError for a bad ``schema.content``."""
        self._settings = JsonSettings.of(with_kind(configs, is_key))
        settings = self._settings
        self._writer = JsonWriter(settings.numeric_decimals, settings.replace_nulls, settings.cache_size)
        self._reader = JsonReader(settings)
        self._columns = ColumnWriter(self._writer, settings.replace_nulls, settings.numeric_decimals)

    def config(self) -> ConfigDef:
        """Return the settings of this converter."""
        return CONFIG

    def from_connect_data(self, topic: str | None, schema: Schema | None, value: Any) -> bytes | None:
        """Return JSON text; a null without schema is a Kafka null."""
        if schema is None and value is None:
            return None
        try:
            if not self._settings.schemas_enabled:
                quick = quick_json(value) if schema is None else None
                return quick if quick is not None else self._writer.payload(schema, value).encode()
            prefix = self._writer.schema_text(schema)
            return f'{{"schema":{prefix},"payload":{self._writer.payload(schema, value)}}}'.encode()
        except RecursionError as error:
            raise DataError(_UNWRITABLE) from error

    def to_connect_data(self, topic: str | None, value: bytes | None) -> SchemaAndValue:
        """Return the data in JSON text; a Kafka null is a null without schema."""
        return SchemaAndValue(None, None) if value is None else self._reader.read(value)

    def from_connect_header(
        self, topic: str | None, header_key: str, schema: Schema | None, value: Any
    ) -> bytes | None:
        """Return a header's value as JSON text."""
        return self.from_connect_data(topic, schema, value)

    def to_connect_header(self, topic: str | None, header_key: str, value: bytes | None) -> SchemaAndValue:
        """Return the data in a header's JSON text."""
        return self.to_connect_data(topic, value)

    def from_connect_batch(self, topic: pa.Array, data: Data) -> pa.Array | None:
        """Return the JSON text of all rows."""
        columns = columns_of(data)
        if columns is None:
            return None
        try:
            messages = self._columns.write(columns, self._settings.schemas_enabled)
        except DataError:
            return None
        return None if messages is None else messages.cast(pa.binary())

    def to_connect_batch(self, topic: pa.Array, values: pa.BinaryArray) -> Columns | Objects | None:
        """Return the data in the JSON text of all rows."""
        return read_batch(values, self._reader)

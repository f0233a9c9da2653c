"""HoistField: wrap the key or value into a struct or map of one field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from connect_core.api.batch import Batch, Columns
from connect_core.api.config import ConfigDef, ConfigType, Importance
from connect_core.api.data import Schema, SchemaBuilder, Struct
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.transforms.support.columns import struct_array
from connect_core.transforms.support.side import KEY, VALUE, Side
from connect_core.transforms.support.structs import cached

__all__ = ["HoistField", "HoistFieldKey", "HoistFieldValue"]

FIELD = "field"

CONFIG = ConfigDef().define(
    FIELD,
    ConfigType.STRING,
    importance=Importance.MEDIUM,
    doc="Name of the one field of the new struct, or of the one entry of the new map.",
)


class HoistField(Transformation):
    """Wraps data in a Struct (with schema) or a map (without). Connect: ``HoistField``."""

    side: ClassVar[Side]

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings."""
        self._field = CONFIG.parse(configs)[FIELD]
        self._hoisted = cached(lambda schema: SchemaBuilder.struct().field(self._field, schema).build())

    def apply(self, record: Record) -> Record:
        """Wrap one record. Raise DataError for a null whose schema forbids it."""
        schema, value = self.side.schema(record), self.side.value(record)
        if schema is None:
            return self.side.changed(record, None, {self._field: value})
        hoisted = self._hoisted(schema)
        return self.side.changed(record, hoisted, Struct(hoisted).put(self._field, value))

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Wrap all rows."""
        columns = self.side.columns(batch)
        if columns is None or self._field is None:
            return None
        schema: Schema | None = None
        if columns.schema is not None:
            if columns.array.null_count and not columns.schema.optional:
                return None
            schema = self._hoisted(columns.schema)
        return self.side.with_data(batch, Columns(schema, struct_array({self._field: columns.array}, len(batch))))


class HoistFieldKey(HoistField):
    """HoistField on the record's key."""

    side = KEY


class HoistFieldValue(HoistField):
    """HoistField on the record's value."""

    side = VALUE

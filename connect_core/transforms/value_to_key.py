"""ValueToKey: build the key from fields of the value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Batch, Columns
from connect_core.api.config import ConfigDef, ConfigType, Importance, ValidList
from connect_core.api.data import Schema, SchemaBuilder, Struct
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.errors import DataError
from connect_core.transforms.support.columns import fields_of, filled, is_map, struct_array
from connect_core.transforms.support.replace_null import REPLACE_NULL_WITH_DEFAULT, define_replace_null
from connect_core.transforms.support.requirements import require_map, require_struct
from connect_core.transforms.support.side import KEY, VALUE
from connect_core.transforms.support.structs import cached, field_value

__all__ = ["ValueToKey"]

FIELDS = "fields"
PURPOSE = "copying fields from value to key"

CONFIG = define_replace_null(
    ConfigDef().define(
        FIELDS,
        ConfigType.LIST,
        validator=ValidList.any_non_duplicate_values(False, False),
        importance=Importance.HIGH,
        doc="Names of the value's fields that become the key, in order.",
    )
)


class ValueToKey(Transformation):
    """Replaces the key with fields of the value. Connect: ``ValueToKey``."""

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings."""
        config = CONFIG.parse(configs)
        self._fields: list[str] = config[FIELDS]
        self._replace_nulls: bool = config[REPLACE_NULL_WITH_DEFAULT]
        self._key_schema = cached(self._make_key_schema)

    def apply(self, record: Record) -> Record:
        """Build the key of one record. Raise DataError for a null value or a missing field of a struct."""
        if record.value_schema is None:
            value = require_map(record.value, PURPOSE)
            return KEY.changed(record, None, {name: value.get(name) for name in self._fields})
        struct = require_struct(record.value, PURPOSE)
        schema = self._key_schema(struct.schema)
        key = Struct(schema)
        for field in schema.fields:
            key.put(field, field_value(struct, field.name, self._replace_nulls))
        keyed = KEY.changed(record, schema, key)
        return keyed if struct.schema is record.value_schema else VALUE.changed(keyed, struct.schema, struct)

    def _make_key_schema(self, schema: Schema) -> Schema:
        builder = SchemaBuilder.struct()
        for name in self._fields:
            field = schema.field(name)
            if field is None:
                raise DataError(f"Field does not exist: {name}")
            builder.field(name, field.schema)
        return builder.build()

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Build the keys of all rows."""
        columns = VALUE.columns(batch)
        if columns is None or not is_map(columns) or columns.array.null_count:
            return None
        key = self._keys(columns)
        return None if key is None else replace(batch, key=key)

    def _keys(self, columns: Columns) -> Columns | None:
        fields = fields_of(columns.array)
        if columns.schema is None:
            found = {name: fields.get(name, pa.nulls(len(columns))) for name in self._fields}
            return Columns(None, struct_array(found, len(columns)))
        if any(name not in fields for name in self._fields):
            return None
        schema = self._key_schema(columns.schema)
        filled_fields = {
            field.name: filled(fields[field.name], field.schema, self._replace_nulls) for field in schema.fields
        }
        known = {name: column for name, column in filled_fields.items() if column is not None}
        return Columns(schema, struct_array(known, len(columns))) if len(known) == len(filled_fields) else None

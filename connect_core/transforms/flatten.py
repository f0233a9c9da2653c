"""Flatten: move the fields of nested structs and maps to the top level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Batch, Columns
from connect_core.api.config import ConfigDef, ConfigType, Importance
from connect_core.api.data import (
    Field,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
)
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.errors import ConnectError, DataError
from connect_core.transforms.support.columns import child, fields_of, filled, is_map, same_rows
from connect_core.transforms.support.requirements import require_map, require_struct
from connect_core.transforms.support.side import KEY, VALUE, Side
from connect_core.transforms.support.structs import cached, copy_basics

__all__ = ["Flatten", "FlattenKey", "FlattenValue"]

DELIMITER = "delimiter"
PURPOSE = "flattening"

CONFIG = ConfigDef().define(
    DELIMITER,
    ConfigType.STRING,
    ".",
    importance=Importance.MEDIUM,
    doc="Separator between the names of the levels in the new names.",
)

_LEAF_CLASSES = frozenset(
    (str, bool, int, Int8, Int16, Int32, Int64, float, Float32, Float64, bytes, memoryview, list, type(None))
)
_UNSUPPORTED_TYPES = (pa.types.is_timestamp, pa.types.is_decimal)


class Flatten(Transformation):
    """Names nested fields by their path; lists are kept as they are. Connect: ``Flatten``."""

    side: ClassVar[Side]

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings."""
        delimiter = CONFIG.parse(configs)[DELIMITER]
        self._delimiter = "null" if delimiter is None else delimiter
        self._flat = cached(self._flatten_schema)

    def apply(self, record: Record) -> Record:
        """Flatten one record; a null is kept. Raise DataError for maps in structs and structs in maps."""
        schema, value = self.side.schema(record), self.side.value(record)
        if value is None:
            return record
        if schema is None:
            flat: dict[str, Any] = {}
            self._flatten_map(require_map(value, PURPOSE), "", flat)
            return self.side.changed(record, None, flat)
        struct = require_struct(value, PURPOSE)
        flat_schema = self._flat(schema)
        updated = Struct(flat_schema)
        self._flatten_struct(struct, "", updated)
        return self.side.changed(record, flat_schema, updated)

    def _flatten_map(self, value: dict[str, Any], prefix: str, flat: dict[str, Any]) -> None:
        for key, item in value.items():
            name = self._name(prefix, key)
            if type(item) in _LEAF_CLASSES:
                flat[name] = item
            elif isinstance(item, dict):
                self._flatten_map(item, name, flat)
            elif isinstance(item, Struct):
                where = f"for record without schemas (for field {name})"
                raise DataError(f"Flatten transformation does not support class Struct {where}.")
            else:
                raise DataError(
                    f"Flatten transformation was passed a value of type class {type(item).__name__}"
                    " which is not supported by Connect's data API"
                )

    def _flatten_struct(self, value: Struct, prefix: str, flat: Struct) -> None:
        for field in value.schema.fields:
            name = self._name(prefix, field.name)
            if field.schema.type is not SchemaType.STRUCT:
                flat.put(name, value.get(field))
            else:
                nested = value.get_struct(field.name)
                if nested is not None:
                    self._flatten_struct(nested, name, flat)

    def _flatten_schema(self, schema: Schema) -> Schema:
        builder = copy_basics(schema, SchemaBuilder.struct())
        self._add_fields(builder, schema, "", schema.optional, schema.default)
        return builder.build()

    def _add_fields(
        self, builder: SchemaBuilder, schema: Schema, prefix: str, optional: bool, default: Struct | None
    ) -> None:
        for field in schema.fields:
            name = self._name(prefix, field.name)
            field_optional = optional or field.schema.optional
            field_default = _default(field, default)
            if field.schema.type is SchemaType.STRUCT:
                self._add_fields(builder, field.schema, name, field_optional, field_default)
            elif field.schema.type is SchemaType.MAP:
                raise DataError(
                    f"Flatten transformation does not support MAP for record with schemas (for field {name})."
                )
            else:
                builder.field(name, _leaf(field.schema, field_optional, field_default))

    def _name(self, prefix: str, name: str) -> str:
        return f"{prefix}{self._delimiter}{name}" if prefix else name

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Flatten all rows."""
        columns = self.side.columns(batch)
        if columns is None:
            return None
        if columns.array.null_count == len(batch):
            return batch
        if not is_map(columns):
            return None
        flat: dict[str, pa.Array] = {}
        if columns.schema is None:
            done = self._flatten_maps(columns.array, "", flat)
            return self.side.with_data(batch, same_rows(columns, None, flat)) if done else None
        return self._flatten_structs(batch, columns, columns.schema)

    def _flatten_maps(self, array: pa.StructArray, prefix: str, flat: dict[str, pa.Array]) -> bool:
        for key, column in fields_of(array).items():
            name = self._name(prefix, key)
            if not pa.types.is_struct(column.type):
                flat[name] = column
                if any(is_kind(column.type) for is_kind in _UNSUPPORTED_TYPES):
                    return False
            elif _has_nulls_among(column, array):
                # A null map becomes a field, a non-null map does not: rows would differ in their keys.
                return False
            elif not self._flatten_maps(column, name, flat):
                return False
        return True

    def _flatten_structs(self, batch: Batch, columns: Columns, schema: Schema) -> Batch | None:
        if columns.array.null_count:
            return None
        try:
            flat_schema = self._flat(schema)
        except ConnectError:
            return None
        flat: dict[str, pa.Array] = {}
        if not self._lift(columns.array, schema, "", flat):
            return None
        return self.side.with_data(batch, same_rows(columns, flat_schema, flat))

    def _lift(self, array: pa.StructArray, schema: Schema, prefix: str, flat: dict[str, pa.Array]) -> bool:
        for field in schema.fields:
            name = self._name(prefix, field.name)
            column = child(array, field.name)
            if field.schema.type is SchemaType.STRUCT:
                if not self._lift(column, field.schema, name, flat):
                    return False
                continue
            lifted = _lifted(column, field.schema, array)
            if lifted is None:
                return False
            flat[name] = lifted
        return True


class FlattenKey(Flatten):
    """Flatten on the record's key."""

    side = KEY


class FlattenValue(Flatten):
    """Flatten on the record's value."""

    side = VALUE


def _default(field: Field, parent: Struct | None) -> Any:
    if field.schema.default is not None:
        return field.schema.default
    return None if parent is None else parent.get(field)


def _leaf(schema: Schema, optional: bool, default: Any) -> Schema:
    builder = copy_basics(schema)
    if optional:
        builder.optional()
    return builder.build() if default is None else builder.default_value(default).build()


def _has_nulls_among(column: pa.Array, parent: pa.Array) -> bool:
    """Whether a column is null in a row where its parent is not."""
    return bool(column.null_count and pc.any(pc.and_(column.is_null(), parent.is_valid())).as_py())


def _lifted(column: pa.Array, schema: Schema, parent: pa.Array) -> pa.Array | None:
    """Return a leaf, with defaults in rows whose struct is not null; ``None`` if a null is not allowed there."""
    if not _has_nulls_among(column, parent):
        return column
    with_default = filled(column, schema, True)
    return None if with_default is None else pc.if_else(parent.is_valid(), with_default, column)

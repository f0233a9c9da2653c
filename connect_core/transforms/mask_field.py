"""MaskField: overwrite fields with an empty value or a replacement."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pyarrow as pa

from connect_core.api.arrow import to_arrow_array
from connect_core.api.arrow.scalars import scalar_column
from connect_core.api.batch import Batch, Columns
from connect_core.api.config import ConfigDef, ConfigType, Importance, NonEmptyString, ValidList
from connect_core.api.data import (
    BigInteger,
    Float32,
    Float64,
    Instant,
    Int8,
    Int16,
    Int32,
    Int64,
    Schema,
    SchemaType,
    Struct,
)
from connect_core.api.data.schema import LOGICAL_CLASSES
from connect_core.api.data.values import (
    convert_to_byte,
    convert_to_double,
    convert_to_float,
    convert_to_integer,
    convert_to_long,
    convert_to_short,
)
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.errors import DataError
from connect_core.transforms.support.columns import copy_fields, is_map, repeated, same_rows, struct_array
from connect_core.transforms.support.replace_null import REPLACE_NULL_WITH_DEFAULT, define_replace_null
from connect_core.transforms.support.requirements import require_map, require_struct
from connect_core.transforms.support.side import KEY, VALUE, Side
from connect_core.transforms.support.structs import copy_values

__all__ = ["MaskField", "MaskFieldKey", "MaskFieldValue"]

FIELDS = "fields"
REPLACEMENT = "replacement"
PURPOSE = "mask fields"

CONFIG = define_replace_null(
    ConfigDef()
    .define(
        FIELDS,
        ConfigType.LIST,
        validator=ValidList.any_non_duplicate_values(False, False),
        importance=Importance.HIGH,
        doc="Names of the fields to overwrite.",
    )
    .define(
        REPLACEMENT,
        ConfigType.STRING,
        None,
        validator=NonEmptyString(),
        importance=Importance.LOW,
        doc="What to write instead into strings and, read as a number, into numbers. Other types cannot be replaced. "
        "Without it, fields become 0, false, the empty text, list or map, or the start of 1970.",
    )
)


class MaskField(Transformation):
    """Overwrites fields; nulls stay null. Connect: ``MaskField``."""

    side: ClassVar[Side]

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings."""
        config = CONFIG.parse(configs)
        self._fields = config[FIELDS]
        self._replacement = config[REPLACEMENT]
        self._replace_nulls = config[REPLACE_NULL_WITH_DEFAULT]

    def apply(self, record: Record) -> Record:
        """Overwrite the fields of one record. Raise DataError for data and types that cannot be masked."""
        schema, value = self.side.schema(record), self.side.value(record)
        if schema is None:
            return self.side.changed(record, None, self._mask_map(require_map(value, PURPOSE)))
        struct = self._mask_struct(require_struct(value, PURPOSE))
        return self.side.changed(record, schema, struct)

    def _mask_map(self, value: dict[Any, Any]) -> dict[Any, Any]:
        updated = value.copy()
        for name in self._fields:
            found = value.get(name)
            updated[name] = None if found is None else self._masked(type(found))
        return updated

    def _mask_struct(self, value: Struct) -> Struct:
        updated = Struct.of_values(value.schema, copy_values(value, self._replace_nulls))
        for name in self._fields:
            field = value.schema.field(name)
            found = None if field is None else updated.values[field.index]
            if field is not None and found is not None:
                masked = self._masked(_class_under(field.schema, type(found)))
                updated.put(field, int(masked) if type(found) is int else masked)
        return updated

    def _masked(self, kind: type) -> Any:
        return _emptied(kind) if self._replacement is None else _replaced(kind, self._replacement)

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Overwrite the columns of all rows."""
        columns = self.side.columns(batch)
        if columns is None or not is_map(columns) or columns.array.null_count:
            return None
        fields = copy_fields(columns, self._replace_nulls)
        if fields is None or not all(self._mask(columns, name, fields) for name in self._fields):
            return None
        return self.side.with_data(batch, same_rows(columns, columns.schema, fields))

    def _mask(self, columns: Columns, name: str, fields: dict[str, pa.Array]) -> bool:
        column = fields.get(name)
        if column is None:
            if columns.schema is None:
                fields[name] = pa.nulls(len(columns))
        elif column.null_count < len(column):
            fields[name] = self._masked_column(columns, name, column)
            return fields[name] is not None
        return True

    def _masked_column(self, columns: Columns, name: str, column: pa.Array) -> pa.Array | None:
        field = None if columns.schema is None else columns.schema.field(name)
        kind = _class_of_column(None if field is None else field.schema, column.type)
        if kind is None:
            return None
        if kind is dict and field is None:
            return struct_array({}, len(column), column) if self._replacement is None else None
        try:
            masked = self._masked(kind)
        except DataError:
            return None
        scalar = _scalar(None if field is None else field.schema, masked, column.type)
        return None if scalar is None else repeated(scalar, column)


class MaskFieldKey(MaskField):
    """MaskField on the record's key."""

    side = KEY


class MaskFieldValue(MaskField):
    """MaskField on the record's value."""

    side = VALUE


def _emptied(kind: type) -> Any:
    make = _EMPTY.get(kind)
    if make is None:
        raise DataError(f"Cannot mask value of type: class {kind.__name__}")
    return make()


def _replaced(kind: type, replacement: str) -> Any:
    convert = _REPLACED.get(kind)
    if convert is None:
        raise DataError(f"Cannot mask value of type class {kind.__name__} with custom replacement.")
    try:
        return convert(replacement)
    except (decimal.InvalidOperation, ValueError) as error:
        raise DataError(f"Unable to convert {replacement} (class str) to number") from error


def _class_under(schema: Schema, kind: type) -> type:
    """Return the class that a plain int or float represents under a schema."""
    return _CLASSES.get(schema.type, kind) if kind is int or kind is float else kind


def _class_of_column(schema: Schema | None, type: pa.DataType) -> type | None:
    if schema is not None:
        logical = next(iter(schema.accepts)) if schema.name in _LOGICAL else None
        return logical or _CLASSES.get(schema.type)
    return next((kind for is_kind, kind in _ARROW if is_kind(type)), None)


def _scalar(schema: Schema | None, value: Any, type: pa.DataType) -> pa.Scalar | None:
    if isinstance(value, list | dict):
        return pa.scalar([], type)
    array = scalar_column([value]) if schema is None else to_arrow_array(schema, [value])
    return None if array is None or array.type != type else array[0]


_EMPTY: dict[type, Callable[[], Any]] = {
    bool: lambda: False,
    Int8: lambda: Int8(0),
    Int16: lambda: Int16(0),
    Int32: lambda: Int32(0),
    Int64: lambda: Int64(0),
    int: lambda: 0,
    Float32: lambda: Float32(0.0),
    Float64: lambda: Float64(0.0),
    float: lambda: 0.0,
    BigInteger: lambda: BigInteger(0),
    decimal.Decimal: lambda: decimal.Decimal(0),
    Instant: lambda: Instant(0),
    str: str,
    list: list,
    dict: dict,
}

_REPLACED: dict[type, Callable[[str], Any]] = {
    Int8: lambda text: convert_to_byte(None, text),
    Int16: lambda text: convert_to_short(None, text),
    Int32: lambda text: convert_to_integer(None, text),
    Int64: lambda text: convert_to_long(None, text),
    int: lambda text: convert_to_long(None, text),
    Float32: lambda text: convert_to_float(None, text),
    Float64: lambda text: convert_to_double(None, text),
    float: lambda text: convert_to_double(None, text),
    str: str,
    decimal.Decimal: decimal.Decimal,
    BigInteger: lambda text: BigInteger(int(text)),
}

_LOGICAL = {name for name in LOGICAL_CLASSES if name is not None}
_CLASSES: dict[SchemaType, type] = {
    SchemaType.INT8: Int8,
    SchemaType.INT16: Int16,
    SchemaType.INT32: Int32,
    SchemaType.INT64: Int64,
    SchemaType.FLOAT32: Float32,
    SchemaType.FLOAT64: Float64,
    SchemaType.BOOLEAN: bool,
    SchemaType.STRING: str,
    SchemaType.ARRAY: list,
    SchemaType.MAP: dict,
}
_ARROW: tuple[tuple[Callable[[pa.DataType], bool], type], ...] = (
    (pa.types.is_string, str),
    (pa.types.is_int64, Int64),
    (pa.types.is_int32, Int32),
    (pa.types.is_int16, Int16),
    (pa.types.is_int8, Int8),
    (pa.types.is_float64, Float64),
    (pa.types.is_float32, Float32),
    (pa.types.is_boolean, bool),
    (pa.types.is_timestamp, Instant),
    (pa.types.is_list, list),
    (pa.types.is_struct, dict),
)

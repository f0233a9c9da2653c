"""Converters of single numbers and booleans, big endian."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Columns, Data
from connect_core.api.config import ConfigDef
from connect_core.api.convert import Converter, HeaderConverter
from connect_core.api.data import (
    OPTIONAL_BOOLEAN_SCHEMA,
    OPTIONAL_FLOAT32_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_INT16_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    Float32,
    Float64,
    Int16,
    Int32,
    Int64,
    Schema,
    SchemaAndValue,
    SchemaType,
)
from connect_core.converters.columns import columns_of
from connect_core.converters.kind import define_kind, with_kind
from connect_core.converters.packing import pack_numbers, unpack_numbers
from connect_core.errors import ClassCastError, DataError, SerializationError
from connect_core.java.numbers import wrap

__all__ = [
    "BooleanConverter",
    "DoubleConverter",
    "FloatConverter",
    "IntegerConverter",
    "LongConverter",
    "NumberConverter",
    "ShortConverter",
]

CONFIG = define_kind(ConfigDef())


class NumberConverter(Converter, HeaderConverter):
    """One number of fixed width; the schema's type is not checked.

    A plain int or float is accepted if the schema has this type, or without a schema as
    Long or Double. Connect: ``NumberConverter``.
    """

    type_name: ClassVar[str]
    schema: ClassVar[Schema]
    kinds: ClassVar[tuple[type, ...]]
    plain: ClassVar[type]
    form: ClassVar[struct.Struct]
    arrow_type: ClassVar[pa.DataType]
    deserializer: ClassVar[str]

    def configure(self, configs: Mapping[str, Any], is_key: bool | None = None) -> None:
        """Apply the settings."""
        CONFIG.parse(with_kind(configs, is_key))

    def config(self) -> ConfigDef:
        """Return the settings of this converter."""
        return CONFIG

    def from_connect_data(self, topic: str | None, schema: Schema | None, value: Any) -> bytes | None:
        """Return the bytes of a number. Raise DataError for another class."""
        if value is None:
            return None
        if type(value) in self.kinds or (type(value) is self.plain and self._is_meant(schema)):
            try:
                return self.form.pack(value)
            except struct.error as error:
                raise DataError(f"Failed to serialize to {self.type_name}: {value} is out of range") from error
        problem = f"class {type(value).__name__} cannot be cast to {self.type_name}"
        raise DataError(
            f"Failed to serialize to {self.type_name} (was class {type(value).__name__}): "
        ) from ClassCastError(problem)

    def _is_meant(self, schema: Schema | None) -> bool:
        return schema is not None and schema.type is self.schema.type

    def to_connect_data(self, topic: str | None, value: bytes | None) -> SchemaAndValue:
        """Return the number under an optional schema. Raise DataError for another length."""
        if value is None:
            return SchemaAndValue(self.schema, None)
        if len(value) != self.form.size:
            problem = f"Size of data received by {self.deserializer} is not {self.form.size}"
            raise DataError(f"Failed to deserialize {self.type_name}: ") from SerializationError(problem)
        number = self.form.unpack(value)[0]
        return SchemaAndValue(self.schema, Float32(number) if self.kinds == (Float32,) else number)

    def from_connect_header(
        self, topic: str | None, header_key: str, schema: Schema | None, value: Any
    ) -> bytes | None:
        """Return the bytes of a header's value."""
        return self.from_connect_data(topic, schema, value)

    def to_connect_header(self, topic: str | None, header_key: str, value: bytes | None) -> SchemaAndValue:
        """Return the number in a header's bytes."""
        return self.to_connect_data(topic, value)

    def from_connect_batch(self, topic: pa.Array, data: Data) -> pa.Array | None:
        """Return the bytes of all rows."""
        columns = columns_of(data)
        if columns is None:
            return None
        array = columns.array
        if array.null_count == len(array):
            return pa.nulls(len(array), pa.binary())
        return unpack_numbers(array, self.form) if array.type == self.arrow_type else None

    def to_connect_batch(self, topic: pa.Array, values: pa.BinaryArray) -> Columns | None:
        """Return the numbers of all rows, or ``None`` if one has another length."""
        array = pack_numbers(values, self.form, self.arrow_type)
        return None if array is None else Columns(self.schema, array)


class ShortConverter(NumberConverter):
    """Two bytes. Connect: ``ShortConverter``."""

    type_name = "short"
    schema = OPTIONAL_INT16_SCHEMA
    kinds = (Int16,)
    plain = int
    form = struct.Struct(">h")
    arrow_type = pa.int16()
    deserializer = "ShortDeserializer"


class IntegerConverter(NumberConverter):
    """Four bytes. Connect: ``IntegerConverter``."""

    type_name = "integer"
    schema = OPTIONAL_INT32_SCHEMA
    kinds = (Int32,)
    plain = int
    form = struct.Struct(">i")
    arrow_type = pa.int32()
    deserializer = "IntegerDeserializer"


class LongConverter(NumberConverter):
    """Eight bytes. Connect: ``LongConverter``."""

    type_name = "long"
    schema = OPTIONAL_INT64_SCHEMA
    kinds = (Int64, int)
    plain = int
    form = struct.Struct(">q")
    arrow_type = pa.int64()
    deserializer = "LongDeserializer"


class FloatConverter(NumberConverter):
    """A binary32 number. Connect: ``FloatConverter``."""

    type_name = "float"
    schema = OPTIONAL_FLOAT32_SCHEMA
    kinds = (Float32,)
    plain = float
    form = struct.Struct(">f")
    arrow_type = pa.float32()
    deserializer = "Deserializer"


class DoubleConverter(NumberConverter):
    """A binary64 number. Connect: ``DoubleConverter``."""

    type_name = "double"
    schema = OPTIONAL_FLOAT64_SCHEMA
    kinds = (Float64, float)
    plain = float
    form = struct.Struct(">d")
    arrow_type = pa.float64()
    deserializer = "Deserializer"


class BooleanConverter(Converter, HeaderConverter):
    """One byte, 0 or 1. Connect: ``BooleanConverter``."""

    def configure(self, configs: Mapping[str, Any], is_key: bool | None = None) -> None:
        """Apply the settings."""
        CONFIG.parse(with_kind(configs, is_key))

    def config(self) -> ConfigDef:
        """Return the settings of this converter."""
        return CONFIG

    def from_connect_data(self, topic: str | None, schema: Schema | None, value: Any) -> bytes | None:
        """Return the byte of a boolean. Raise DataError for another schema or class."""
        if schema is not None and schema.type is not SchemaType.BOOLEAN:
            raise DataError(f"Invalid schema type for BooleanConverter: {schema.type}")
        if value is not None and not isinstance(value, bool):
            raise DataError(f"BooleanConverter is not compatible with objects of type class {type(value).__name__}")
        return None if value is None else _BYTES[value]

    def to_connect_data(self, topic: str | None, value: bytes | None) -> SchemaAndValue:
        """Return the boolean of a byte. Raise DataError for anything else."""
        if value is None:
            return SchemaAndValue(OPTIONAL_BOOLEAN_SCHEMA, None)
        if value not in _BYTES:
            problem = "Size of data received by BooleanDeserializer is not 1"
            if len(value) == 1:
                problem = f"Unexpected byte received by BooleanDeserializer: {wrap(value[0], 8)}"
            raise DataError("Failed to deserialize boolean: ") from SerializationError(problem)
        return SchemaAndValue(OPTIONAL_BOOLEAN_SCHEMA, value == _BYTES[True])

    def from_connect_header(
        self, topic: str | None, header_key: str, schema: Schema | None, value: Any
    ) -> bytes | None:
        """Return the byte of a header's value."""
        return self.from_connect_data(topic, schema, value)

    def to_connect_header(self, topic: str | None, header_key: str, value: bytes | None) -> SchemaAndValue:
        """Return the boolean in a header's byte."""
        return self.to_connect_data(topic, value)

    def from_connect_batch(self, topic: pa.Array, data: Data) -> pa.Array | None:
        """Return the bytes of all rows."""
        columns = columns_of(data)
        if columns is None or (columns.schema is not None and columns.schema.type is not SchemaType.BOOLEAN):
            return None
        array = columns.array
        if array.null_count == len(array):
            return pa.nulls(len(array), pa.binary())
        return unpack_numbers(array.cast(pa.int8()), _BYTE) if pa.types.is_boolean(array.type) else None

    def to_connect_batch(self, topic: pa.Array, values: pa.BinaryArray) -> Columns | None:
        """Return the booleans of all rows, or ``None`` if one is neither 0 nor 1."""
        if not pc.all(pc.is_in(values, value_set=pa.array([*_BYTES, None], pa.binary()))).as_py():
            return None
        array = pack_numbers(values, _BYTE, pa.int8())
        return None if array is None else Columns(OPTIONAL_BOOLEAN_SCHEMA, array.cast(pa.bool_()))


_BYTES = (b"\x00", b"\x01")
_BYTE = struct.Struct(">b")

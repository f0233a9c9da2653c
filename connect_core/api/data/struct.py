"""Struct: the values of a struct schema's fields, checked when they are set."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, TypeVar

from connect_core.api.data.schema import Field, Schema, SchemaType
from connect_core.api.data.validation import StructLike, normalize, validate_value
from connect_core.errors import ClassCastError, DataError
from connect_core.java.equality import hash_value, same_value
from connect_core.java.text import to_text

__all__ = ["Struct"]

Kind = TypeVar("Kind")
"""The class that a typed getter returns."""


class Struct(StructLike):
    """A row: one value per field of its schema, ``None`` until set.

    Raise DataError if the schema is not a struct's, for an unknown field and for a
    value that does not fit. ``struct[name]`` is ``get(name)``. Connect: ``Struct``.
    """

    __slots__ = ("_values",)

    def __init__(self, schema: Schema) -> None:
        if schema.type is not SchemaType.STRUCT:
            raise DataError(f"Not a struct schema: {schema}")
        self.schema = schema
        self._values: list[Any] = [None] * len(schema._fields)

    @classmethod
    def of_values(cls, schema: Schema, values: Sequence[Any]) -> Struct:
        """Return a struct of values in field order, without checking them."""
        struct = cls.__new__(cls)
        struct.schema = schema
        struct._values = list(values)
        return struct

    @property
    def values(self) -> Sequence[Any]:
        """The stored values in field order; defaults are not filled in."""
        return self._values

    def put(self, field: Field | str, value: Any) -> Struct:
        """Store a value and return the struct. Raise DataError if it does not fit."""
        if not isinstance(field, Field):
            field = self._field(field)
        schema = field.schema
        if type(value) not in schema.accepts or type(value) is float:
            value = normalize(schema, value)
            validate_value(schema, value, field.name)
        self._values[field.index] = value
        return self

    def get(self, field: Field | str) -> Any:
        """Return the value, or the schema's default if none is stored."""
        if not isinstance(field, Field):
            field = self._field(field)
        value = self._values[field.index]
        return field.schema.default if value is None else value

    def get_without_default(self, name: str) -> Any:
        """Return the stored value."""
        return self._values[self._field(name).index]

    def validate(self) -> None:
        """Raise DataError for the first field that does not fit."""
        for field, value in zip(self.schema._fields, self._values, strict=True):
            schema = field.schema
            if type(value) in schema.accepts:
                continue
            if value is None and (schema.optional or schema.default is not None):
                continue
            validate_value(schema, value, field.name)

    def get_int8(self, name: str) -> int | None:
        """Return the stored value of an INT8 field."""
        return self._typed(name, SchemaType.INT8, int)

    def get_int16(self, name: str) -> int | None:
        """Return the stored value of an INT16 field."""
        return self._typed(name, SchemaType.INT16, int)

    def get_int32(self, name: str) -> int | None:
        """Return the stored value of an INT32 field."""
        return self._typed(name, SchemaType.INT32, int)

    def get_int64(self, name: str) -> int | None:
        """Return the stored value of an INT64 field."""
        return self._typed(name, SchemaType.INT64, int)

    def get_float32(self, name: str) -> float | None:
        """Return the stored value of a FLOAT32 field."""
        return self._typed(name, SchemaType.FLOAT32, float)

    def get_float64(self, name: str) -> float | None:
        """Return the stored value of a FLOAT64 field."""
        return self._typed(name, SchemaType.FLOAT64, float)

    def get_boolean(self, name: str) -> bool | None:
        """Return the stored value of a BOOLEAN field."""
        return self._typed(name, SchemaType.BOOLEAN, bool)

    def get_string(self, name: str) -> str | None:
        """Return the stored value of a STRING field."""
        return self._typed(name, SchemaType.STRING, str)

    def get_bytes(self, name: str) -> bytes | None:
        """Return the stored value of a BYTES field; a buffer is copied to bytes."""
        value = self.get_without_default(name)
        if isinstance(value, memoryview):
            return bytes(value)
        return self._typed(name, SchemaType.BYTES, bytes)

    def get_array(self, name: str) -> list[Any] | None:
        """Return the stored value of an ARRAY field."""
        return self._typed(name, SchemaType.ARRAY, list)

    def get_map(self, name: str) -> dict[Any, Any] | None:
        """Return the stored value of a MAP field."""
        return self._typed(name, SchemaType.MAP, dict)

    def get_struct(self, name: str) -> Struct | None:
        """Return the stored value of a STRUCT field."""
        return self._typed(name, SchemaType.STRUCT, Struct)

    def _typed(self, name: str, type: SchemaType, kind: builtins.type[Kind]) -> Kind | None:
        field = self._field(name)
        if field.schema.type is not type:
            raise DataError(f"Field '{name}' is not of type {type}")
        value = self._values[field.index]
        if value is not None and not isinstance(value, kind):
            raise ClassCastError(f"Field '{name}' holds a {value.__class__.__name__}, a logical value: use get()")
        return value

    def _field(self, name: str) -> Field:
        field = self.schema._fields_by_name.get(name)
        if field is None:
            raise DataError(f"{name} is not a valid field name")
        return field

    def __getitem__(self, name: str) -> Any:
        return self.get(name)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Struct):
            return False
        return self.schema == other.schema and all(map(same_value, self._values, other._values))

    def __hash__(self) -> int:
        return hash((self.schema, hash_value(self._values)))

    def __repr__(self) -> str:
        stored = zip(self.schema._fields, self._values, strict=True)
        return f"Struct{{{','.join(f'{field.name}={to_text(v)}' for field, v in stored if v is not None)}}}"

"""Schemas, which describe values, as in Connect's ``ConnectSchema``."""

from __future__ import annotations

import builtins
import decimal
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypedDict, Unpack

from connect_core.errors import DataError
from connect_core.java.equality import hash_value, same_value
from connect_core.java.instant import Instant
from connect_core.java.numbers import Float32, Float64, Int8, Int16, Int32, Int64

__all__ = ["LOGICAL_CLASSES", "DraftSchema", "Field", "Schema", "SchemaTraits", "SchemaType", "accepted_classes"]


class SchemaType(Enum):
    """The types of Connect; ``str()`` returns Connect's name, such as ``INT8``."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    BOOLEAN = "boolean"
    STRING = "string"
    BYTES = "bytes"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"

    # Members are compared by identity; the default hash of Enum runs Python code.
    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.name

    @property
    def is_primitive(self) -> bool:
        """Whether values of the type have no parts."""
        return self not in (SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT)


LOGICAL_CLASSES: dict[str | None, frozenset[type]] = {
    "org.apache.kafka.connect.data.Decimal": frozenset((decimal.Decimal,)),
    "org.apache.kafka.connect.data.Date": frozenset((Instant,)),
    "org.apache.kafka.connect.data.Time": frozenset((Instant,)),
    "org.apache.kafka.connect.data.Timestamp": frozenset((Instant,)),
}
"""The classes of values under a logical name, regardless of the schema's type."""

_CLASSES: dict[SchemaType, frozenset[type]] = {
    SchemaType.INT8: frozenset((Int8,)),
    SchemaType.INT16: frozenset((Int16,)),
    SchemaType.INT32: frozenset((Int32,)),
    SchemaType.INT64: frozenset((Int64,)),
    SchemaType.FLOAT32: frozenset((Float32, float)),
    SchemaType.FLOAT64: frozenset((Float64, float)),
    SchemaType.BOOLEAN: frozenset((bool,)),
    SchemaType.STRING: frozenset((str,)),
    SchemaType.BYTES: frozenset((bytes, memoryview)),
}


def accepted_classes(type: SchemaType, name: str | None) -> frozenset[type]:
    """Return the exact classes whose values need no further check."""
    classes = LOGICAL_CLASSES.get(name)
    return classes if classes is not None else _CLASSES.get(type, frozenset())


@dataclass(frozen=True, slots=True)
class Field:
    """A named part of a struct; ``index`` is its position."""

    name: str
    index: int
    schema: Schema

    def __repr__(self) -> str:
        return f"Field{{name={self.name}, index={self.index}, schema={self.schema}}}"


class SchemaTraits(TypedDict, total=False):
    """The traits of a schema besides its type; see ``Schema``."""

    optional: bool
    default: Any
    name: str | None
    version: int | None
    doc: str | None
    parameters: Mapping[str, str] | None
    fields: tuple[Field, ...]
    key_schema: Schema | None
    value_schema: Schema | None


class Schema:
    """An immutable description of values; make one with ``SchemaBuilder``.

    ``accepts`` holds the exact classes of valid values (besides plain ints and
    nulls). Equality is ConnectSchema's: every trait counts. Pickling keeps all traits.
    """

    __slots__ = (
        "_fields",
        "_fields_by_name",
        "_hash",
        "_key_schema",
        "_twin",
        "_value_schema",
        "accepts",
        "default",
        "doc",
        "name",
        "optional",
        "parameters",
        "type",
        "version",
    )

    type: SchemaType
    optional: bool
    default: Any
    name: str | None
    version: int | None
    doc: str | None
    parameters: Mapping[str, str] | None
    accepts: frozenset[builtins.type]
    _fields: tuple[Field, ...]
    _fields_by_name: dict[str, Field]
    _key_schema: Schema | None
    _value_schema: Schema | None
    _hash: int | None
    _twin: Schema | None

    def __init__(self, type: SchemaType, **traits: Unpack[SchemaTraits]) -> None:
        parameters = traits.get("parameters")
        fields = tuple(traits.get("fields", ()))
        self._set(type=type, optional=traits.get("optional", False), default=traits.get("default"))
        self._set(name=traits.get("name"), version=traits.get("version"), doc=traits.get("doc"))
        self._set(parameters=None if parameters is None else dict(parameters))
        self._set(_fields=fields, _fields_by_name={field.name: field for field in fields})
        self._set(_key_schema=traits.get("key_schema"), _value_schema=traits.get("value_schema"))
        self._set(accepts=accepted_classes(type, self.name), _hash=None, _twin=None)

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Schema is immutable; use replace({name}=...)")

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of a struct. Raise DataError for another type."""
        if self.type is not SchemaType.STRUCT:
            raise DataError("Cannot list fields on non-struct type")
        return self._fields

    def field(self, name: str) -> Field | None:
        """Return a struct's field, or ``None``. Raise DataError for another type."""
        if self.type is not SchemaType.STRUCT:
            raise DataError("Cannot look up fields on non-struct type")
        return self._fields_by_name.get(name)

    @property
    def key_schema(self) -> Schema | None:
        """The schema of a map's keys. Raise DataError for another type."""
        if self.type is not SchemaType.MAP:
            raise DataError("Cannot look up key schema on non-map type")
        return self._key_schema

    @property
    def value_schema(self) -> Schema | None:
        """The schema of a map's or array's values. Raise DataError for another type."""
        if self.type is not SchemaType.MAP and self.type is not SchemaType.ARRAY:
            raise DataError("Cannot look up value schema on non-array and non-map type")
        return self._value_schema

    def replace(self, **traits: Unpack[SchemaTraits]) -> Schema:
        """Return the same schema with some traits changed; nothing is validated."""
        merged = self._traits()
        merged.update(traits)
        return Schema(self.type, **merged)

    def _traits(self) -> SchemaTraits:
        return {
            "optional": self.optional,
            "default": self.default,
            "name": self.name,
            "version": self.version,
            "doc": self.doc,
            "parameters": self.parameters,
            "fields": self._fields,
            "key_schema": self._key_schema,
            "value_schema": self._value_schema,
        }

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not Schema:
            return False
        if self._twin is other:
            return True
        if hash(self) != hash(other) or not self._equals(other):
            return False
        self._set(_twin=other)
        return True

    def _equals(self, other: Schema) -> bool:
        return (
            self._identity() == other._identity()
            and same_value(self.default, other.default)
            and self.parameters == other.parameters
        )

    def _identity(self) -> tuple[Any, ...]:
        parts = (self._fields, self._key_schema, self._value_schema)
        return (self.type, self.optional, self.name, self.version, self.doc, *parts)

    def __hash__(self) -> int:
        known = self._hash
        if known is None:
            parameters = None if self.parameters is None else frozenset(self.parameters.items())
            default = None if self.default is None else hash_value(self.default)
            known = hash((self._identity(), default, parameters))
            self._set(_hash=known)
        return known

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.type, self._traits())

    def __repr__(self) -> str:
        return f"Schema{{{self.type}}}" if self.name is None else f"Schema{{{self.name}:{self.type}}}"


class DraftSchema(Schema):
    """A schema still being built: equal only to drafts of the same ``origin``.

    The default of a struct schema is a Struct of the draft, so no two builds
    are equal and JsonConverter rejects them, as it does in Connect.
    """

    __slots__ = ("origin",)

    origin: object

    def __init__(self, type: SchemaType, origin: object, **traits: Unpack[SchemaTraits]) -> None:
        super().__init__(type, **traits)
        self._set(origin=origin)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DraftSchema) and self.origin is other.origin

    def __hash__(self) -> int:
        return id(self.origin)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_draft, (self.type, self.origin, self._traits())


def _restore_draft(type: SchemaType, origin: object, traits: SchemaTraits) -> DraftSchema:
    return DraftSchema(type, origin, **traits)


def _restore(type: SchemaType, traits: SchemaTraits) -> Schema:
    return Schema(type, **traits)

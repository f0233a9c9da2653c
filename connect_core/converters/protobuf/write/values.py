"""Connect data to Protobuf's messages. Confluent: ``ProtobufData.fromConnectData``.

A schema is compiled once into nested functions that return the arguments of the
runtime's constructors: dicts for messages, lists for repeated fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from connect_core.api.data import Schema, SchemaType, Struct
from connect_core.api.data.validation import normalize, validate_value
from connect_core.converters.protobuf.config import ProtobufSettings
from connect_core.converters.protobuf.logical import LOGICAL_WRITERS
from connect_core.converters.protobuf.names import (
    GENERALIZED_ENUM,
    PROTOBUF_ENUM,
    PROTOBUF_TYPE,
    is_enum,
    is_union,
    scrubbed,
)
from connect_core.converters.protobuf.schemas.from_connect import is_wrapped
from connect_core.errors import DataError, NumberFormatError
from connect_core.java.numbers import parse_integer

__all__ = ["Write", "Writer", "enum_numbers"]

Write: TypeAlias = Callable[[Any], Any]

_MASKS = {"uint32": 0xFFFF_FFFF, "fixed32": 0xFFFF_FFFF, "uint64": (1 << 64) - 1, "fixed64": (1 << 64) - 1}


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes values with one converter's settings."""

    settings: ProtobufSettings

    def struct(self, schema: Schema) -> Write:
        """Return the function that converts a struct to a message's fields."""
        ignore = self.settings.ignore_defaults
        steps = [
            (
                scrubbed(one.name) if self.settings.scrub_names else one.name,
                None if ignore else one.schema.default,
                self.value(one.schema),
                one.schema.type is SchemaType.STRUCT and is_union(one.schema),
            )
            for one in schema.fields
        ]

        def write(value: Any) -> dict[str, Any]:
            _check_struct(schema, value)
            found: dict[str, Any] = {}
            for item, (name, default, write, union) in zip(value.values, steps, strict=True):
                present = default if item is None else item
                if present is None:
                    continue
                if union:
                    found.update(write(present))
                else:
                    found[name] = write(present)
            return found

        return write

    def _union(self, schema: Schema) -> Write:
        ignore = self.settings.ignore_defaults
        names = [scrubbed(one.name) if self.settings.scrub_names else one.name for one in schema.fields]
        defaults = [None if ignore else one.schema.default for one in schema.fields]
        writers = [self.value(one.schema, in_oneof=True) for one in schema.fields]

        def write(value: Any) -> dict[str, Any]:
            _check_struct(schema, value)
            for place, item in enumerate(value.values):
                present = defaults[place] if item is None else item
                if present is not None:
                    return {names[place]: writers[place](present)}
            raise DataError("Cannot find non-null field")

        return write

    def value(self, schema: Schema | None, in_oneof: bool = False) -> Write:
        """Return the function that writes a value that is not null."""
        if schema is None:
            raise DataError("An array or map has no schema for its elements")
        logical = LOGICAL_WRITERS.get(schema.name or "")
        if logical is not None:
            return lambda value: logical(schema, value)
        if schema.type is SchemaType.STRUCT:
            return self._union(schema) if is_union(schema) else self.struct(schema)
        if schema.type is SchemaType.ARRAY:
            return self._array(schema)
        if schema.type is SchemaType.MAP:
            return self._map(schema)
        write = self._enum(schema) if is_enum(schema) else _scalar_writer(schema)
        if not is_enum(schema) and is_wrapped(schema, in_oneof, self.settings):
            return lambda value: {"value": write(value)}
        return write

    def _array(self, schema: Schema) -> Write:
        element = self.value(schema.value_schema)

        def write(value: Any) -> list[Any]:
            if not isinstance(value, list):
                raise _invalid(schema, value)
            if None in value:
                raise DataError("An array has a null element, which a repeated Protobuf field cannot contain")
            return list(map(element, value))

        return write

    def _map(self, schema: Schema) -> Write:
        key, item = self.value(schema.key_schema), self.value(schema.value_schema)

        def write(value: Any) -> list[dict[str, Any]]:
            if not isinstance(value, dict):
                raise _invalid(schema, value)
            entries = []
            for k, v in value.items():
                entry = {} if k is None else {"key": key(k)}
                if v is not None:
                    entry["value"] = item(v)
                entries.append(entry)
            return entries

        return write

    def _enum(self, schema: Schema) -> Write:
        if schema.type is not SchemaType.STRING:
            return _scalar_writer(schema)
        numbers = enum_numbers(schema, self.settings)

        def write(value: Any) -> int:
            found = numbers.get(value) if isinstance(value, str) else None
            if found is None:
                raise DataError(f"{str(value)[:100]!r} is not a symbol of the enum {schema.name}")
            return found

        return write


def _scalar_writer(schema: Schema) -> Write:
    """Return the function that checks a scalar, and converts it to the form that the runtime accepts."""
    classes, mask = schema.accepts, _MASKS.get((schema.parameters or {}).get(PROTOBUF_TYPE, ""))
    is_float = schema.type is SchemaType.FLOAT32

    def write(value: Any) -> Any:
        if type(value) not in classes or is_float:
            value = normalize(schema, value)
            validate_value(schema, value)
        return bytes(value) if type(value) is memoryview else value

    if mask is None or schema.type is not SchemaType.INT64:
        return write
    return lambda value: write(value) & mask


def enum_numbers(schema: Schema, settings: ProtobufSettings) -> dict[str, int]:
    """Return the numbers of an enum's symbols. Raise DataError if one is not a number."""
    prefix = (GENERALIZED_ENUM if settings.generalized_sums else PROTOBUF_ENUM) + "."
    known = schema.parameters or {}
    try:
        return {k.removeprefix(prefix): parse_integer(v, 32) for k, v in known.items() if k.startswith(prefix)}
    except NumberFormatError as error:
        raise DataError(f"The enum {schema.name} has a value that is not a number") from error


def _check_struct(schema: Schema, value: Any) -> None:
    if not isinstance(value, Struct):
        raise _invalid(schema, value)
    if value.schema is not schema and value.schema != schema:
        raise DataError("Mismatching struct schema")


def _invalid(schema: Schema, value: Any) -> DataError:
    return DataError(f"Invalid type for {schema.type}: class {type(value).__name__}")

"""Protobuf's messages to Connect data, one at a time. Confluent: ``ProtobufData.toConnectData``.

A message's descriptor and schema are compiled once into nested functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from google.protobuf.descriptor import FieldDescriptor

from connect_core.api.data import Float32, Schema, SchemaType, Struct
from connect_core.converters.protobuf.config import ProtobufSettings
from connect_core.converters.protobuf.logical import LOGICAL_READERS
from connect_core.converters.protobuf.names import WRAPPED_TYPES
from connect_core.converters.protobuf.schemas.messages import MessageSchema
from connect_core.converters.protobuf.schemas.to_connect import union_field_name
from connect_core.java.numbers import wrap

__all__ = ["Read", "Reader", "enum_names", "is_always_read", "is_unwrapped", "scalar_reader"]

Read: TypeAlias = Callable[[Any], Any]

_WRAPPED_64 = (FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads messages of one registered schema."""

    messages: MessageSchema
    settings: ProtobufSettings

    def root(self, descriptor: Any, schema: Schema) -> Read:
        """Return the function that reads whole messages of a schema."""
        if is_unwrapped(descriptor, schema):
            return _unwrapped(descriptor, schema)
        return self.struct(descriptor, schema)

    def struct(self, descriptor: Any, schema: Schema) -> Read:
        """Return the function that reads messages as structs."""
        oneofs = self.messages.oneofs(descriptor)
        if self.settings.flatten_unions:
            steps = [step for oneof in oneofs for step in self._flattened(oneof, schema)]
        else:
            steps = [self._union(oneof, schema) for oneof in oneofs]
        for one in descriptor.fields:
            if self.messages.oneof_of(one) is None:
                field = schema.field(one.name)
                assert field is not None
                steps.append((field.index, self.nullable(one, field.schema)))
        reads = [read for _, read in sorted(steps, key=lambda step: step[0])]
        return lambda message: Struct.of_values(schema, [read(message) for read in reads])

    def _union(self, oneof: Any, schema: Schema) -> tuple[int, Read]:
        field = schema.field(union_field_name(oneof, self.settings))
        assert field is not None
        union, name = field.schema, oneof.name
        reads = {one.name: (part.index, self.part(one, part.schema)) for one, part in _pairs(oneof, union)}
        size = len(union.fields)

        def read(message: Any) -> Struct | None:
            chosen = message.WhichOneof(name)
            if chosen is None:
                return None
            values: list[Any] = [None] * size
            place, read = reads[chosen]
            values[place] = read(getattr(message, chosen))
            return Struct.of_values(union, values)

        return field.index, read

    def _flattened(self, oneof: Any, schema: Schema) -> list[tuple[int, Read]]:
        pairs = _pairs(oneof, schema)
        return [(field.index, _if_set(one.name, self.part(one, field.schema))) for one, field in pairs]

    def nullable(self, one: Any, schema: Schema) -> Read:
        """Return the function that reads a field of a message, null if it is not set and has presence."""
        name, read = one.name, self.field(one, schema)
        if is_always_read(one, self.messages, self.settings):
            return lambda message: read(getattr(message, name))
        return _if_set(name, read)

    def field(self, one: Any, schema: Schema) -> Read:
        """Return the function that reads the contents of a field."""
        if self.messages.is_map(one) and schema.type is SchemaType.MAP:
            return self._map(one.message_type, schema)
        if not self.messages.facts(one).is_repeated:
            return self.part(one, schema)
        assert schema.value_schema is not None
        element = self.part(one, schema.value_schema)
        return lambda values: list(map(element, values))

    def part(self, one: Any, schema: Schema) -> Read:
        """Return the function that reads one value of a field."""
        if one.type != FieldDescriptor.TYPE_MESSAGE:
            return scalar_reader(one, schema)
        logical = LOGICAL_READERS.get(schema.name or "")
        if logical is not None:
            return lambda message: logical(schema, message)
        if is_unwrapped(one.message_type, schema):
            return _unwrapped(one.message_type, schema)
        return self.struct(one.message_type, schema)

    def _map(self, entry: Any, schema: Schema) -> Read:
        assert schema.key_schema is not None
        assert schema.value_schema is not None
        key, value = self.part(entry.fields[0], schema.key_schema), self.part(entry.fields[1], schema.value_schema)
        return lambda entries: {key(one.key): value(one.value) for one in entries}


def is_always_read(one: Any, messages: MessageSchema, settings: ProtobufSettings) -> bool:
    """Return whether a field that is not set is read as its default rather than a null."""
    facts = messages.facts(one)
    if settings.structs_for_nulls or facts.is_repeated:
        return True
    if one.type == FieldDescriptor.TYPE_MESSAGE:
        return False
    return not (facts.is_proto3_optional or (settings.optional_proto2 and facts.has_optional))


def is_unwrapped(descriptor: Any, schema: Schema) -> bool:
    """Return whether a wrapper message is read as its wrapped value."""
    return descriptor.full_name in WRAPPED_TYPES and schema.type is not SchemaType.STRUCT


def scalar_reader(one: Any, schema: Schema) -> Read:
    """Return the function that reads a number, text, enum …"""
    if one.type == FieldDescriptor.TYPE_ENUM and schema.type is SchemaType.STRING:
        names, unknown = enum_names(one.enum_type)
        return lambda number: names.get(number) or f"{unknown}{number}"
    if one.type in _WRAPPED_64:
        return lambda number: wrap(number, 64)
    if schema.type in (SchemaType.INT8, SchemaType.INT16):
        bits = 8 if schema.type is SchemaType.INT8 else 16
        return lambda number: wrap(number, bits)
    if schema.type is SchemaType.FLOAT32:
        return Float32
    return _text if schema.type is SchemaType.STRING else _same


def enum_names(enum: Any) -> tuple[dict[int, str], str]:
    """Return the names of an enum's numbers, the first one if several, and the prefix for unknown numbers."""
    names: dict[int, str] = {}
    for value in enum.values:
        names.setdefault(value.number, value.name)
    return names, f"UNKNOWN_ENUM_VALUE_{enum.name}_"


def _unwrapped(descriptor: Any, schema: Schema) -> Read:
    read = scalar_reader(descriptor.fields[0], schema)
    return lambda message: read(message.value)


def _pairs(oneof: Any, schema: Schema) -> list[tuple[Any, Any]]:
    return [(one, schema.field(one.name)) for one in oneof.fields]


def _if_set(name: str, read: Read) -> Read:
    return lambda message: read(getattr(message, name)) if message.HasField(name) else None


def _text(value: Any) -> Any:
    # proto2 texts are not validated when parsed: those that are not UTF-8 are returned as bytes.
    return value.decode("utf-8", "replace") if type(value) is bytes else value


def _same(value: Any) -> Any:
    return value

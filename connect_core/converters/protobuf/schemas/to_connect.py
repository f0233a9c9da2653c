"""Protobuf's messages to Connect's schemas. Confluent: ``ProtobufData.toConnectSchema``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from connect_core.api.data import Date, Decimal, Schema, SchemaBuilder, SchemaType, Time, Timestamp
from connect_core.converters.protobuf.config import ProtobufSettings
from connect_core.converters.protobuf.names import (
    DECIMAL,
    GENERALIZED_ENUM,
    GENERALIZED_UNION,
    PROTOBUF_ENUM,
    PROTOBUF_TAG,
    PROTOBUF_TYPE,
    PROTOBUF_UNION,
    PROTOBUF_WRAPPER,
    WRAPPED_TYPES,
    map_field_name,
)
from connect_core.converters.protobuf.schemas.messages import MessageSchema
from connect_core.errors import DataError, NumberFormatError
from connect_core.java.numbers import parse_integer

__all__ = ["to_connect_schema", "union_field_name"]

_MOST_PARTS = 100_000
"""Most fields of a message with all nested messages expanded: small texts can represent enormous schemas."""

_INT32 = (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SFIXED32)
_INT64 = (
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_FIXED32,
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_SINT64,
    FieldDescriptor.TYPE_FIXED64,
    FieldDescriptor.TYPE_SFIXED64,
)
_SCALARS: dict[int, SchemaType] = {
    **dict.fromkeys(_INT32, SchemaType.INT32),
    **dict.fromkeys(_INT64, SchemaType.INT64),
    FieldDescriptor.TYPE_FLOAT: SchemaType.FLOAT32,
    FieldDescriptor.TYPE_DOUBLE: SchemaType.FLOAT64,
    FieldDescriptor.TYPE_BOOL: SchemaType.BOOLEAN,
    FieldDescriptor.TYPE_STRING: SchemaType.STRING,
    FieldDescriptor.TYPE_BYTES: SchemaType.BYTES,
}
_TYPE_NAMES: dict[int, str] = {
    FieldDescriptor.TYPE_SINT32: "sint32",
    FieldDescriptor.TYPE_SFIXED32: "sfixed32",
    FieldDescriptor.TYPE_UINT32: "uint32",
    FieldDescriptor.TYPE_FIXED32: "fixed32",
    FieldDescriptor.TYPE_UINT64: "uint64",
    FieldDescriptor.TYPE_SINT64: "sint64",
    FieldDescriptor.TYPE_FIXED64: "fixed64",
    FieldDescriptor.TYPE_SFIXED64: "sfixed64",
}
"""Types that share a Connect type with another one."""

_SMALL = {"int8": SchemaType.INT8, "int16": SchemaType.INT16}
_LOGICAL: dict[str, Callable[[], SchemaBuilder]] = {
    "google.type.Date": Date.builder,
    "google.type.TimeOfDay": Time.builder,
    "google.protobuf.Timestamp": Timestamp.builder,
}


def to_connect_schema(
    messages: MessageSchema, descriptor: Any, version: int | None, settings: ProtobufSettings
) -> Schema:
    """Return the schema of a message. Raise DataError for a schema that Connect cannot express, and for recursion."""
    conversion = _Conversion(messages, settings)
    wrapped = WRAPPED_TYPES.get(descriptor.full_name) if settings.unwrap_root else None
    try:
        builder = conversion.message(descriptor) if wrapped is None else SchemaBuilder(wrapped)
    except RecursionError as error:
        raise DataError(f"The Protobuf message {descriptor.full_name} is nested too deeply") from error
    return builder.version(version).build()


def union_field_name(oneof: Any, settings: ProtobufSettings) -> str:
    """Return the name of the field that represents a oneof."""
    return f"{oneof.name}_{oneof.index}" if settings.index_unions else str(oneof.name)


@dataclass(slots=True)
class _Conversion:
    messages: MessageSchema
    settings: ProtobufSettings
    active: list[str] = field(default_factory=list)
    known: dict[str, tuple[Schema, int]] = field(default_factory=dict)
    """Messages converted already, with the number of their parts."""
    parts: int = 0

    def message(self, descriptor: Any) -> SchemaBuilder:
        name = descriptor.full_name
        if name in self.active:
            path = " > ".join([*self.active[self.active.index(name) :], name])
            raise DataError(f"The Protobuf message {name} is recursive ({path[:300]}): Connect has no such schema")
        known = self.known.get(name)
        if known is not None:
            self._count(known[1])
            return _builder_of(known[0])
        self.active.append(name)
        before = self.parts
        builder = SchemaBuilder.struct().name(name if self.settings.full_names else descriptor.name)
        for oneof in self.messages.oneofs(descriptor):
            self._oneof(builder, oneof)
        for one in descriptor.fields:
            if self.messages.oneof_of(one) is None:
                builder.field(one.name, self.field(one))
        self.active.pop()
        self.known[name] = builder.build(), self.parts - before
        return builder

    def _count(self, parts: int) -> None:
        self.parts += parts
        if self.parts > _MOST_PARTS:
            raise DataError(f"A Protobuf message has more than {_MOST_PARTS} fields, with all nested messages expanded")

    def _oneof(self, builder: SchemaBuilder, oneof: Any) -> None:
        if self.settings.flatten_unions:
            for one in oneof.fields:
                builder.field(one.name, self.field(one, in_oneof=True))
            return
        union = SchemaBuilder.struct().optional()
        if self.settings.generalized_sums:
            union.name(oneof.name).parameter(GENERALIZED_UNION, oneof.name)
        else:
            union.name(f"{PROTOBUF_UNION}.{oneof.full_name if self.settings.full_names else oneof.name}")
        for one in oneof.fields:
            union.field(one.name, self.field(one, in_oneof=True))
        builder.field(union_field_name(oneof, self.settings), union)

    def field(self, one: Any, in_oneof: bool = False) -> Schema:
        self._count(1)
        builder = self._present(one)
        if self.messages.facts(one).is_repeated and builder.draft.type is not SchemaType.MAP:
            builder = SchemaBuilder.array(_optional(builder)).optional()
        if in_oneof:
            _make_optional(builder)
            if self.settings.wrapper_nullables and _is_wrapper(one):
                builder.parameter(PROTOBUF_WRAPPER, "true")
        elif self.settings.optional_nullables:
            if self.messages.facts(one).has_optional:
                _make_optional(builder)
        elif not self.settings.wrapper_nullables:
            _make_optional(builder)
        return builder.parameter(PROTOBUF_TAG, str(one.number)).build()

    def _present(self, one: Any) -> SchemaBuilder:
        if one.type == FieldDescriptor.TYPE_ENUM:
            return self._enum(one)
        if one.type == FieldDescriptor.TYPE_MESSAGE:
            return _make_optional(self._message_field(one))
        type = _SCALARS.get(one.type)
        if type is None:
            raise DataError(f"The Protobuf field {one.full_name} is a group, for which Connect has no schema")
        small = _SMALL.get(self.messages.facts(one).parameters.get("connect.type", ""))
        if type is SchemaType.INT32 and small is not None:
            return SchemaBuilder(small)
        builder = SchemaBuilder(type)
        return builder.parameter(PROTOBUF_TYPE, _TYPE_NAMES[one.type]) if one.type in _TYPE_NAMES else builder

    def _enum(self, one: Any) -> SchemaBuilder:
        enum = one.enum_type
        builder = SchemaBuilder.int32() if self.settings.int_enums else SchemaBuilder.string()
        name = GENERALIZED_ENUM if self.settings.generalized_sums else PROTOBUF_ENUM
        builder.name(enum.full_name if self.settings.full_names else enum.name).parameter(name, enum.name)
        self._count(len(enum.values))
        for value in enum.values:
            builder.parameter(f"{name}.{value.name}", str(value.number))
        return builder.optional()

    def _message_field(self, one: Any) -> SchemaBuilder:
        name = one.message_type.full_name
        if name == DECIMAL:
            return self._decimal(one)
        logical = _LOGICAL.get(name)
        if logical is not None:
            return logical()
        if name == "confluent.type.Variant":
            raise DataError(f"The Protobuf field {one.full_name} is a Variant, which is not supported")
        if self.settings.wrapper_nullables and name in WRAPPED_TYPES:
            return SchemaBuilder(WRAPPED_TYPES[name])
        return self._map(one) if self.messages.is_map(one) else self.message(one.message_type)

    def _decimal(self, one: Any) -> SchemaBuilder:
        parameters = self.messages.facts(one).parameters
        precision = _integer(parameters.get("precision"))
        builder = Decimal.builder(_integer(parameters.get("scale")) or 0)
        return builder if precision is None else builder.parameter("connect.decimal.precision", str(precision))

    def _map(self, one: Any) -> SchemaBuilder:
        entry = one.message_type
        key, value = (self.field(part) for part in entry.fields)
        return SchemaBuilder.map(key, value).name(
            map_field_name(entry.full_name if self.settings.full_names else entry.name)
        )


def _is_wrapper(one: Any) -> bool:
    return one.type == FieldDescriptor.TYPE_MESSAGE and one.message_type.full_name in WRAPPED_TYPES


def _make_optional(builder: SchemaBuilder) -> SchemaBuilder:
    return builder if builder.draft.optional else builder.optional()


def _optional(builder: SchemaBuilder) -> Schema:
    return _make_optional(builder).build()


def _builder_of(schema: Schema) -> SchemaBuilder:
    builder = SchemaBuilder.struct().name(schema.name)
    for one in schema.fields:
        builder.field(one.name, one.schema)
    return builder


def _integer(text: str | None) -> int | None:
    try:
        return None if text is None else parse_integer(text, 32)
    except NumberFormatError:
        return None

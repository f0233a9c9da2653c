"""Connect's schema to the definition of a Protobuf message. Confluent: ``ProtobufData.fromConnectSchema``."""

from __future__ import annotations

from dataclasses import dataclass, field

from connect_core.api.data import Date, Decimal, Schema, SchemaType, Time, Timestamp
from connect_core.converters.protobuf.config import ProtobufSettings
from connect_core.converters.protobuf.names import (
    DECIMAL,
    DEFAULT_NAME,
    GENERALIZED_ENUM,
    GENERALIZED_UNION,
    PROTOBUF_ENUM,
    PROTOBUF_TAG,
    PROTOBUF_TYPE,
    PROTOBUF_UNION,
    PROTOBUF_WRAPPER,
    is_enum,
    is_union,
    map_entry_name,
    scrubbed,
)
from connect_core.errors import DataError, NumberFormatError
from connect_core.java.hash_order import in_hash_order
from connect_core.java.numbers import parse_integer

__all__ = ["EnumDefinition", "FieldDefinition", "FileDefinition", "MessageDefinition", "define_file", "is_wrapped"]

_FILES = {
    DECIMAL: "confluent/type/decimal.proto",
    "google.type.Date": "google/type/date.proto",
    "google.type.TimeOfDay": "google/type/timeofday.proto",
    "google.protobuf.Timestamp": "google/protobuf/timestamp.proto",
}
_LOGICAL = {
    Decimal.LOGICAL_NAME: DECIMAL,
    Date.LOGICAL_NAME: "google.type.Date",
    Time.LOGICAL_NAME: "google.type.TimeOfDay",
    Timestamp.LOGICAL_NAME: "google.protobuf.Timestamp",
}
_SCALARS = {
    SchemaType.INT8: ("int32", "Int32Value"),
    SchemaType.INT16: ("int32", "Int32Value"),
    SchemaType.INT32: ("int32", "Int32Value"),
    SchemaType.INT64: ("int64", "Int64Value"),
    SchemaType.FLOAT32: ("float", "FloatValue"),
    SchemaType.FLOAT64: ("double", "DoubleValue"),
    SchemaType.BOOLEAN: ("bool", "BoolValue"),
    SchemaType.STRING: ("string", "StringValue"),
    SchemaType.BYTES: ("bytes", "BytesValue"),
}
_UNSIGNED = {"uint32": "UInt32Value", "fixed32": "UInt32Value", "uint64": "UInt64Value", "fixed64": "UInt64Value"}
_TYPES = {
    SchemaType.INT32: ("sint32", "sfixed32"),
    SchemaType.INT64: ("uint32", "fixed32", "uint64", "sint64", "fixed64", "sfixed64"),
}
"""The valid values of the parameter Type."""


@dataclass(slots=True)
class FieldDefinition:
    """A field: ``oneof`` is the name of its oneof, if any; parameters are those of ``confluent.field_meta``."""

    name: str
    number: int
    type: str
    label: str = ""
    oneof: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class EnumDefinition:
    """An enum, with the numbers of its values."""

    name: str
    values: list[tuple[str, int]]


@dataclass(slots=True)
class MessageDefinition:
    """A message with its nested declarations."""

    name: str
    fields: list[FieldDefinition] = field(default_factory=list)
    oneofs: list[str] = field(default_factory=list)
    messages: list[MessageDefinition] = field(default_factory=list)
    enums: list[EnumDefinition] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    """Names of nested messages that are not defined again."""


@dataclass(slots=True)
class FileDefinition:
    """A file with one message."""

    package: str
    message: MessageDefinition
    imports: list[str]


def define_file(schema: Schema, settings: ProtobufSettings) -> FileDefinition:
    """Return the file of a struct's schema. Raise DataError for a schema that Protobuf cannot express."""
    definition = _Definition(settings)
    try:
        *parts, name = map(definition.scrub, definition.name_or_default(schema.name).split("."))
        message = definition.message(name, schema)
    except RecursionError as error:
        raise DataError("A schema is nested too deeply for Protobuf") from error
    return FileDefinition(".".join(parts), message, definition.imports)


def is_wrapped(schema: Schema, in_oneof: bool, settings: ProtobufSettings) -> bool:
    """Return whether a scalar is written as a wrapper message, which is absent for a null."""
    if not (settings.wrapper_nullables and schema.optional):
        return False
    # A oneof itself shows that a member is not set; only members that were wrappers are written as such.
    return not in_oneof or (schema.parameters or {}).get(PROTOBUF_WRAPPER, "").lower() == "true"


@dataclass(slots=True)
class _Definition:
    settings: ProtobufSettings
    imports: list[str] = field(default_factory=list)
    defaults: int = 0

    def name_or_default(self, name: str | None) -> str:
        if name:
            return name
        self.defaults += 1
        return f"{DEFAULT_NAME}{self.defaults}"

    def scrub(self, name: str) -> str:
        return scrubbed(name) if self.settings.scrub_names else name

    def unqualified(self, name: str | None) -> str:
        return self.scrub(self.name_or_default(name).rpartition(".")[2])

    def message(self, name: str, schema: Schema) -> MessageDefinition:
        found = MessageDefinition(name)
        number = 1
        for one in schema.fields:
            tag = (one.schema.parameters or {}).get(PROTOBUF_TAG)
            self._field(found, one.schema, self.scrub(one.name), number if tag is None else _number(tag, one.name))
            number += tag is None
        return found

    def _field(
        self, message: MessageDefinition, schema: Schema, name: str, number: int, oneof: str | None = None
    ) -> None:
        label = self._label(schema)
        if schema.type is SchemaType.ARRAY:
            if schema.value_schema is None or schema.value_schema.type is SchemaType.ARRAY:
                raise DataError(f"Array cannot be nested: Protobuf has no type for field {name[:100]}")
            schema = schema.value_schema
        if schema.type is SchemaType.STRUCT and is_union(schema):
            self._oneof(message, schema)
            return
        parameters: dict[str, str] = {}
        type = self._type(schema, name, parameters, oneof is not None)
        self._nested(message, schema, type)
        message.fields.append(FieldDefinition(name, number, type, label, oneof, parameters))

    def _label(self, schema: Schema) -> str:
        if schema.type in (SchemaType.ARRAY, SchemaType.MAP):
            return "repeated"
        return "optional" if self.settings.optional_nullables and schema.optional else ""

    def _oneof(self, message: MessageDefinition, schema: Schema) -> None:
        if self.settings.generalized_sums:
            name = (schema.parameters or {}).get(GENERALIZED_UNION, "")
        else:
            name = self.unqualified((schema.name or "").removeprefix(f"{PROTOBUF_UNION}."))
        message.oneofs.append(name)
        for one in schema.fields:
            tag = (one.schema.parameters or {}).get(PROTOBUF_TAG)
            if tag is None:
                raise DataError(f"The union field {one.name[:100]} has no parameter {PROTOBUF_TAG}, its field number")
            self._field(message, one.schema, self.scrub(one.name), _number(tag, one.name), name)

    def _type(self, schema: Schema, name: str, parameters: dict[str, str], in_oneof: bool) -> str:
        logical = _LOGICAL.get(schema.name or "")
        if logical is not None:
            if logical == DECIMAL:
                parameters.update(_decimal_parameters(schema))
            self._import(_FILES[logical])
            return logical
        if schema.type is SchemaType.MAP:
            return map_entry_name(self.unqualified(schema.name))
        if schema.type is SchemaType.STRUCT:
            found = self.unqualified(schema.name)
            return f"{found}Message" if found == name else found
        if is_enum(schema):
            known = schema.parameters or {}
            return known.get(GENERALIZED_ENUM) or known.get(PROTOBUF_ENUM) or self.unqualified(schema.name)
        if schema.type in (SchemaType.INT8, SchemaType.INT16):
            parameters["connect.type"] = schema.type.value
        return self._scalar(schema, in_oneof)

    def _scalar(self, schema: Schema, in_oneof: bool) -> str:
        plain, wrapper = _SCALARS[schema.type]
        own = (schema.parameters or {}).get(PROTOBUF_TYPE)
        if own in _TYPES.get(schema.type, ()):
            plain, wrapper = str(own), _UNSIGNED.get(str(own), wrapper)
        if not is_wrapped(schema, in_oneof, self.settings):
            return plain
        self._import("google/protobuf/wrappers.proto")
        return f"google.protobuf.{wrapper}"

    def _nested(self, message: MessageDefinition, schema: Schema, type: str) -> None:
        if schema.name in _LOGICAL:
            return
        if schema.type is SchemaType.STRUCT:
            if type != message.name and type not in message.used:
                message.used.add(type)
                message.messages.append(self.message(type, schema))
        elif schema.type is SchemaType.MAP:
            message.messages.append(self._entry(type, schema))
        elif is_enum(schema) and all(one.name != type for one in message.enums):
            message.enums.append(EnumDefinition(type, self._values(schema)))

    def _entry(self, name: str, schema: Schema) -> MessageDefinition:
        if schema.key_schema is None or schema.value_schema is None:
            raise DataError(f"A map has no schema for its keys or values: {name}")
        entry = MessageDefinition(name)
        self._field(entry, schema.key_schema, "key", 1)
        self._field(entry, schema.value_schema, "value", 2)
        return entry

    def _values(self, schema: Schema) -> list[tuple[str, int]]:
        prefix = (GENERALIZED_ENUM if self.settings.generalized_sums else PROTOBUF_ENUM) + "."
        known = schema.parameters or {}
        return [(k.removeprefix(prefix), _number(v, k)) for k, v in known.items() if k.startswith(prefix)]

    def _import(self, file: str) -> None:
        if file not in self.imports:
            self.imports.append(file)


def _decimal_parameters(schema: Schema) -> dict[str, str]:
    known = schema.parameters or {}
    keys = {"precision": "connect.decimal.precision", "scale": Decimal.SCALE_FIELD}
    return {name: known[keys[name]] for name in in_hash_order(keys) if keys[name] in known}


def _number(text: str, name: str) -> int:
    try:
        return parse_integer(text, 32)
    except NumberFormatError as error:
        raise DataError(f"The Protobuf number of {name[:100]} is not a number: {text[:100]!r}") from error

"""Definitions as descriptors, without a compiler; they are used to write messages."""

from __future__ import annotations

from functools import cache

from google.protobuf import descriptor_pb2, timestamp_pb2, wrappers_pb2

from connect_core.converters.protobuf.schemas.compiler import ROOT
from connect_core.converters.protobuf.schemas.from_connect import (
    EnumDefinition,
    FieldDefinition,
    FileDefinition,
    MessageDefinition,
)
from connect_core.converters.protobuf.schemas.messages import MessageSchema

__all__ = ["described", "wrapper_messages"]

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "double": _Field.TYPE_DOUBLE,
    "float": _Field.TYPE_FLOAT,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "uint32": _Field.TYPE_UINT32,
    "uint64": _Field.TYPE_UINT64,
    "sint32": _Field.TYPE_SINT32,
    "sint64": _Field.TYPE_SINT64,
    "fixed32": _Field.TYPE_FIXED32,
    "fixed64": _Field.TYPE_FIXED64,
    "sfixed32": _Field.TYPE_SFIXED32,
    "sfixed64": _Field.TYPE_SFIXED64,
    "bool": _Field.TYPE_BOOL,
    "string": _Field.TYPE_STRING,
    "bytes": _Field.TYPE_BYTES,
}
_LABELS = {"": _Field.LABEL_OPTIONAL, "optional": _Field.LABEL_OPTIONAL, "repeated": _Field.LABEL_REPEATED}
_IMPORTS: dict[str, tuple[str, str, tuple[tuple[str, int], ...]]] = {
    "google/type/date.proto": ("google.type", "Date", (("year", 5), ("month", 5), ("day", 5))),
    "google/type/timeofday.proto": (
        "google.type",
        "TimeOfDay",
        (("hours", 5), ("minutes", 5), ("seconds", 5), ("nanos", 5)),
    ),
    "confluent/type/decimal.proto": ("confluent.type", "Decimal", (("value", 12), ("precision", 13), ("scale", 5))),
}
"""Imported messages with their fields: names and types in the order of their numbers."""


def described(file: FileDefinition) -> MessageSchema:
    """Return the messages of a definition. Raise DataError if a name or number is invalid."""
    files = descriptor_pb2.FileDescriptorSet()
    for name in file.imports:
        files.file.append(_imported(name))
    root = files.file.add(name=ROOT, package=file.package, syntax="proto3", dependency=file.imports)
    root.message_type.append(_message(file.message))
    return MessageSchema(files)


@cache
def wrapper_messages() -> MessageSchema:
    """Return Google's wrapper messages."""
    files = descriptor_pb2.FileDescriptorSet()
    wrappers_pb2.DESCRIPTOR.CopyToProto(files.file.add())
    return MessageSchema(files, wrappers_pb2.DESCRIPTOR.name)


def _imported(name: str) -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto()
    own = {"google/protobuf/timestamp.proto": timestamp_pb2, "google/protobuf/wrappers.proto": wrappers_pb2}.get(name)
    if own is not None:
        own.DESCRIPTOR.CopyToProto(file)
        return file
    package, message, fields = _IMPORTS[name]
    file.name, file.package, file.syntax = name, package, "proto3"
    found = file.message_type.add(name=message)
    for number, (field, type) in enumerate(fields, 1):
        found.field.add(name=field, number=number, type=type, label=_Field.LABEL_OPTIONAL)
    return file


def _message(message: MessageDefinition) -> descriptor_pb2.DescriptorProto:
    found = descriptor_pb2.DescriptorProto(name=message.name)
    # The oneofs that exist only for optional fields come after the others.
    oneofs = [*message.oneofs, *(f"_{one.name}" for one in message.fields if _is_optional(one))]
    for name in oneofs:
        found.oneof_decl.add(name=name)
    nested = {one.name for one in message.enums}
    for one in message.fields:
        field = found.field.add(name=one.name, number=one.number, label=_LABELS[one.label if one.oneof is None else ""])
        _set_type(field, one, nested)
        if one.oneof is not None:
            field.oneof_index = oneofs.index(one.oneof)
        elif _is_optional(one):
            field.oneof_index, field.proto3_optional = oneofs.index(f"_{one.name}"), True
    found.nested_type.extend(map(_message, message.messages))
    found.enum_type.extend(map(_enum, message.enums))
    return found


def _set_type(field: descriptor_pb2.FieldDescriptorProto, one: FieldDefinition, enums: set[str]) -> None:
    scalar = _SCALARS.get(one.type)
    if scalar is not None:
        field.type = scalar
    else:
        field.type = _Field.TYPE_ENUM if one.type in enums else _Field.TYPE_MESSAGE
        field.type_name = one.type


def _enum(enum: EnumDefinition) -> descriptor_pb2.EnumDescriptorProto:
    found = descriptor_pb2.EnumDescriptorProto(name=enum.name)
    for name, number in enum.values:
        found.value.add(name=name, number=number)
    return found


def _is_optional(one: FieldDefinition) -> bool:
    return one.label == "optional" and one.oneof is None

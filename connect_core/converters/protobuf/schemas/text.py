"""Definitions as .proto text, exactly as Confluent's converter registers them."""

from __future__ import annotations

from collections.abc import Iterable

from connect_core.converters.protobuf.schemas.from_connect import (
    EnumDefinition,
    FieldDefinition,
    FileDefinition,
    MessageDefinition,
)

__all__ = ["WRAPPERS_TEXT", "proto_text"]

_ESCAPES = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        "'": "\\'",
        '"': '\\"',
    }
)
_VALUE_FIRST = ("precision", "scale")
"""Parameters whose value is written before their key."""


def proto_text(file: FileDefinition) -> str:
    """Return a file's text."""
    text = 'syntax = "proto3";\n'
    if file.package:
        text += f"package {file.package};\n"
    if file.imports:
        text += "\n" + "".join(f'import "{name}";\n' for name in file.imports)
    return f"{text}\n{_message(file.message)}"


def _message(message: MessageDefinition) -> str:
    alone = [_field(one) for one in message.fields if one.oneof is None]
    oneofs = [(name, [_field(one) for one in message.fields if one.oneof == name]) for name in message.oneofs]
    groups = [
        alone,
        [f"oneof {name} {{\n{_indented(fields)}}}\n" for name, fields in oneofs if fields],
        [*map(_message, message.messages), *map(_enum, message.enums)],
    ]
    body = "".join(f"\n{_indented(group)}" for group in groups if group)
    return f"message {message.name} {{{body}}}\n"


def _enum(enum: EnumDefinition) -> str:
    values = [f"{name} = {number};\n" for name, number in enum.values]
    body = f"\n{_indented(values)}" if values else ""
    return f"enum {enum.name} {{{body}}}\n"


def _field(one: FieldDefinition) -> str:
    label = f"{one.label} " if one.label and one.oneof is None else ""
    return f"{label}{one.type} {one.name} = {one.number}{_meta(one.parameters)};\n"


def _meta(parameters: dict[str, str]) -> str:
    if not parameters:
        return ""
    entries = ",\n".join(f"    {{\n{_parameter(name, value)}    }}" for name, value in parameters.items())
    return f" [(confluent.field_meta) = {{\n  params: [\n{entries}\n  ]\n}}]"


def _parameter(name: str, value: str) -> str:
    key, text = f'key: "{name.translate(_ESCAPES)}"', f'value: "{value.translate(_ESCAPES)}"'
    first, second = (text, key) if name in _VALUE_FIRST else (key, text)
    return f"      {first},\n      {second}\n"


def _indented(texts: Iterable[str]) -> str:
    # Empty lines are indented, too, as in Confluent's texts.
    lines = "".join(texts).rstrip("\n").split("\n")
    return "".join(f"  {line}\n" for line in lines)


_WRAPPERS = (
    ("DoubleValue", "double"),
    ("FloatValue", "float"),
    ("Int64Value", "int64"),
    ("UInt64Value", "uint64"),
    ("Int32Value", "int32"),
    ("UInt32Value", "uint32"),
    ("BoolValue", "bool"),
    ("StringValue", "string"),
    ("BytesValue", "bytes"),
)
WRAPPERS_TEXT = (
    'syntax = "proto3";\n'
    "package google.protobuf;\n\n"
    'option java_package = "com.google.protobuf";\n'
    'option java_outer_classname = "WrappersProto";\n'
    "option java_multiple_files = true;\n"
    'option go_package = "google.golang.org/protobuf/types/known/wrapperspb";\n'
    "option cc_enable_arenas = true;\n"
    'option objc_class_prefix = "GPB";\n'
    'option csharp_namespace = "Google.Protobuf.WellKnownTypes";\n\n'
    + "".join(f"message {name} {{\n  {type} value = 1;\n}}\n" for name, type in _WRAPPERS)
)
"""Google's file of wrappers, which is the schema of messages that are not structs."""

"""The traits of a schema that Arrow's types cannot express, as text in a field's metadata."""

from __future__ import annotations

import base64
import decimal
import json
from collections.abc import Callable, Mapping
from typing import Any

from connect_core.api.data.schema import DraftSchema, Schema, SchemaTraits, SchemaType
from connect_core.api.data.struct import Struct
from connect_core.errors import DataError
from connect_core.java.decimals import parse_decimal
from connect_core.java.equality import as_key
from connect_core.java.instant import Instant
from connect_core.java.numbers import Float32, Float64, Int8, Int16, Int32, Int64
from connect_core.java.text import decimal_text

__all__ = ["METADATA_KEY", "read_schema", "write_traits"]

METADATA_KEY = b"connect.schema"
Json = Any


def write_traits(schema: Schema) -> bytes:
    """Return all traits of a schema except its parts, which Arrow's child fields hold."""
    content: dict[str, Json] = {"type": schema.type.value, "optional": schema.optional}
    traits = {"name": schema.name, "version": schema.version, "doc": schema.doc, "parameters": schema.parameters}
    content.update({trait: value for trait, value in traits.items() if value is not None})
    if schema.default is not None:
        content["default"] = _write(schema.default)
    return json.dumps(content).encode()


def read_schema(metadata: bytes, parts: SchemaTraits) -> Schema:
    """Return the schema of ``write_traits`` with its parts: fields, key and value schema."""
    content: Mapping[str, Json] = json.loads(metadata)
    type = SchemaType(content["type"])
    traits: SchemaTraits = {
        "optional": content["optional"],
        "name": content.get("name"),
        "version": content.get("version"),
        "doc": content.get("doc"),
        "parameters": content.get("parameters"),
    }
    traits.update(parts)
    if "default" in content:
        traits["default"] = _read(content["default"], DraftSchema(type, object(), **traits))
    return Schema(type, **traits)


def _write(value: Any) -> Json:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, list):
        return {"list": [_write(item) for item in value]}
    if isinstance(value, dict):
        return {"map": [[_write(key), _write(item)] for key, item in value.items()]}
    if isinstance(value, Struct):
        return {"struct": [_write(item) for item in value.values]}
    tag, write, _ = _SCALARS[_TAGS[type(value)]]
    return {tag: write(value)}


def _read(content: Json, schema: Schema | None) -> Any:
    if not isinstance(content, dict):
        return content
    ((tag, body),) = content.items()
    if tag == "list":
        element = None if schema is None else schema.value_schema
        return [_read(item, element) for item in body]
    if tag == "map":
        keys, items = (None, None) if schema is None else (schema.key_schema, schema.value_schema)
        return {as_key(_read(key, keys)): _read(item, items) for key, item in body}
    if tag == "struct":
        return _read_struct(body, schema)
    return next(read for name, _, read in _SCALARS if name == tag)(body)


def _read_struct(body: Json, schema: Schema | None) -> Struct:
    if schema is None:
        raise DataError("a default contains a struct with an unknown schema")
    values = [_read(item, field.schema) for field, item in zip(schema.fields, body, strict=True)]
    return Struct.of_values(schema, values)


def _encode_bytes(value: bytes | memoryview) -> str:
    return base64.b64encode(value).decode()


_SCALARS: tuple[tuple[str, Callable[[Any], Json], Callable[[Json], Any]], ...] = (
    ("int", int, int),
    ("int8", int, Int8),
    ("int16", int, Int16),
    ("int32", int, Int32),
    ("int64", int, Int64),
    ("float", float.__repr__, float),
    ("float32", float.__repr__, Float32),
    ("float64", float.__repr__, Float64),
    ("decimal", decimal_text, parse_decimal),
    ("millis", lambda value: value.epoch_millis, Instant),
    ("bytes", _encode_bytes, base64.b64decode),
    ("buffer", _encode_bytes, lambda body: memoryview(base64.b64decode(body))),
)
_CLASSES = (int, Int8, Int16, Int32, Int64, float, Float32, Float64, decimal.Decimal, Instant, bytes, memoryview)
_TAGS: dict[type, int] = {kind: index for index, kind in enumerate(_CLASSES)}

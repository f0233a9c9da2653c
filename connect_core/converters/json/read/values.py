"""Parsed JSON to Connect data under a schema, as leniently as Connect.

A number of the wrong type becomes 0, a text of the wrong type null; a schema is
compiled once into nested functions. Connect: ``JsonConverter.convertToConnect``.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

from connect_core.api.data import Date, Decimal, Schema, SchemaType, Struct, Time, Timestamp
from connect_core.converters.json.read.base64 import decode_base64
from connect_core.converters.json.read.numbers import (
    integer_of,
    is_number,
    to_decimal,
    to_double,
    to_float32,
    to_integer,
    to_schemaless,
)
from connect_core.converters.json.read.parser import MISSING
from connect_core.errors import ConnectError, DataError
from connect_core.java.numbers import wrap

__all__ = ["LOGICAL_READERS", "SCALAR_READERS", "Read", "node_type", "reader", "schemaless"]

Read = Callable[[Any], Any]
"""Converts a JSON node to a Connect value; raises DataError, or InexactError if the node's digits are lost."""


def reader(schema: Schema, replace_nulls: bool) -> Read:
    """Return the function that reads nodes under a schema, nulls included."""
    read = _present(schema, replace_nulls)

    def read_nullable(node: Any) -> Any:
        if node is not None:
            return read(node)
        if schema.default is not None and replace_nulls:
            return schema.default
        if schema.optional:
            return None
        raise DataError(f"Invalid null value for required {schema.type} field")

    return read_nullable


def schemaless(node: Any) -> Any:
    """Return a node as schemaless data: 64-bit integers, doubles, lists, dicts."""
    kind = type(node)
    if kind is dict:
        return {name: schemaless(value) for name, value in node.items()}
    if kind is list:
        return [schemaless(value) for value in node]
    if kind is int:
        return wrap(node, 64)
    if kind is decimal.Decimal:
        return to_double(node)
    if kind is float:
        return to_schemaless(node)
    return None if node is MISSING else node


def node_type(node: Any) -> str:
    """Return Jackson's name of a node's type, such as ``OBJECT``."""
    if node is MISSING:
        return "MISSING"
    return _NODE_TYPES.get(type(node), "NUMBER")


_NODE_TYPES = {dict: "OBJECT", list: "ARRAY", str: "STRING", bool: "BOOLEAN", type(None): "NULL"}


def _present(schema: Schema, replace_nulls: bool) -> Read:
    logical = LOGICAL_READERS.get(schema.name or "")
    if logical is not None:
        return lambda node: logical(schema, node)
    if schema.type is SchemaType.STRUCT:
        return _struct(schema, replace_nulls)
    if schema.type is SchemaType.ARRAY:
        return _array(schema, replace_nulls)
    if schema.type is SchemaType.MAP:
        return _map(schema, replace_nulls)
    return SCALAR_READERS[schema.type]


def _part(schema: Schema | None, replace_nulls: bool) -> Read:
    return schemaless if schema is None else reader(schema, replace_nulls)


def _struct(schema: Schema, replace_nulls: bool) -> Read:
    fields = [(field.name, reader(field.schema, replace_nulls)) for field in schema.fields]
    required = [field for field in schema.fields if not field.schema.optional]

    def read(node: Any) -> Struct:
        if type(node) is not dict:
            raise DataError(f"Structs should be encoded as JSON objects, but found {node_type(node)}")
        get = node.get
        struct = Struct.of_values(schema, [read(get(name)) for name, read in fields])
        values = struct.values
        for field in required:
            if values[field.index] is None:
                struct.put(field, None)
        return struct

    return read


def _array(schema: Schema, replace_nulls: bool) -> Read:
    element = _part(schema.value_schema, replace_nulls)

    def read(node: Any) -> list[Any]:
        if type(node) is dict:
            return list(map(element, node.values()))
        return list(map(element, node)) if type(node) is list else []

    return read


def _map(schema: Schema, replace_nulls: bool) -> Read:
    key, value = _part(schema.key_schema, replace_nulls), _part(schema.value_schema, replace_nulls)
    if schema.key_schema is not None and schema.key_schema.type is SchemaType.STRING:
        return lambda node: {name: value(item) for name, item in _object(node).items()}
    return lambda node: dict(_pair(entry, key, value) for entry in _pairs(node))


def _object(node: Any) -> dict[str, Any]:
    if type(node) is dict:
        return node
    raise DataError(f"Maps with string fields should be encoded as JSON objects, but found {node_type(node)}")


def _pairs(node: Any) -> list[Any]:
    if type(node) is list:
        return node
    raise DataError(
        f"Maps with non-string fields should be encoded as JSON array of tuples, but found {node_type(node)}"
    )


def _pair(entry: Any, key: Read, value: Read) -> tuple[Any, Any]:
    if type(entry) is not list:
        raise DataError(f"Found invalid map entry instead of array tuple: {node_type(entry)}")
    if len(entry) != 2:
        raise DataError(f"Found invalid map entry, expected length 2 but found :{len(entry)}")
    name = key(entry[0])
    if isinstance(name, dict | list):
        raise DataError("an array or a map cannot be the key of a map: Python cannot hash it")
    return name, value(entry[1])


def _bytes(node: Any) -> bytes | None:
    if type(node) is not str:
        return None
    try:
        return decode_base64(node)
    except ValueError as error:
        raise DataError("Invalid bytes field") from error


def _decimal(schema: Schema, node: Any) -> decimal.Decimal:
    if is_number(node):
        return to_decimal(node)
    if type(node) is not str:
        raise DataError(
            f"Invalid type for Decimal, underlying representation should be numeric or bytes but was {node_type(node)}"
        )
    try:
        return Decimal.to_logical(schema, decode_base64(node))
    except (ValueError, TypeError, ConnectError) as error:
        raise DataError("Invalid bytes for Decimal field") from error


def _int32(node: Any, kind: str) -> int:
    number = integer_of(node)
    if number is None or wrap(number, 32) != number:
        raise DataError(
            f"Invalid type for {kind}, underlying representation should be integer but was {node_type(node)}"
        )
    return number


def _timestamp(schema: Schema, node: Any) -> Any:
    number = integer_of(node)
    if number is None:
        raise DataError(
            f"Invalid type for Timestamp, underlying representation should be integral but was {node_type(node)}"
        )
    return Timestamp.to_logical(schema, wrap(number, 64))


LOGICAL_READERS: dict[str, Callable[[Schema, Any], Any]] = {
    Decimal.LOGICAL_NAME: _decimal,
    Date.LOGICAL_NAME: lambda schema, node: Date.to_logical(schema, _int32(node, "Date")),
    Time.LOGICAL_NAME: lambda schema, node: Time.to_logical(schema, _int32(node, "Time")),
    Timestamp.LOGICAL_NAME: _timestamp,
}

SCALAR_READERS: dict[SchemaType, Read] = {
    SchemaType.INT8: lambda node: to_integer(node, 8),
    SchemaType.INT16: lambda node: to_integer(node, 16),
    SchemaType.INT32: lambda node: to_integer(node, 32),
    SchemaType.INT64: lambda node: to_integer(node, 64),
    SchemaType.FLOAT32: to_float32,
    SchemaType.FLOAT64: to_double,
    SchemaType.BOOLEAN: lambda node: node is True,
    SchemaType.STRING: lambda node: node if type(node) is str else None,
    SchemaType.BYTES: _bytes,
}

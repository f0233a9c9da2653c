"""JSON to Connect data under a schema in a registry. Confluent: ``JsonSchemaData.toConnectData``.

Scalars are read as by JsonConverter. The differences: a missing member
leaves its field null, required or not, maps without text keys
are arrays of objects, and a union uses the field that fits a value best.
"""

from __future__ import annotations

from typing import Any

from connect_core.api.data import Schema, SchemaType, Struct, validate_value
from connect_core.converters.json.read.numbers import InexactError, is_number
from connect_core.converters.json.read.values import LOGICAL_READERS, SCALAR_READERS, Read, node_type
from connect_core.converters.json_schema.names import is_union
from connect_core.errors import DataError

__all__ = ["reader"]

_INTEGERS = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)
_FLOATS = (SchemaType.FLOAT32, SchemaType.FLOAT64)
_ABSENT = object()


def reader(schema: Schema) -> Read:
    """Return the function that reads nodes under a schema, including nulls."""
    read = _present(schema)
    default, optional = schema.default, schema.optional

    def read_nullable(node: Any) -> Any:
        if node is not None and node is not _ABSENT:
            return read(node)
        if default is not None:
            return default
        if optional or node is _ABSENT:
            return None
        raise DataError(f"Invalid null value for required {schema.type} field")

    return read_nullable


def _present(schema: Schema) -> Read:
    logical = LOGICAL_READERS.get(schema.name or "")
    if logical is not None:
        return lambda node: logical(schema, node)
    if schema.type is SchemaType.STRUCT:
        return _union(schema) if is_union(schema) else _struct(schema)
    if schema.type is SchemaType.ARRAY:
        return _array(schema)
    if schema.type is SchemaType.MAP:
        return _map(schema)
    return _bytes if schema.type is SchemaType.BYTES else SCALAR_READERS[schema.type]


def _bytes(node: Any) -> Any:
    if type(node) is not str:
        raise DataError(f"Bytes should be encoded as JSON strings, but found {node_type(node)}")
    return SCALAR_READERS[SchemaType.BYTES](node)


def _struct(schema: Schema) -> Read:
    fields = [(field.name, reader(field.schema)) for field in schema.fields]

    def read(node: Any) -> Struct:
        if type(node) is not dict:
            raise DataError(f"Structs should be encoded as JSON objects, but found {node_type(node)}")
        get = node.get
        return Struct.of_values(schema, [read(get(name, _ABSENT)) for name, read in fields])

    return read


def _array(schema: Schema) -> Read:
    element = _part(schema.value_schema)

    def read(node: Any) -> list[Any]:
        if type(node) is dict:
            return list(map(element, node.values()))
        return list(map(element, node)) if type(node) is list else []

    return read


def _map(schema: Schema) -> Read:
    key, value = _part(schema.key_schema), _part(schema.value_schema)
    if schema.key_schema is None or (schema.key_schema.type is SchemaType.STRING and not schema.key_schema.optional):
        return lambda node: {name: value(item) for name, item in _object(node).items()}
    return lambda node: dict(_pair(entry, key, value) for entry in _entries(node))


def _part(schema: Schema | None) -> Read:
    """Return the reader of elements, which Connect checks when they are put in a struct."""
    if schema is None:
        raise DataError("An array or map has no schema for its elements")
    read = reader(schema)
    if schema.optional or schema.type not in (SchemaType.STRING, SchemaType.BYTES):
        return read

    def read_required(node: Any) -> Any:
        value = read(node)
        if value is None:
            validate_value(schema, value)
        return value

    return read_required


def _object(node: Any) -> dict[str, Any]:
    if type(node) is dict:
        return node
    raise DataError(f"Maps with string fields should be encoded as JSON objects, but found {node_type(node)}")


def _entries(node: Any) -> list[Any]:
    if type(node) is list:
        return node
    raise DataError(
        f"Maps with non-string fields should be encoded as JSON array of objects, but found {node_type(node)}"
    )


def _pair(entry: Any, key: Read, value: Read) -> tuple[Any, Any]:
    if type(entry) is not dict:
        raise DataError(f"Found invalid map entry instead of object: {node_type(entry)}")
    if len(entry) != 2:
        raise DataError(f"Found invalid map entry, expected length 2 but found :{len(entry)}")
    name = key(entry.get("key", _ABSENT))
    if isinstance(name, dict | list):
        raise DataError("an array or a map cannot be the key of a map: Python cannot hash it")
    return name, value(entry.get("value", _ABSENT))


def _union(schema: Schema) -> Read:
    fields = [(field, reader(field.schema)) for field in schema.fields]

    def read(node: Any) -> Struct:
        best, most = None, 0
        for place, (field, _) in enumerate(fields):
            if _fits(field.schema, node):
                best = place
                break
            matching = _matching(field.schema, node)
            if matching > most:
                best, most = place, matching
        if best is None:
            raise DataError("Did not find matching oneof field for data")
        values = [None] * len(fields)
        values[best] = fields[best][1](node)
        return Struct.of_values(schema, values)

    return read


def _fits(schema: Schema, node: Any) -> bool:
    """Return whether a node is of a schema's type, which is always false for structs."""
    kind = schema.type
    if kind in _INTEGERS:
        return type(node) is int or (type(node) is float and _is_whole(node))
    if kind in _FLOATS:
        return is_number(node)
    return isinstance(node, _CLASSES.get(kind, ()))


def _is_whole(node: float) -> bool:
    """Return whether a parsed float may have been an integer, which only its digits show."""
    if abs(node) >= 2.0**63:
        raise InexactError
    return False


def _matching(schema: Schema, node: Any) -> int:
    """Return the number of a node's members that are fields of a struct, at all depths."""
    if schema.type is not SchemaType.STRUCT or type(node) is not dict:
        return 0
    shared = [field for field in schema.fields if field.name in node]
    return len(shared) + sum(_matching(field.schema, node[field.name]) for field in shared)


_CLASSES: dict[SchemaType, tuple[type, ...]] = {
    SchemaType.BOOLEAN: (bool,),
    SchemaType.STRING: (str,),
    SchemaType.ARRAY: (list,),
    SchemaType.MAP: (dict, list),
}

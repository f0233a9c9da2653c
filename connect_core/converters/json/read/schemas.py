"""JSON to Schema: the ``schema`` part of an envelope. Connect: ``asConnectSchema``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from connect_core.api.data import Schema, SchemaBuilder, SchemaType
from connect_core.converters.json.read.values import reader
from connect_core.errors import DataError
from connect_core.java.numbers import wrap

__all__ = ["schema_of"]


def schema_of(node: Any, replace_nulls: bool) -> Schema | None:
    """Return the schema that a JSON node describes; null means no schema.

    Raise DataError, or SchemaBuilderError, for an invalid description.
    """
    if node is None:
        return None
    type_name = node.get("type") if isinstance(node, dict) else None
    if not isinstance(type_name, str):
        raise DataError("Schema must contain 'type' field")
    make = _BUILDERS.get(type_name)
    if make is None:
        raise DataError(f"Unknown schema type: {type_name}")
    builder = make(node, replace_nulls)
    _describe(builder, node)
    if "default" in node:
        read = reader(builder.build(), replace_nulls)
        builder.default_value(read(node["default"]))
    return builder.build()


def _describe(builder: SchemaBuilder, node: dict[str, Any]) -> None:
    if node.get("optional") is True:
        builder.optional()
    else:
        builder.required()
    name, version, doc = node.get("name"), node.get("version"), node.get("doc")
    if isinstance(name, str):
        builder.name(name)
    if type(version) is int:
        builder.version(wrap(version, 32))
    if isinstance(doc, str):
        builder.doc(doc)
    parameters = node.get("parameters")
    for key, value in parameters.items() if isinstance(parameters, dict) else ():
        if not isinstance(value, str):
            raise DataError("Schema parameters must have string values.")
        builder.parameter(key, value)


def _array(node: dict[str, Any], replace_nulls: bool) -> SchemaBuilder:
    items = node.get("items")
    if items is None:
        raise DataError("Array schema did not specify the element type")
    return SchemaBuilder.array(schema_of(items, replace_nulls))


def _map(node: dict[str, Any], replace_nulls: bool) -> SchemaBuilder:
    for part, what in (("keys", "key"), ("values", "value")):
        if part not in node:
            raise DataError(f"Map schema did not specify the {what} type")
    return SchemaBuilder.map(schema_of(node["keys"], replace_nulls), schema_of(node["values"], replace_nulls))


def _struct(node: dict[str, Any], replace_nulls: bool) -> SchemaBuilder:
    builder = SchemaBuilder.struct()
    fields = node.get("fields")
    if not isinstance(fields, list):
        raise DataError('Struct schema\'s "fields" argument is not an array.')
    for field in fields:
        name = field.get("field") if isinstance(field, dict) else None
        if not isinstance(name, str):
            raise DataError("Struct schema's field name not specified properly")
        schema = schema_of(field, replace_nulls)
        assert schema is not None
        builder.field(name, schema)
    return builder


def _primitive(type: SchemaType) -> Callable[[dict[str, Any], bool], SchemaBuilder]:
    return lambda node, replace_nulls: SchemaBuilder(type)


_BUILDERS: dict[str, Callable[[dict[str, Any], bool], SchemaBuilder]] = {
    **{type.value: _primitive(type) for type in SchemaType if type.is_primitive and not type.value.startswith("float")},
    "float": _primitive(SchemaType.FLOAT32),
    "double": _primitive(SchemaType.FLOAT64),
    "array": _array,
    "map": _map,
    "struct": _struct,
}

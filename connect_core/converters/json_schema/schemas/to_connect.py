"""JSON Schema to Connect's schema. Confluent: ``JsonSchemaData.toConnectSchema``.

A definition with several ``$ref`` is converted once; all uses after the first
have the parameter ``io.confluent.connect.json.Id``, as in Confluent's converter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from connect_core.api.data import STRING_SCHEMA, Schema, SchemaBuilder, to_text
from connect_core.converters.json_schema.config import JsonSchemaSettings
from connect_core.converters.json_schema.names import (
    CONNECT_INDEX,
    CONNECT_TYPE,
    CONNECT_TYPES,
    GENERALIZED_ENUM,
    GENERALIZED_UNION,
    JSON_ENUM,
    JSON_ID,
    JSON_ONE_OF,
    NULL_MARKER,
    union_field,
)
from connect_core.converters.json_schema.schemas.combining import all_of_choice, properties_of_all
from connect_core.converters.json_schema.schemas.documents import Document
from connect_core.converters.json_schema.schemas.forms import Form, FormKind, form_of
from connect_core.converters.json_schema.schemas.traits import add_traits
from connect_core.errors import DataError
from connect_core.java.hash_order import in_hash_order

__all__ = ["to_connect_schema"]

_MOST_PARTS = 100_000
"""Most parts of a schema with every ``$ref`` expanded: small texts can represent enormous schemas."""


def to_connect_schema(document: Document, version: int | None, settings: JsonSchemaSettings) -> Schema:
    """Return the schema of a document's messages; ``version`` applies if it has none of its own.

    Raise DataError for a schema that Connect cannot express, and for recursion.
    """
    first = _Conversion(settings)
    try:
        schema = first.convert(form_of(document.root, document), version)
        if not first.reuses:
            return schema
        # The number in the ids of reused definitions is known only at the end.
        second = _Conversion(settings, first.reuses)
        return second.convert(form_of(document.root, document), version)
    except RecursionError as error:
        raise DataError("A JSON Schema is nested too deeply") from error


@dataclass(slots=True)
class _Conversion:
    settings: JsonSchemaSettings
    final_ids: Mapping[str, int] = field(default_factory=dict)
    reuses: dict[str, int] = field(default_factory=dict)
    """Number of the last reuse of a definition, by its key."""
    structs: dict[str, tuple[Schema, int]] = field(default_factory=dict)
    """Definitions of structs, with the number of their parts."""
    active: set[str] = field(default_factory=set)
    parts: int = 0
    unions: int = 0
    ids: int = 0

    def convert(self, form: Form, version: int | None = None, optional: bool = False) -> Schema:
        self._count(1)
        if form.kind is FormKind.REFERENCE:
            return self._reference(form, version, optional)
        if form.kind is FormKind.COMBINED:
            return self._combined(form, version, optional)
        build = _BUILDERS.get(form.kind)
        if build is None:
            raise DataError(f"A JSON Schema of {form.kind.value} has no Connect schema")
        return self._finished(build(self, form), form, version, optional)

    def _count(self, parts: int) -> None:
        self.parts += parts
        if self.parts > _MOST_PARTS:
            raise DataError(f"A JSON Schema has more than {_MOST_PARTS} parts, with each $ref expanded")

    def _finished(self, builder: SchemaBuilder, form: Form, version: int | None, optional: bool) -> Schema:
        add_traits(builder, form.traits, version)
        if optional:
            builder.optional()
        return builder.build()

    def _reference(self, form: Form, version: int | None, optional: bool) -> Schema:
        node, document, key = form.document.resolve(form.node["$ref"])
        if key in self.active:
            raise DataError(
                f"The JSON Schema is recursive at $ref {form.node['$ref'][:200]}: Connect has no such schema"
            )
        known = self.structs.get(key)
        if known is not None:
            schema, size = known
            self._count(size)
            self.ids += 1
            self.reuses[key] = self.ids
            return schema.replace(optional=optional, parameters={**(schema.parameters or {}), **self._id(key)})
        self.active.add(key)
        before = self.parts
        target = form_of(node, document)
        schema = self.convert(target, version, optional)
        self.active.discard(key)
        if target.kind is FormKind.OBJECT or (target.kind is FormKind.COMBINED and target.criterion == "allOf"):
            self.structs[key] = schema, self.parts - before
            if key in self.final_ids and schema.parameters:
                return schema.replace(parameters={**schema.parameters, **self._id(key)})
        return schema

    def _id(self, key: str) -> dict[str, str]:
        return {JSON_ID: f"#id{self.final_ids.get(key, self.ids)}"}

    def _combined(self, form: Form, version: int | None, optional: bool) -> Schema:
        if len(form.parts) == 1 and self.settings.flatten_singletons:
            return self.convert(form.parts[0])
        if form.criterion == "allOf":
            return self._all_of(form, version, optional)
        present = [part for part in form.parts if part.kind is not FormKind.NULL]
        name = JSON_ONE_OF
        if self.settings.generalized_sums:
            name = f"connect_union_{self.unions}"
            self.unions += 1
        if len(form.parts) == 2 and len(present) == 1:
            return self.convert(present[0], version, True)
        return self._finished(self._union(name, present, len(form.parts)), form, version, optional)

    def _union(self, name: str, present: list[Form], size: int) -> SchemaBuilder:
        builder = SchemaBuilder.struct().name(name)
        generalized = self.settings.generalized_sums
        if generalized:
            builder.parameter(GENERALIZED_UNION, name)
        if len(present) < size:
            builder.optional()
        for index, part in enumerate(present):
            builder.field(union_field(generalized, index), self.convert(part, None, True))
        return builder

    def _all_of(self, form: Form, version: int | None, optional: bool) -> Schema:
        properties = properties_of_all(form)
        if not properties:
            return self.convert(all_of_choice(form), version, optional)
        builder = SchemaBuilder.struct()
        for name, (part, required) in properties.items():
            builder.field(name, self.convert(part, None, self.settings.optional_nonrequired and not required))
        if optional:
            builder.optional()
        return builder.build()

    def number(self, form: Form) -> SchemaBuilder:
        name = form.traits.get(CONNECT_TYPE)
        if name is None:
            return SchemaBuilder.int64() if form.is_integer else SchemaBuilder.float64()
        type = CONNECT_TYPES.get(name) if isinstance(name, str) and name != "map" else None
        if type is None:
            raise DataError(f"Unsupported type {str(name)[:100]}")
        return SchemaBuilder(type)

    def string(self, form: Form) -> SchemaBuilder:
        return SchemaBuilder.bytes() if form.traits.get(CONNECT_TYPE) == "bytes" else SchemaBuilder.string()

    def enum(self, form: Form) -> SchemaBuilder:
        generalized = self.settings.generalized_sums
        name = GENERALIZED_ENUM if generalized else JSON_ENUM
        builder = SchemaBuilder.string().parameter(name, "")
        symbols = form.node["enum"] if form.kind is FormKind.ENUM else [form.node["const"]]
        if not isinstance(symbols, list):
            raise DataError("enum of a JSON Schema is a list")
        self._count(len(symbols))
        for index, value in enumerate(symbols):
            symbol = NULL_MARKER if value is None else to_text(value)
            builder.parameter(f"{name}.{symbol}", str(index) if generalized else symbol)
        return builder

    def array(self, form: Form) -> SchemaBuilder:
        items = form.node.get("items")
        if items is None or isinstance(items, list):
            raise DataError("Array schema did not specify the items type")
        item = form.part(items)
        if form.traits.get(CONNECT_TYPE) != "map" or item.kind is not FormKind.OBJECT:
            return SchemaBuilder.array(self.convert(item))
        properties = _properties(item)
        if not {"key", "value"} <= properties.keys():
            raise DataError("A map as an array needs items with the properties key and value")
        return SchemaBuilder.map(*(self.convert(item.part(properties[name])) for name in ("key", "value")))

    def object(self, form: Form) -> SchemaBuilder:
        if form.traits.get(CONNECT_TYPE) == "map":
            values = form.node.get("additionalProperties")
            if not isinstance(values, dict):
                raise DataError("A map needs the schema of its values as additionalProperties")
            return SchemaBuilder.map(STRING_SCHEMA, self.convert(form.part(values)))
        builder = SchemaBuilder.struct()
        required = form.node.get("required")
        names = set(required) if isinstance(required, list) else set()
        for name, part in _in_order(form):
            optional = self.settings.optional_nonrequired and name not in names
            builder.field(name, self.convert(part, None, optional))
        return builder


def _properties(form: Form) -> Mapping[str, Any]:
    properties = form.node.get("properties", {})
    if not isinstance(properties, dict):
        raise DataError("properties of a JSON Schema is an object")
    return properties


def _in_order(form: Form) -> list[tuple[str, Form]]:
    """Return properties by connect.index; those without one keep their position in Java's hash map."""
    properties = _properties(form)
    places: dict[int, tuple[str, Form]] = {}
    for name in in_hash_order(properties):
        part = form.part(properties[name])
        index = part.traits.get(CONNECT_INDEX)
        if index is not None and type(index) is not int:
            raise DataError(f"{CONNECT_INDEX} of {name[:100]} is a whole number, not {str(index)[:100]!r}")
        places[len(places) if index is None else index] = name, part
    return [places[index] for index in sorted(places)]


_BUILDERS: dict[FormKind, Callable[[_Conversion, Form], SchemaBuilder]] = {
    FormKind.BOOLEAN: lambda conversion, form: SchemaBuilder.boolean(),
    FormKind.NUMBER: _Conversion.number,
    FormKind.STRING: _Conversion.string,
    FormKind.ENUM: _Conversion.enum,
    FormKind.CONST: _Conversion.enum,
    FormKind.ARRAY: _Conversion.array,
    FormKind.OBJECT: _Conversion.object,
}

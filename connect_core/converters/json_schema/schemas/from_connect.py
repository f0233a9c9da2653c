"""Connect's schema to JSON Schema. Confluent: ``JsonSchemaData.fromConnectSchema``.

The text is exactly that of Confluent's converter, including the order of Java's hash
maps: a registry treats any other text as another schema.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from connect_core.api.data import Decimal, Schema, SchemaType
from connect_core.converters.json.read.documents import parse_exactly
from connect_core.converters.json.write.text import quoted
from connect_core.converters.json_schema.config import JsonSchemaSettings
from connect_core.converters.json_schema.names import (
    CONNECT_INDEX,
    CONNECT_PARAMETERS,
    CONNECT_TYPE,
    CONNECT_VERSION,
    GENERALIZED_ENUM,
    JSON_ENUM,
    JSON_ID,
    NAMESPACE,
    NULL_MARKER,
    is_union,
)
from connect_core.converters.json_schema.write import RegisteredJsonWriter, has_text_keys
from connect_core.errors import DataError
from connect_core.java.hash_order import in_hash_order

__all__ = ["from_connect_schema"]

Json: TypeAlias = Any
_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_NULL: dict[str, Json] = {"type": "null"}


def from_connect_schema(schema: Schema, settings: JsonSchemaSettings, writer: RegisteredJsonWriter) -> str:
    """Return the text of the JSON Schema; ``writer`` writes defaults.

    Raise DataError for a default that cannot be written, and for a schema nested too deeply.
    """
    try:
        return _text(_Description(settings, writer).of(schema))
    except RecursionError as error:
        raise DataError("A schema is nested too deeply for JSON Schema") from error


@dataclass(slots=True)
class _Description:
    settings: JsonSchemaSettings
    writer: RegisteredJsonWriter
    ids: set[str] = field(default_factory=set)

    def of(self, schema: Schema | None, index: int | None = None, in_union: bool = False) -> dict[str, Json]:
        """Return a schema as JSON; a part of a union is never null itself."""
        if schema is None:
            raise DataError("An array or map has no schema for its elements")
        id = (schema.parameters or {}).get(JSON_ID)
        if id is not None:
            self.ids.add(id)
        named = {} if id is None else {"id": id}
        place = {} if index is None else {CONNECT_INDEX: index}
        if schema.type is SchemaType.STRUCT and (is_union(schema) or schema.optional):
            return {**named, **place, "oneOf": self._alternatives(schema)}
        optional = schema.optional and not in_union
        head, connect, tail = self._kind(schema)
        if schema.version is not None:
            connect[CONNECT_VERSION] = schema.version
        parameters = {k: v for k, v in (schema.parameters or {}).items() if not k.startswith(NAMESPACE)}
        if parameters:
            connect[CONNECT_PARAMETERS] = _copied(parameters)
        connect |= {} if optional else place
        traits = {**head, **self._common(schema), **({} if optional else named), **_copied(connect), **tail}
        return {**named, **place, "oneOf": [_NULL, traits]} if optional else traits

    def _alternatives(self, schema: Schema) -> list[Json]:
        null = [_NULL] if schema.optional else []
        if not is_union(schema):
            return [*null, self.of(schema.replace(optional=False))]
        parts = [self.of(one.schema.replace(optional=False), one.index, True) for one in schema.fields]
        return [*null, *parts]

    def _common(self, schema: Schema) -> dict[str, Json]:
        found = {"title": schema.name, "description": schema.doc}
        common: dict[str, Json] = {name: value for name, value in found.items() if value is not None}
        if schema.default is not None:
            if isinstance(schema.default, float) and not math.isfinite(schema.default):
                raise DataError(f"JSON Schema cannot express the default {schema.default}")
            text = self.writer.payload(schema, schema.default)
            common["default"] = _reordered(parse_exactly(text.encode()))
        return common

    def _kind(self, schema: Schema) -> tuple[dict[str, Json], dict[str, Json], dict[str, Json]]:
        """Return the keywords of a type: those before its description, those of Connect, those after."""
        name = _SCALARS.get(schema.type)
        if schema.type is SchemaType.STRING and _is_enum(schema):
            return {"enum": self._symbols(schema)}, {}, {}
        if schema.type is SchemaType.BYTES:
            numeric = schema.name == Decimal.LOGICAL_NAME and self.settings.numeric_decimals
            return {"type": "number" if numeric else "string"}, {CONNECT_TYPE: "bytes"}, {}
        if name is not None:
            number = schema.type not in (SchemaType.BOOLEAN, SchemaType.STRING)
            return {"type": name}, {CONNECT_TYPE: schema.type.value} if number else {}, {}
        if schema.type is SchemaType.ARRAY:
            return {"type": "array"}, {}, {"items": self._part(schema.value_schema, None)}
        return self._map(schema) if schema.type is SchemaType.MAP else self._struct(schema)

    def _map(self, schema: Schema) -> tuple[dict[str, Json], dict[str, Json], dict[str, Json]]:
        connect = {CONNECT_TYPE: "map"}
        if has_text_keys(schema):
            return {"type": "object"}, connect, {"additionalProperties": self.of(schema.value_schema)}
        entry = {"key": self.of(schema.key_schema, 0), "value": self.of(schema.value_schema, 1)}
        items = {"type": "object", "properties": _hashed(entry)}
        return {"type": "array"}, connect, {"items": items}

    def _struct(self, schema: Schema) -> tuple[dict[str, Json], dict[str, Json], dict[str, Json]]:
        head: dict[str, Json] = {"type": "object"}
        if not self.settings.additional_properties:
            head["additionalProperties"] = False
        properties = {one.name: self._part(one.schema, one.index) for one in schema.fields}
        return head, {}, {"properties": _hashed(properties)} if properties else {}

    def _part(self, schema: Schema | None, index: int | None) -> dict[str, Json]:
        id = None if schema is None else (schema.parameters or {}).get(JSON_ID)
        return {"$ref": id} if id in self.ids else self.of(schema, index)

    def _symbols(self, schema: Schema) -> list[str | None]:
        prefix = (GENERALIZED_ENUM if self.settings.generalized_sums else JSON_ENUM) + "."
        names = [name.removeprefix(prefix) for name in schema.parameters or {} if name.startswith(prefix)]
        null: list[str | None] = [None] if NULL_MARKER in names else []
        return [*null, *in_hash_order(name for name in names if name != NULL_MARKER)]


_SCALARS = {
    **{type: "integer" for type in SchemaType if type.value.startswith("int")},
    SchemaType.FLOAT32: "number",
    SchemaType.FLOAT64: "number",
    SchemaType.BOOLEAN: "boolean",
    SchemaType.STRING: "string",
}


def _is_enum(schema: Schema) -> bool:
    return any(name in (schema.parameters or {}) for name in (GENERALIZED_ENUM, JSON_ENUM))


def _hashed(members: Mapping[str, Json]) -> dict[str, Json]:
    return {name: members[name] for name in in_hash_order(members)}


def _copied(members: Mapping[str, Json]) -> dict[str, Json]:
    """Return members in the order of a hash map that is a copy of another one, with that initial capacity."""
    order = in_hash_order(in_hash_order(members), buckets=1 << (len(members) * 4 // 3).bit_length())
    return {name: members[name] for name in order}


def _reordered(node: Json) -> Json:
    if isinstance(node, dict):
        return _hashed({name: _reordered(value) for name, value in node.items()})
    return [_reordered(value) for value in node] if isinstance(node, list) else node


def _text(node: Json) -> str:
    if isinstance(node, dict):
        return f"{{{_joined(f'{_string(name)}:{_text(value)}' for name, value in node.items())}}}"
    if isinstance(node, list):
        return f"[{_joined(map(_text, node))}]"
    if isinstance(node, str):
        return _string(node)
    if node is None or isinstance(node, bool):
        return {None: "null", True: "true", False: "false"}[node]
    return _number(str(node))


def _joined(texts: Iterable[str]) -> str:
    return ",".join(texts)


def _string(text: str) -> str:
    return f'"{_ESCAPED.sub(lambda match: quoted(match.group())[1:-1], text)}"'


def _number(text: str) -> str:
    """Return a number without trailing zeros, which org.json omits."""
    return text.rstrip("0").rstrip(".") if "." in text and "E" not in text.upper() else text

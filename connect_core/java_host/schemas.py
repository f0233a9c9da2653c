"""The schemas of one conversation with a host: each crosses once, and is referred to by number afterwards."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from connect_core.api.data import Field, Schema, SchemaType
from connect_core.api.data.schema import SchemaTraits
from connect_core.java_host.values import read_default, write_default

__all__ = ["SchemaNumbers"]

Json = Any


@dataclass(slots=True)
class SchemaNumbers:
    """Numbers of schemas sent and received; each side has its own numbers."""

    _sent: dict[Schema, int] = field(default_factory=dict)
    _unsent: list[Json] = field(default_factory=list)
    _received: dict[int, Schema] = field(default_factory=dict)

    def number_of(self, schema: Schema | None) -> int:
        """Return a schema's number, -1 for none; a new schema is sent with the next frame."""
        if schema is None:
            return -1
        known = self._sent.get(schema)
        if known is None:
            known = self._sent[schema] = len(self._sent)
            self._unsent.append({"number": known, "schema": _to_json(schema)})
        return known

    def numbered(self, number: int) -> Schema | None:
        """Return a schema that the host has sent; ``None`` for -1."""
        return None if number < 0 else self._received[number]

    def attach(self, header: dict[str, Json]) -> None:
        """Add to a header the schemas that the host does not have yet."""
        if self._unsent:
            header["schemas"], self._unsent = self._unsent, []

    def receive(self, header: Mapping[str, Json]) -> None:
        """Store the schemas that came with a frame."""
        for one in header.get("schemas", ()):
            self._received[one["number"]] = _of_json(one["schema"])


def _to_json(schema: Schema) -> Json:
    traits = {"name": schema.name, "version": schema.version, "doc": schema.doc, "parameters": schema.parameters}
    found: dict[str, Json] = {"type": schema.type.value, "optional": schema.optional}
    found |= {key: value for key, value in traits.items() if value is not None}
    if schema.type is SchemaType.STRUCT:
        found["fields"] = [{"name": one.name, "schema": _to_json(one.schema)} for one in schema.fields]
    if schema.type is SchemaType.MAP and schema.key_schema is not None:
        found["keys"] = _to_json(schema.key_schema)
    if schema.type in (SchemaType.MAP, SchemaType.ARRAY) and schema.value_schema is not None:
        found["values"] = _to_json(schema.value_schema)
    if schema.default is not None:
        found["default"] = base64.b64encode(write_default(schema.default, schema)).decode()
    return found


def _of_json(node: Json) -> Schema:
    traits: SchemaTraits = {
        "optional": node["optional"],
        "name": node.get("name"),
        "version": node.get("version"),
        "doc": node.get("doc"),
        "parameters": node.get("parameters"),
        "key_schema": _of_json(node["keys"]) if "keys" in node else None,
        "value_schema": _of_json(node["values"]) if "values" in node else None,
    }
    if "fields" in node:
        parts = enumerate(node["fields"])
        traits["fields"] = tuple(Field(one["name"], index, _of_json(one["schema"])) for index, one in parts)
    schema = Schema(SchemaType(node["type"]), **traits)
    if "default" not in node:
        return schema
    return schema.replace(default=read_default(base64.b64decode(node["default"]), schema))

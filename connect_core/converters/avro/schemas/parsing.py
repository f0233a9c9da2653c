"""Avro schemas parsed from JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from connect_core.converters.avro.schemas.model import ABSENT, ANYTHING, AvroField, AvroKind, AvroType, Json
from connect_core.converters.avro.schemas.names import NAMESPACE
from connect_core.errors import DataError
from connect_core.schema_registry.model import RegisteredSchema

__all__ = ["parse_avro", "parse_registered"]

_MAX_CHARACTERS = 4_000_000
_MAX_PARTS = 50_000
_MAX_DEPTH = 100
_PRIMITIVES = {kind.value: AvroType(kind) for kind in list(AvroKind)[:8]}
_OWN_WORDS = frozenset(
    ("type", "name", "namespace", "doc", "fields", "items", "values", "size", "symbols", "aliases", "default")
)
_ANYTHING_NAME = f"{NAMESPACE}.Anything"
_ANYTHING_FIELDS = {"boolean", "bytes", "double", "float", "int", "long", "string", "array", "map"}


def parse_registered(registered: RegisteredSchema) -> AvroType:
    """Return the schema of a registry. Raise DataError if it is invalid, recursive or too large."""
    try:
        return parse_avro(registered.schema.text, [(name, schema.text) for name, schema in registered.resolved])
    except DataError as error:
        raise DataError(f"schema {registered.id} of the registry cannot be used: {error}") from error


def parse_avro(text: str, references: Iterable[tuple[str, str]] = ()) -> AvroType:
    """Return the schema of a JSON text; ``references`` are the named schemas it uses. Raise DataError."""
    parser = _Parser()
    for name, reference in references:
        found = parser.text(reference)
        parser.names.setdefault(name, found)
    return parser.text(text)


class _Parser:
    """Holds the named types; a name whose definition is not complete yet has the value ``None``."""

    def __init__(self) -> None:
        self.names: dict[str, AvroType | None] = {}
        self._sizes: dict[AvroType, int] = {}

    def text(self, text: str) -> AvroType:
        if len(text) > _MAX_CHARACTERS:
            raise DataError(f"a schema of {len(text)} characters is larger than the {_MAX_CHARACTERS} allowed")
        try:
            return self._type(json.loads(text), "", 0)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(f"it is not an Avro schema: {type(error).__name__}: {error}") from error

    def _type(self, content: Json, space: str, depth: int) -> AvroType:
        if depth > _MAX_DEPTH:
            raise DataError(f"it is nested deeper than the {_MAX_DEPTH} levels allowed")
        if isinstance(content, str):
            return self._named(content, space)
        if isinstance(content, list):
            branches = tuple(self._type(one, space, depth + 1) for one in content)
            return self._sized(AvroType(AvroKind.UNION, branches=branches))
        kind = content["type"]
        if not isinstance(kind, str):
            return self._type(kind, space, depth + 1)
        if kind in _PRIMITIVES:
            return AvroType(_PRIMITIVES[kind].kind, props=_props(content)) if len(content) > 1 else _PRIMITIVES[kind]
        if kind in ("array", "map"):
            items = self._type(content["items" if kind == "array" else "values"], space, depth + 1)
            return self._sized(AvroType(AvroKind(kind), props=_props(content), items=items))
        return self._definition(content, space, depth) if "name" in content else self._named(kind, space)

    def _named(self, name: str, space: str) -> AvroType:
        if name in _PRIMITIVES:
            return _PRIMITIVES[name]
        full = name if "." in name or not space else f"{space}.{name}"
        full = full if full in self.names else name
        if full not in self.names:
            raise DataError(f"the type {full} is not defined")
        found = self.names[full]
        if found is None:
            raise DataError(
                f"the record {full} refers to itself, and Connect schemas cannot be recursive; leave that field out"
            )
        return found

    def _definition(self, content: Mapping[str, Json], space: str, depth: int) -> AvroType:
        name = str(content["name"])
        space = name.rpartition(".")[0] if "." in name else str(content.get("namespace", space) or "")
        full = name if "." in name or not space else f"{space}.{name}"
        kind = AvroKind("record" if content["type"] == "error" else content["type"])
        self.names[full] = None
        found = self._anything(full, content) or self._body(kind, full, content, (space, depth))
        self.names[full] = found
        return self._sized(found)

    def _anything(self, full: str, content: Mapping[str, Json]) -> AvroType | None:
        if full != _ANYTHING_NAME or {one["name"] for one in content["fields"]} != _ANYTHING_FIELDS:
            return None
        return ANYTHING

    def _body(self, kind: AvroKind, full: str, content: Mapping[str, Json], place: tuple[str, int]) -> AvroType:
        traits: dict[str, Any] = {"name": full, "doc": content.get("doc"), "props": _props(content)}
        if kind is AvroKind.FIXED:
            return AvroType(kind, size=_size(content["size"]), **traits)
        if kind is AvroKind.ENUM:
            symbols = tuple(map(str, content["symbols"]))
            return AvroType(kind, symbols=symbols, default_symbol=content.get("default"), **traits)
        if kind is not AvroKind.RECORD:
            raise DataError(f"{kind.value} has a name")
        fields = tuple(self._field(one, *place) for one in content["fields"])
        return AvroType(kind, fields=fields, **traits)

    def _field(self, content: Mapping[str, Json], space: str, depth: int) -> AvroField:
        kind = self._type(content["type"], space, depth + 1)
        aliases = tuple(map(str, content.get("aliases", ())))
        return AvroField(str(content["name"]), kind, content.get("default", ABSENT), content.get("doc"), aliases)

    def _sized(self, avro: AvroType) -> AvroType:
        """Limit the tree: a few names that refer to each other twice can represent an enormous schema."""
        self._sizes[avro] = 1 + sum(self._sizes.get(part, 1) for part in avro.parts)
        if self._sizes[avro] > _MAX_PARTS:
            raise DataError(f"with references expanded it has more than the {_MAX_PARTS} parts allowed")
        return avro


def _props(content: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in content.items() if name not in _OWN_WORDS}


def _size(size: Json) -> int:
    if not isinstance(size, int) or size < 0:
        raise DataError(f"a fixed has the size {size!r}")
    return size

"""Avro's rules of schema resolution: whether one schema can read what another writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from connect_core.errors import DataError

__all__ = ["avro_can_read"]

_PRIMITIVES = frozenset(("null", "boolean", "int", "long", "float", "double", "bytes", "string"))
_PROMOTED = frozenset(
    {
        ("int", "long"),
        ("int", "float"),
        ("int", "double"),
        ("long", "float"),
        ("long", "double"),
        ("float", "double"),
        ("string", "bytes"),
        ("bytes", "string"),
    }
)
"""Pairs (written, read) of different but compatible primitive types."""
_DEPTH = 200


@dataclass(slots=True)
class _Type:
    """A type other than a union: its word, full name and content; a record's fields are added once they are parsed."""

    word: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    inner: _Schema = None
    fields: list[_Field] = field(default_factory=list)
    symbols: frozenset[str] = frozenset()
    size: int = 0
    has_default: bool = False


@dataclass(frozen=True, slots=True)
class _Field:
    names: tuple[str, ...]
    """Its own name, then its aliases."""
    schema: _Schema
    has_default: bool


_Schema = _Type | tuple["_Schema", ...] | None


def avro_can_read(reader: str, reader_needs: Sequence[str], writer: str) -> bool:
    """Whether a reader's schema, with its references, reads what a writer's schema writes.

    Raise DataError for text that is not a schema, or that is nested deeper than 200 levels.
    """
    try:
        known: dict[str, _Type] = {}
        for text in reader_needs:
            _parsed(json.loads(text), "", known)
        return _Resolution().reads(_parsed(json.loads(reader), "", known), _parsed(json.loads(writer), "", {}))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"An Avro schema cannot be parsed: {type(error).__name__} {error}") from error


def _full(name: str, space: str) -> str:
    return name if "." in name or not space else f"{space}.{name}"


def _parsed(schema: Any, space: str, known: dict[str, _Type], depth: int = 0) -> _Schema:
    if depth > _DEPTH:
        raise DataError(f"An Avro schema is nested deeper than {_DEPTH} levels")
    if isinstance(schema, list):
        return tuple(_parsed(branch, space, known, depth + 1) for branch in schema)
    if isinstance(schema, str):
        return _Type(schema) if schema in _PRIMITIVES else known.get(_full(schema, space)) or known[schema]
    word = schema["type"]
    if word in ("array", "map"):
        return _Type(word, inner=_parsed(schema["items" if word == "array" else "values"], space, known, depth + 1))
    if word in ("record", "error", "enum", "fixed"):
        return _named(schema, space, known, depth)
    # A logical type, or an object around another type: neither changes what is read.
    return _parsed(word, space, known, depth + 1)


def _named(schema: Mapping[str, Any], space: str, known: dict[str, _Type], depth: int) -> _Type:
    name = _full(schema["name"], schema.get("namespace", space) or "")
    space = name.rpartition(".")[0]
    found = known[name] = _Type(
        "record" if schema["type"] == "error" else schema["type"],
        name,
        tuple(_full(alias, space) for alias in schema.get("aliases", ())),
        symbols=frozenset(schema.get("symbols", ())),
        size=schema.get("size", 0),
        has_default="default" in schema,
    )
    for one in schema.get("fields", ()):
        names = (one["name"], *one.get("aliases", ()))
        found.fields.append(_Field(names, _parsed(one["type"], space, known, depth + 1), "default" in one))
    return found


class _Resolution:
    """The pairs of records already compared, so that the comparison of recursive records ends."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, int]] = set()

    def reads(self, reader: _Schema, writer: _Schema) -> bool:
        if isinstance(writer, tuple):
            return all(self.reads(reader, branch) for branch in writer)
        if isinstance(reader, tuple):
            return any(self.reads(branch, writer) for branch in reader)
        if reader is None or writer is None:
            return False
        if reader.word != writer.word:
            return (writer.word, reader.word) in _PROMOTED
        if reader.word in ("array", "map"):
            return self.reads(reader.inner, writer.inner)
        return not reader.name or self._reads_named(reader, writer)

    def _reads_named(self, reader: _Type, writer: _Type) -> bool:
        is_same = reader.name.rpartition(".")[2] == writer.name.rpartition(".")[2]
        if not is_same and writer.name not in reader.aliases:
            return False
        if reader.word == "fixed":
            return reader.size == writer.size
        if reader.word == "enum":
            return reader.has_default or writer.symbols <= reader.symbols
        pair = (id(reader), id(writer))
        if pair in self._seen:
            return True
        self._seen.add(pair)
        return all(self._reads_field(one, writer.fields) for one in reader.fields)

    def _reads_field(self, reader: _Field, written: Iterable[_Field]) -> bool:
        by_name = {one.names[0]: one for one in written}
        found = next((by_name[name] for name in reader.names if name in by_name), None)
        return reader.has_default if found is None else self.reads(reader.schema, found.schema)

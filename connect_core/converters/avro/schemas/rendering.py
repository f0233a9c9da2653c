"""Avro schemas as JSON, in the form of Java's Avro."""

from __future__ import annotations

import json
import math
import re

from connect_core.converters.avro.schemas.model import ABSENT, AvroField, AvroKind, AvroType, Json
from connect_core.converters.avro.schemas.names import MAP_ENTRY, NAMESPACE, split_name
from connect_core.java.text import to_text

__all__ = ["render_avro"]

_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u00[01][0-9a-f]")
"""Control characters, whose hex digits Java writes in upper case."""
_SCALARS = ("boolean", "bytes", "double", "float", "int", "long", "string")
_ANYTHING_FIELDS = [{"name": kind, "type": ["null", kind], "default": None} for kind in _SCALARS]
_ENTRY_FIELDS = [{"name": name, "type": "Anything"} for name in ("key", "value")]
_ENTRY = {"type": "record", "name": MAP_ENTRY, "fields": _ENTRY_FIELDS}
_LISTS = (("array", "Anything"), ("map", _ENTRY))


def render_avro(avro: AvroType) -> str:
    """Return the JSON text of a schema; a type that occurs again is referred to by its name."""
    return _text(_content(avro, "", set()))


def _content(avro: AvroType, space: str, known: set[str]) -> Json:
    if avro.kind is AvroKind.UNION:
        return [_content(one, space, known) for one in avro.branches]
    if avro.kind is AvroKind.ANYTHING:
        return _anything(space, known)
    if avro.name is not None:
        return _named(avro, space, known)
    content: dict[str, Json] = {"type": avro.kind.value}
    if avro.items is not None:
        content["items" if avro.kind is AvroKind.ARRAY else "values"] = _content(avro.items, space, known)
    content.update(avro.props)
    return content if len(content) > 1 else avro.kind.value


def _head(kind: str, name: str, space: str) -> dict[str, Json]:
    namespace, simple = split_name(name)
    return {"type": kind, "name": simple, **({} if namespace == space else {"namespace": namespace})}


def _reference(name: str, space: str) -> str:
    namespace, simple = split_name(name)
    return simple if namespace == space else name


def _named(avro: AvroType, space: str, known: set[str]) -> Json:
    name = avro.name or ""
    if name in known:
        return _reference(name, space)
    known.add(name)
    content = _head(avro.kind.value, name, space)
    if avro.doc is not None:
        content["doc"] = avro.doc
    if avro.kind is AvroKind.RECORD:
        content["fields"] = [_field(one, split_name(name)[0], known) for one in avro.fields]
    elif avro.kind is AvroKind.ENUM:
        content["symbols"] = list(avro.symbols)
        content.update({} if avro.default_symbol is None else {"default": avro.default_symbol})
    else:
        content["size"] = avro.size
    content.update(avro.props)
    return content


def _field(field: AvroField, space: str, known: set[str]) -> Json:
    content: dict[str, Json] = {"name": field.name, "type": _content(field.type, space, known)}
    if field.doc is not None:
        content["doc"] = field.doc
    if field.default is not ABSENT:
        content["default"] = field.default
    return content


def _anything(space: str, known: set[str]) -> Json:
    name = f"{NAMESPACE}.Anything"
    if name in known:
        return _reference(name, space)
    known.add(name)
    lists = [
        {"name": field, "type": ["null", {"type": "array", "items": items}], "default": None} for field, items in _LISTS
    ]
    return {**_head("record", name, space), "fields": [*_ANYTHING_FIELDS, *lists]}


def _text(value: Json) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{_text(str(name))}:{_text(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, float):
        # Java's format of numbers; JSON has no NaN and infinities.
        return to_text(value) if math.isfinite(value) else f'"{to_text(value)}"'
    if isinstance(value, str):
        return _ESCAPE.sub(lambda found: found[0].upper().replace("U", "u"), json.dumps(value, ensure_ascii=False))
    return json.dumps(int(value) if type(value) is not bool and isinstance(value, int) else value)

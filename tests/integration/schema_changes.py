"""How a record's schema changes: the old and the new schema of a subject, a message of each, and what it means."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import fastavro

__all__ = ["CHANGES", "Change"]

Row = dict[str, Any]
Modes = frozenset[str]
NONE: Modes = frozenset()
BACKWARD, FORWARD, FULL = (frozenset(modes) for modes in (["BACKWARD"], ["FORWARD"], ["BACKWARD", "FORWARD", "FULL"]))


@dataclass(frozen=True)
class Change:
    """Two schemas of one subject. ``taken``: the modes of a registry under which the second follows the first."""

    kind: str
    old: str
    new: str
    body: Callable[[bool, int], bytes]
    """Whether it is of the new schema, and the record's number → the message without its frame."""
    rows: tuple[Callable[[int], Row], Callable[[int], Row]]
    """The record's number → what a file has of an old and of a new record; a missing column is null."""
    taken: Modes
    in_table: tuple[Callable[[int], Row], Callable[[int], Row]] | None = None
    """As ``rows``, where a table has something else."""
    refused: str | None = None
    """What the sink into a table says of the new schema, where no table can follow."""
    sink: Mapping[str, str] = field(default_factory=dict)
    """Further settings of the sink into files."""

    def row(self, is_new: bool, number: int, *, in_table: bool = False) -> Row:
        """Return what a file or a table has of a record."""
        rows = (self.in_table or self.rows) if in_table else self.rows
        return {"id": number, **rows[is_new](number)}


def _avro(*fields: Mapping[str, Any]) -> str:
    return json.dumps({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, *fields]})


def _of_avro(old: str, new: str, *values: Callable[[int], Row]) -> Callable[[bool, int], bytes]:
    def body(is_new: bool, number: int) -> bytes:
        out = BytesIO()
        schema = fastavro.parse_schema(json.loads(new if is_new else old))
        fastavro.schemaless_writer(out, schema, {"id": number, **values[is_new](number)})
        return out.getvalue()

    return body


def _change(
    old: list[Mapping[str, Any]],
    new: list[Mapping[str, Any]],
    values: tuple[Callable[[int], Row], Callable[[int], Row]],
    taken: Modes,
    **more: Any,
) -> Change:
    """Return a change of an Avro record beside its field ``id``."""
    texts = _avro(*old), _avro(*new)
    return Change("AVRO", *texts, _of_avro(*texts, *values), more.pop("rows", values), taken, **more)


def _nothing(number: int) -> Row:
    return {}


def _text(number: int) -> Row:
    return {"note": f"n{number}"}


def _default(number: int) -> Row:
    return {"note": "x"}


def _name(number: int) -> Row:
    return {"name": f"n{number}"}


def _whole(number: int) -> Row:
    return {"n": number}


def _real(number: int) -> Row:
    return {"n": number + 0.5}


def _both(number: int) -> Row:
    return {"note": f"n{number}", "n": number}


def _maybe(number: int) -> Row:
    return {"n": number if number % 3 else None}


NOTE, N = {"name": "note", "type": "string"}, {"name": "n", "type": "int"}
NOTE_OR_X = {**NOTE, "default": "x"}
AVRO = {
    "add with default": _change([], [NOTE_OR_X], (_nothing, _text), FULL, in_table=(_default, _text)),
    "add with null": _change(
        [], [{"name": "note", "type": ["null", "string"], "default": None}], (_nothing, _text), FULL
    ),
    "add without default": _change([], [NOTE], (_nothing, _text), FORWARD),
    "remove with default": _change([NOTE_OR_X], [], (_text, _nothing), FULL, in_table=(_text, _default)),
    "remove without default": _change([NOTE], [], (_text, _nothing), BACKWARD),
    "rename by alias": _change(
        [NOTE], [{"name": "name", "type": "string", "aliases": ["note"]}], (_text, _name), BACKWARD
    ),
    "widen int to long": _change([N], [{"name": "n", "type": "long"}], (_whole, lambda i: {"n": i + 2**40}), BACKWARD),
    "widen float to double": _change(
        [{"name": "n", "type": "float"}], [{"name": "n", "type": "double"}], (_real, lambda i: {"n": i + 0.1}), BACKWARD
    ),
    "widen int to double": _change([N], [{"name": "n", "type": "double"}], (_whole, _real), BACKWARD),
    "reorder": _change([NOTE, N], [N, NOTE], (_both, _both), FULL),
    "enum symbols": _change(
        [{"name": "note", "type": {"type": "enum", "name": "E", "symbols": ["a", "b"]}}],
        [{"name": "note", "type": {"type": "enum", "name": "E", "symbols": ["a", "b", "c"]}}],
        (lambda i: {"note": "ab"[i % 2]}, lambda i: {"note": "abc"[i % 3]}),
        BACKWARD,
    ),
    "make optional": _change([N], [{"name": "n", "type": ["null", "int"]}], (_whole, _maybe), BACKWARD),
    "make required": _change([{"name": "n", "type": ["null", "int"]}], [N], (_maybe, _whole), FORWARD),
    "union widening": _change(
        [{"name": "n", "type": ["null", "int"]}],
        [{"name": "n", "type": ["null", "int", "string"]}],
        (_maybe, lambda i: {"n": i if i % 2 else f"n{i}"}),
        BACKWARD,
        rows=(_maybe, lambda i: {"n": {"int": i, "string": None} if i % 2 else {"int": None, "string": f"n{i}"}}),
        refused="n",
        sink={"schema.compatibility": "BACKWARD"},
    ),
    "another type": _change(
        [N],
        [{"name": "n", "type": "string"}],
        (_whole, lambda i: {"n": f"n{i}"}),
        NONE,
        refused="n",
        sink={"schema.compatibility": "NONE"},
    ),
}


def _json(**properties: str) -> str:
    described = {name: {"type": kind, "connect.index": at} for at, (name, kind) in enumerate(properties.items())}
    return json.dumps({"type": "object", "title": "Order", "additionalProperties": False, "properties": described})


def _of_json(values: tuple[Callable[[int], Row], Callable[[int], Row]]) -> Callable[[bool, int], bytes]:
    return lambda is_new, number: json.dumps({"id": number, **values[is_new](number)}).encode()


def _json_change(old: str, new: str, values: tuple[Callable[[int], Row], Callable[[int], Row]], taken: Modes) -> Change:
    return Change("JSON", old, new, _of_json(values), values, taken)


JSON = {
    "add a property": _json_change(
        _json(id="integer"), _json(id="integer", note="string"), (_nothing, _text), BACKWARD
    ),
    "remove a property": _json_change(
        _json(id="integer", note="string"), _json(id="integer"), (_text, _nothing), FORWARD
    ),
    "integer to number": _json_change(
        _json(id="integer", n="integer"), _json(id="integer", n="number"), (_whole, _real), BACKWARD
    ),
}


def _proto(*fields: str) -> str:
    return 'syntax = "proto3"; message Order { int64 id = 1; ' + " ".join(f"{one};" for one in fields) + " }"


def _of_proto(values: tuple[Callable[[int], bytes], Callable[[int], bytes]]) -> Callable[[bool, int], bytes]:
    """A message's index, its first field, and the others as they lie on the wire."""
    return lambda is_new, number: b"\0\x08" + bytes([number]) + values[is_new](number)


def _text_on_wire(number: int) -> bytes:
    text = f"n{number}".encode()
    return bytes([0x12, len(text)]) + text


PROTOBUF = {
    "add a field": Change(
        "PROTOBUF",
        _proto(),
        _proto("string note = 2"),
        _of_proto((lambda _: b"", _text_on_wire)),
        (_nothing, _text),
        frozenset({"BACKWARD", "FULL"}),
    ),
    "remove a field": Change(
        "PROTOBUF",
        _proto("string note = 2"),
        _proto("reserved 2"),
        _of_proto((_text_on_wire, lambda _: b"")),
        (_text, _nothing),
        NONE,
    ),
    "int32 to int64": Change(
        "PROTOBUF",
        _proto("int32 n = 3"),
        _proto("int64 n = 3"),
        _of_proto((lambda i: bytes([0x18, i]), lambda i: bytes([0x18, 0x80 | i, 0x80, 0x80, 0x80, 0x80, 0x01]))),
        (_whole, lambda i: {"n": i + 2**35}),
        NONE,
    ),
}

CHANGES: Mapping[str, Change] = {
    f"{kind} {name}": change
    for kind, changes in (("avro", AVRO), ("json", JSON), ("protobuf", PROTOBUF))
    for name, change in changes.items()
}

"""Whether one Avro schema reads what another writes: a table, and fastavro as the judge."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pytest
from fastavro.read import SchemaResolutionError

from connect_core.errors import DataError
from connect_core.schema_registry.avro_resolution import avro_can_read


def record(*fields: Any, name: str = "a.R", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def named(name: str, type_: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


def reads(reader: Any, writer: Any, *needs: Any) -> bool:
    return avro_can_read(json.dumps(reader), [json.dumps(one) for one in needs], json.dumps(writer))


ONE = record(named("x", "int"))
RECURSIVE = record(named("next", ["null", "R"]), named("x", "int"))
CASES = [
    (ONE, ONE, {"x": 5}, True),
    (record(named("x", "long")), ONE, {"x": 5}, True),
    (ONE, record(named("x", "long")), {"x": 5}, False),
    (record(named("x", "int"), named("y", "int", default=1)), ONE, {"x": 5}, True),
    (record(named("x", "int"), named("y", "int")), ONE, {"x": 5}, False),
    (record(), ONE, {"x": 5}, True),
    (record(named("z", "int", aliases=["x"])), ONE, {"x": 5}, True),
    (record(named("x", ["null", "int"])), ONE, {"x": 5}, True),
    (record(named("x", ["null", "string"])), ONE, {"x": 5}, False),
    (record(named("x", "bytes")), record(named("x", "string")), {"x": "a"}, True),
    (RECURSIVE, RECURSIVE, {"next": {"next": None, "x": 1}, "x": 2}, True),
    ({"type": "array", "items": "double"}, {"type": "array", "items": "int"}, [1], True),
    ({"type": "map", "values": "int"}, {"type": "map", "values": "string"}, {"a": "b"}, False),
    ({"type": "fixed", "name": "F", "size": 2}, {"type": "fixed", "name": "F", "size": 3}, b"abc", False),
    ({"type": "int", "logicalType": "date"}, "int", 5, True),
]


@pytest.mark.parametrize(("reader", "writer", "value", "expected"), CASES)
def test_as_fastavro_reads(reader: Any, writer: Any, value: Any, expected: bool) -> None:
    file = io.BytesIO()
    fastavro.schemaless_writer(file, fastavro.parse_schema(writer), value)
    file.seek(0)
    try:
        fastavro.schemaless_reader(file, fastavro.parse_schema(writer), fastavro.parse_schema(reader))
        is_read = True
    except SchemaResolutionError:
        is_read = False
    assert is_read is expected
    assert reads(reader, writer) is expected


def enum(*symbols: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "E", "symbols": list(symbols), **more}


@pytest.mark.parametrize(
    ("reader", "writer", "expected"),
    [
        (enum("A", "B"), enum("A"), True),
        (enum("A"), enum("A", "B"), False),
        (enum("A", default="A"), enum("A", "B"), True),
        ("int", ["null", "int"], False),
        (["null", "long"], ["null", "int"], True),
        (record(name="b.Other", aliases=["a.R"]), ONE, True),
        (record(name="b.Other"), ONE, False),
        (record(name="other.space.R"), ONE, True),
    ],
)
def test_what_depends_on_values(reader: Any, writer: Any, expected: bool) -> None:
    assert reads(reader, writer) is expected


def test_references_are_known_by_full_and_short_name() -> None:
    address = record(named("street", "string"), name="a.Address")
    reader = record(named("home", "Address"), named("work", "a.Address"), name="a.Person")
    writer = record(named("home", address), named("work", "a.Address"), name="a.Person")
    assert reads(reader, writer, address)


def test_names_inside_have_the_space_of_what_is_around() -> None:
    inner = {"type": "enum", "name": "E", "symbols": ["A"]}
    whole = record(named("e", inner), named("f", "x.E"), name="R", namespace="x")
    assert reads(whole, whole)


@pytest.mark.parametrize("text", ["{", "{}", '"nothing"', '{"type": "record", "name": "R", "fields": [1]}', "7"])
def test_what_is_no_schema_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="cannot be parsed"):
        avro_can_read(text, [], '"int"')


def test_a_bomb_is_refused() -> None:
    deep = '{"type":"array","items":' * 5000 + '"int"' + "}" * 5000
    with pytest.raises(DataError):
        avro_can_read(deep, [], '"int"')

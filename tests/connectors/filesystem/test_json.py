"""Values in lines of JSON, as Connect's JsonConverter writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from connect_core.api import SchemaBuilder, Struct
from connect_core.api.data import (
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    Float32,
    Int32,
)
from tests.connectors.contexts import Reporter
from tests.connectors.filesystem.export import Export, numbered

pytestmark = pytest.mark.slow


def lines(export: Export) -> list[Any]:
    (file,) = export.out.glob("t/*/*.*")
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def test_floats_of_32_bits_have_no_more_digits_than_they_need(tmp_path: Path, batches: bool) -> None:
    of_lists = SchemaBuilder.array(FLOAT32_SCHEMA).build()
    schema = SchemaBuilder.struct().field("f", FLOAT32_SCHEMA).field("d", FLOAT64_SCHEMA).field("l", of_lists).build()
    value = Struct(schema).put("f", Float32(0.1)).put("d", 0.1).put("l", [Float32(1e10), Float32(float("nan"))])
    typed, plain = (Export(tmp_path / name, format="json") for name in ("typed", "plain"))
    typed.run(numbered([value], value_schema=schema), batches=batches)
    plain.run(numbered([{"f": Float32(0.1), "d": 0.1, "l": [Float32(1e10), Float32("nan")]}]), batches=batches)
    assert lines(typed) == lines(plain) == [{"f": 0.1, "d": 0.1, "l": [1e10, "NaN"]}]
    csv = Export(tmp_path / "csv", format="csv", **{"csv.header": "false"})
    csv.run(numbered([value], value_schema=schema), batches=batches)
    (file,) = csv.out.glob("t/*/*.csv")
    assert file.read_text() == '0.1,0.1,"[10000000000.0,""NaN""]"\n'


@pytest.mark.parametrize("form", ["objects", "arrays"])
def test_maps_with_optional_text_keys_are_objects(tmp_path: Path, batches: bool, form: str) -> None:
    """As in Connect, the type of keys decides, not whether they may be null."""
    inner = SchemaBuilder.map(OPTIONAL_STRING_SCHEMA, INT32_SCHEMA).optional().build()
    schema = SchemaBuilder.struct().field("m", SchemaBuilder.map(OPTIONAL_STRING_SCHEMA, inner).build()).build()
    maps: list[dict[Any, Any]] = [{"a": {"x": Int32(1)}, "b": None, "c": {}}, {None: None}, {}]
    export = Export(tmp_path, format="json", **{"json.map.format": form})
    export.reporter = Reporter()
    export.run(numbered([Struct(schema).put("m", one) for one in maps], value_schema=schema), batches=batches)
    assert lines(export) == [{"m": {"a": {"x": 1}, "b": None, "c": {}}}, {"m": {}}]
    ((record, error),) = export.reporter.reported
    assert record.kafka_offset == 1
    assert "a map has the key null" in str(error)


@pytest.mark.parametrize("value", [{1: "a", "1": "b"}, {None: 1}, {b"x": 1}, {"in": [{True: 1, "true": 2}]}])
def test_keys_without_a_name_of_their_own_are_refused(tmp_path: Path, batches: bool, value: Any) -> None:
    export = Export(tmp_path, format="json")
    export.reporter = Reporter()
    export.run(numbered([{1: "a"}, value, {0.5: "b", True: 2}]), batches=batches)
    assert lines(export) == [{"1": "a"}, {"0.5": "b", "true": 2}]
    assert [record.kafka_offset for record, _ in export.reporter.reported] == [1]

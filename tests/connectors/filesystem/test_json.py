"""Values in lines of JSON, as Connect's JsonConverter writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from connect_core.api import SchemaBuilder, Struct
from connect_core.api.data import FLOAT32_SCHEMA, FLOAT64_SCHEMA, Float32
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

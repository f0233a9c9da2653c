"""Avro files of other programs: logical types, types that have no column, and bytes that are broken."""

from __future__ import annotations

import io
import uuid
from decimal import Decimal as Number
from pathlib import Path
from typing import Any

import fastavro
import pytest

from connect_core.api.data import Decimal, Timestamp
from connect_core.errors import DataError
from connect_core.testing.source_engine import Lane
from tests.connectors.filesystem.reading import Reading, put

pytestmark = pytest.mark.slow

LANES = pytest.mark.parametrize("lane", list(Lane))


def file_of(schema: Any, *rows: Any, **options: Any) -> bytes:
    data = io.BytesIO()
    fastavro.writer(data, schema, rows, **options)
    return data.getvalue()


def record(kind: Any) -> dict[str, Any]:
    """Return the schema of a record with this type, and with an optional list of it."""
    fields = [{"name": "a", "type": kind}, {"name": "b", "type": ["null", {"type": "array", "items": kind}]}]
    return {"type": "record", "name": "shop.Order", "fields": fields}


def read(folder: Path, lane: Lane, kind: Any, value: Any) -> Any:
    """Return the record of a file that contains a value twice."""
    put(folder / "in/a.avro", file_of(record(kind), {"a": value, "b": [value]}))
    (found,) = Reading(folder, lane, format="avro").interval()
    assert found.value.get("b") == [found.value.get("a")]
    return found


@LANES
def test_uuids_are_strings(tmp_path: Path, lane: Lane) -> None:
    value = uuid.UUID(int=5)
    assert read(tmp_path, lane, {"type": "string", "logicalType": "uuid"}, value).value.get("a") == str(value)


@LANES
@pytest.mark.parametrize("logical", [f"{p}timestamp-{unit}" for p in ("", "local-") for unit in ("millis", "micros")])
@pytest.mark.parametrize("millis", [-5, 1_700_000_000_123, 316_516_228_560_000])
def test_times_of_any_year_are_read(tmp_path: Path, lane: Lane, logical: str, millis: int) -> None:
    stored = millis * 1000 if logical.endswith("micros") else millis
    found = read(tmp_path, lane, {"type": "long", "logicalType": logical}, stored)
    assert found.value_schema.field("a").schema.name == Timestamp.LOGICAL_NAME
    assert Timestamp.from_logical(found.value_schema.field("a").schema, found.value.get("a")) == millis


@LANES
@pytest.mark.parametrize(
    ("precision", "scale", "text"), [(60, 50, "1.5"), (60, 2, "1.25"), (76, 40, "123456789012345678901234567890.5")]
)
def test_decimals_of_many_digits_are_read(tmp_path: Path, lane: Lane, precision: int, scale: int, text: str) -> None:
    kind = {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
    found = read(tmp_path, lane, kind, Number(text))
    assert found.value_schema.field("a").schema.name == Decimal.LOGICAL_NAME
    assert found.value.get("a") == Number(text)


def test_a_decimal_that_is_too_large_is_named(tmp_path: Path) -> None:
    kind = {"type": "bytes", "logicalType": "decimal", "precision": 60, "scale": 2}
    with pytest.raises(DataError, match=r"a\.avro: a value of the column a does not fit"):
        read(tmp_path, Lane.BATCHES, kind, Number(10**45))


def test_a_recursive_type_is_named(tmp_path: Path) -> None:
    schema = {"type": "record", "name": "shop.Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}
    put(tmp_path / "in/a.avro", file_of(schema, {"next": {"next": None}}))
    with pytest.raises(DataError, match=r"a\.avro has the type shop\.Node.*recursive types are not supported"):
        Reading(tmp_path, format="avro").interval()


def test_a_named_type_may_be_used_again(tmp_path: Path) -> None:
    price = {"type": "fixed", "name": "Price", "size": 8, "logicalType": "decimal", "precision": 10, "scale": 2}
    fields = [{"name": "a", "type": price}, {"name": "b", "type": "Price"}]
    schema = {"type": "record", "name": "R", "fields": fields}
    put(tmp_path / "in/a.avro", file_of(schema, {"a": Number(1), "b": Number(2)}))
    (found,) = Reading(tmp_path, format="avro").values()
    assert (found.get("a"), found.get("b")) == (1, 2)


def failure(folder: Path, data: bytes) -> str:
    """Return the text of the DataError of a file, empty if it is read."""
    put(folder / "a.avro", data)
    try:
        Reading(folder.parent, format="avro", path=folder.name).interval()
    except DataError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz"])
def test_broken_bytes_are_named(tmp_path: Path, codec: str) -> None:
    whole = file_of(record("string"), *[{"a": f"{n}", "b": None} for n in range(500)], codec=codec)
    places = range(4, len(whole), len(whole) // 60)
    broken = {place: whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :] for place in places}
    found = {failure(tmp_path / f"in{place}", data) for place, data in broken.items()} - {""}
    assert found
    assert all("a.avro" in text for text in found)

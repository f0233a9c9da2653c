"""Columns of keys, headers and places that are not as FileSystemSink writes them, or are text, as in CSV."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from connect_core.api import SinkRecord
from connect_core.api.data import OPTIONAL_STRING_SCHEMA
from connect_core.api.headers import Headers
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.errors import DataError
from tests.connectors.filesystem.reading import Reading, put, written

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_headers_come_back(tmp_path: Path, form: str) -> None:
    some = Headers().add("a", 'x,"y"', OPTIONAL_STRING_SCHEMA).add("none", None, OPTIONAL_STRING_SCHEMA)
    records = [
        SinkRecord("t", 0, None, None, None, {"n": n}, 5, headers, kafka_offset=n)
        for n, headers in enumerate([some, Headers()])
    ]
    written(tmp_path, form, records, Extras(False, False, True))
    found = Reading(tmp_path, format=form, include_headers="true").interval()
    assert [[(one.key, one.value) for one in record.headers] for record in found] == [
        [("a", 'x,"y"'), ("none", None)],
        [],
    ]


def failure(folder: Path, form: str, data: str, part: str) -> str:
    """Return the error of a file that is read with ``include.`` and this part."""
    put(folder / f"in/a.{form}", data)
    with pytest.raises(DataError) as caught:
        Reading(folder, format=form, **{f"include.{part}": "true"}).interval()
    return str(caught.value)


@pytest.mark.parametrize(
    "headers",
    [["x"], {"x": "y"}, 5, "x", "5", [{"name": "h"}], [{"name": "h", "value": 5}], [{"name": 1, "value": "v"}]],
)
def test_headers_of_another_form_are_named(tmp_path: Path, headers: Any) -> None:
    text = failure(tmp_path, "json", json.dumps({"a": 1, "_headers": headers}), "headers")
    assert text.startswith("a.json: _headers is ")
    assert "include.headers=false" in text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("_topic", 5),
        ("_topic", ["x"]),
        ("_partition", "x"),
        ("_partition", 2**40),
        ("_timestamp", 2**70),
        ("_timestamp", 5.5),
        ("_timestamp", "x"),
    ],
)
def test_places_of_another_type_are_named(tmp_path: Path, field: str, value: Any) -> None:
    row = {"_topic": "t", "_partition": 0, "_offset": 0, "_timestamp": 5, field: value}
    text = failure(tmp_path, "json", json.dumps(row), "metadata")
    assert text.startswith(f"a.json: {field} ")
    assert "include.metadata=false" in text


@pytest.mark.parametrize(("field", "value"), [("_partition", "x"), ("_timestamp", "x")])
def test_places_of_another_type_are_named_in_columns(tmp_path: Path, field: str, value: str) -> None:
    row = {"_topic": "t", "_partition": "0", "_offset": "0", "_timestamp": "1970-01-01", field: value}
    text = failure(tmp_path, "csv", ",".join(row) + "\n" + ",".join(row.values()), "metadata")
    assert text.startswith(f"a.csv: {field} ")
    assert "include.metadata=false" in text

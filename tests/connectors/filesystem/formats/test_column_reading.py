"""Headers and rows of CSV files that are not one line of a few bytes; columns that have no type."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connect_core.api import SinkRecord
from connect_core.api.data import OPTIONAL_STRING_SCHEMA
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.formats import column_reading
from connect_core.connectors.filesystem.formats.column_reading import CsvReader
from connect_core.errors import DataError
from connect_core.testing.source_engine import Lane
from tests.connectors.filesystem.reading import Reading, put, written

pytestmark = pytest.mark.slow


def rows(folder: Path, data: str | bytes, **config: str) -> list[Any]:
    """Return the values of each row of a CSV file."""
    put(folder / "in/a.csv", data)
    found = Reading(folder, format="csv", **config).values()
    return [[value.get(field.name) for field in value.schema.fields] for value in found]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_name_may_contain_line_ends(tmp_path: Path, end: str) -> None:
    data = end.join(['"a', 'é","c"', '"1","2"', '"3","4"', ""])
    put(tmp_path / "in/a.csv", data)
    first, second = Reading(tmp_path, format="csv").values()
    assert first.schema.fields[0].name == f"a{end}é"
    assert [first.get("c"), second.get("c")] == ["2", "4"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("\ufeffa,b\n1,2\n", [["1", "2"]]),
        ("\n\r\na,b\n1,2\n", [["1", "2"]]),
        ("a,b", []),
        ('"a"', []),
        ("a\n\n", [[None]]),
        ('"a\nb"\n\nx', [[None], ["x"]]),
        ("\n", []),
    ],
)
def test_rows_begin_behind_the_header(tmp_path: Path, data: str, expected: list[list[Any]]) -> None:
    assert rows(tmp_path, data) == expected


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_row_may_be_longer_than_a_block(monkeypatch: pytest.MonkeyPatch, name: str, quote: str) -> None:
    monkeypatch.setattr(column_reading, "_BLOCK", 100)
    texts = [f"{number}" * size for number, size in enumerate([1, 30, 90, 3, 150, 2, 5000, 1, 500, *[7] * 50])]
    data = "a,b\n" + "".join(f"{number},{quote}{text}{quote}\n" for number, text in enumerate(texts))
    file = io.BytesIO(gzip.compress(data.encode()) if name.endswith("gz") else data.encode())
    reader = CsvReader()
    reader.configure({})
    for skip in (0, 3, 7, len(texts)):
        file.seek(0)
        parts = [part.to_objects().values for part in reader.read(file, name, (0, 10**6), skip)]
        assert [value.get("b") for part in parts for value in part] == texts[skip:]


def test_a_value_of_megabytes_is_read(tmp_path: Path) -> None:
    long = "x" * 3_000_000
    assert rows(tmp_path, f"a,b\n1,{long}\n2,y\n") == [["1", long], ["2", "y"]]


@pytest.mark.parametrize("data", ['a,b\n1,2\n3,"4\n' + "5,6\n" * 100, "a,b\n1,2\n" + "3" * 900 + ",4\n"])
def test_a_row_that_does_not_end_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: str) -> None:
    monkeypatch.setattr(column_reading, "_BLOCK", 50)
    monkeypatch.setattr(column_reading, "_LONGEST", 400)
    with pytest.raises(DataError, match=r"a\.csv has a row of more than \d+ bytes after row [01]; .*quote"):
        rows(tmp_path, data)


@pytest.mark.parametrize("form", ["parquet", "avro"])
@pytest.mark.parametrize("lane", list(Lane))
def test_a_column_of_nulls_alone_is_optional_strings(tmp_path: Path, form: str, lane: Lane) -> None:
    value = {"n": 1, "a": None, "b": {"c": None, "d": 1}, "e": [None], "f": [], "g": [{"x": None, "y": 1}]}
    written(tmp_path, form, [SinkRecord("t", 0, None, None, None, value, kafka_offset=0)])
    (found,) = Reading(tmp_path, lane, format=form).interval()
    assert [found.value.get(name) for name in ("n", "a", "e", "f")] == [1, None, [None], []]
    assert (found.value.get("b").get("c"), found.value.get("b").get("d")) == (None, 1)
    assert [(one.get("x"), one.get("y")) for one in found.value.get("g")] == [(None, 1)]
    assert found.value_schema.field("a").schema == OPTIONAL_STRING_SCHEMA


@pytest.mark.parametrize("form", ["parquet", "avro"])
@pytest.mark.parametrize("unwrap", [True, False])
def test_keys_and_values_of_nulls_alone_are_nulls(tmp_path: Path, form: str, unwrap: bool) -> None:
    value = None if unwrap else {"n": 1}
    records = [SinkRecord("t", 0, None, None, None, value, 5, kafka_offset=n) for n in range(2)]
    written(tmp_path, form, records, Extras(True, True, False))
    include = {"include.key": "true", "include.metadata": "true", "unwrap.value": str(unwrap).lower()}
    found = Reading(tmp_path, format=form, **include).interval()
    assert [(record.key_schema, record.key, record.timestamp) for record in found] == [(None, None, 5)] * 2
    assert [record.value and record.value.get("n") for record in found] == [value and value["n"]] * 2


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (pa.array([1], pa.duration("s")), r"a\.parquet: Arrow's type duration"),
        (pa.array([10**50], pa.decimal256(60, 2)), r"a\.parquet: a value of the column b does not fit"),
    ],
)
def test_a_column_that_connect_does_not_have_is_named(tmp_path: Path, column: pa.Array, text: str) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"a": [1], "b": column}), tmp_path / "in/a.parquet")
    with pytest.raises(DataError, match=text):
        Reading(tmp_path, format="parquet").interval()

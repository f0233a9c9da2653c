"""CSV files of which the driver makes others, because another task found further columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from connect_core.api import SchemaBuilder, Struct
from connect_core.api.data import Date, Instant, Timestamp
from connect_core.connectors.filesystem.formats import csv as csv_format
from tests.connectors.contexts import Reporter
from tests.connectors.filesystem.export import Export, numbered

pytestmark = pytest.mark.slow

DAY = 86_400_000
YEAR = 31_556_952_000


def united(export: Export, batches: bool, *values: Any) -> str:
    """Return the text of a file with these rows, which gets a column ``z`` later."""
    export.run(numbered(values), numbered([{"z": 1}], partition=1), batches=batches)
    (file,) = export.out.glob("t/partition=0/*")
    return str(pa.input_stream(file, compression="detect").read(), "utf-8")


@pytest.mark.parametrize("compression", ["none", "gzip", "zstd"])
def test_lines_longer_than_a_block(tmp_path: Path, batches: bool, compression: str) -> None:
    export = Export(tmp_path, format="csv", **{"compression.type": compression})
    texts = ["a" * 700_000, "b" * 700_000, "x" * 3_000_000, "y", "z" * 20_000_000]
    text = united(export, batches, *({"a": one} for one in texts))
    assert text == '"a","z"\n' + "".join(f'"{one}",\n' for one in texts)


@pytest.mark.parametrize("compression", ["none", "gzip", "zstd"])
def test_blocks_grow_as_often_as_they_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compression: str) -> None:
    monkeypatch.setattr(csv_format, "_BLOCKS", (1_000, 10_000, 1_000_000))
    export = Export(tmp_path, format="csv", **{"compression.type": compression})
    texts = ["a" * 10, "x" * 2_000, "y", "z" * 200_000, "b"]
    text = united(export, False, *({"a": one} for one in texts))
    assert text == '"a","z"\n' + "".join(f'"{one}",\n' for one in texts)


def test_names_of_several_lines(tmp_path: Path, batches: bool) -> None:
    assert united(Export(tmp_path, format="csv"), batches, {"a\nb": 1}, {"a\nb": 2}) == '"a\nb","z"\n1,\n2,\n'


def test_no_header(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, format="csv", **{"csv.header": "false"})
    assert united(export, batches, {"a": "x"}, {"a": None}, {"a": ""}) == '"x",\n,\n"",\n'


def test_times_of_any_year(tmp_path: Path, batches: bool) -> None:
    years = (0, 1, 8029, 8031, 10030, 240_000, -1969, -1971, -2000, -240_000)
    moments = [{"at": Instant(year * YEAR + millis)} for year in years for millis in (-1, 0, 7)]
    alone, other = Export(tmp_path / "alone", format="csv"), Export(tmp_path / "other", format="csv")
    alone.run(numbered([*moments, {"at": None}]))
    (file,) = alone.out.glob("t/*/*.csv")
    lines = file.read_text().replace("\n", ",\n").replace('"at",', '"at","z"')
    assert united(other, batches, *moments, {"at": None}) == lines


LAST = 253_402_300_799_999
"""The last millisecond of the year 9999."""


def test_a_nested_time_without_a_text_is_refused_alone(tmp_path: Path, batches: bool) -> None:
    inner = SchemaBuilder.struct().field("at", Timestamp.SCHEMA).field("day", Date.SCHEMA).build()
    schema = SchemaBuilder.struct().field("all", SchemaBuilder.array(inner).build()).build()
    moments = [0, LAST, LAST + 1, -62_135_596_800_000, -62_135_596_800_001, 1]
    values = [
        Struct(schema).put("all", [Struct(inner).put("at", Instant(at)).put("day", Instant(at // DAY * DAY))])
        for at in moments
    ]
    export = Export(tmp_path, format="csv")
    export.reporter = Reporter()
    marker = export.run(numbered(values, value_schema=schema), batches=batches)
    assert [record.kafka_offset for record, _ in export.reporter.reported] == [2, 4]
    assert "field all[].at is a date or time outside the years 1 to 9999" in str(export.reporter.reported[0][1])
    assert [file.records for file in marker.files] == [4]

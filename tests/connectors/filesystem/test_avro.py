"""Avro files of which the driver makes others, because another task found further columns."""

from __future__ import annotations

from pathlib import Path

import fastavro
import pytest

from connect_core.api.data import Instant
from connect_core.connectors.filesystem.formats.avro.format import AvroFormat
from tests.connectors.filesystem.export import Export, numbered

pytestmark = pytest.mark.slow

YEAR = 31_556_952_000


def test_times_of_any_year(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, format="avro")
    years = (0, 8029, 8031, 10030, 240_000, -1971, -240_000)
    moments = [{"at": Instant(year * YEAR + 7), "in": [{"at": Instant(year * YEAR)}]} for year in years]
    export.run(numbered([*moments, {"at": None}]), numbered([{"z": 1}], partition=1), batches=batches)
    (file,) = export.out.glob("t/partition=0/*")
    with file.open("rb") as source:
        schema = fastavro.reader(source).writer_schema
        source.seek(0)
        columns = (("at", "timestamp[ms, tz=UTC]"), ("in", ("list", ("struct", (("at", "timestamp[ms, tz=UTC]"),)))))
        (found,) = AvroFormat().read(source, columns)
    assert [field["name"] for field in schema["fields"]] == ["at", "in", "z"]
    assert "timestamp-millis" in str(schema)
    assert found.column(0).cast("int64").to_pylist() == [*(year * YEAR + 7 for year in years), None]
    assert [one[0]["at"].value for one in found.column(1)[:-1]] == [year * YEAR for year in years]

"""Records that no column can hold, and which are refused alone."""

from __future__ import annotations

from decimal import Decimal as Number
from pathlib import Path

import pytest

from connect_core.api import Schema, SchemaBuilder, SinkRecord, Struct
from connect_core.api.data import Decimal
from tests.connectors.contexts import Reporter
from tests.connectors.filesystem.export import Export, numbered

pytestmark = pytest.mark.slow


def of_scale(scale: int) -> Schema:
    return SchemaBuilder.struct().field("a", SchemaBuilder.array(Decimal.schema(scale)).build()).build()


@pytest.mark.parametrize("form", ["parquet", "avro", "csv", "json", "orc"])
@pytest.mark.parametrize("scale", [-2, 77])
def test_a_decimal_whose_scale_no_column_has(tmp_path: Path, batches: bool, form: str, scale: int) -> None:
    export = Export(tmp_path, format=form)
    export.reporter = Reporter()
    records = [
        SinkRecord(
            "t", 0, value_schema=schema, value=Struct(schema).put("a", [Number((0, (1,), -at))]), kafka_offset=offset
        )
        for offset, at in enumerate([2, scale])
        if (schema := of_scale(at))
    ]
    marker = export.run(records, batches=batches)
    ((record, error),) = export.reporter.reported
    assert record.kafka_offset == 1
    assert f"field a.[] is a Decimal of scale {scale}; columns have scales from 0 to 76" in str(error)
    assert [file.records for file in marker.files] == [1]


@pytest.mark.parametrize("form", ["parquet", "avro", "csv", "orc"])
def test_a_decimal_of_too_many_fraction_digits(tmp_path: Path, batches: bool, form: str) -> None:
    export = Export(tmp_path, format=form)
    export.reporter = Reporter()
    values = [{"a": Number("1.5")}, {"a": Number("1e-39")}, {"a": Number("1e-37")}]
    marker = export.run(numbered(values), batches=batches)
    ((record, error),) = export.reporter.reported
    assert record.kafka_offset == 1
    assert "field a holds 1E-39, which has more than 38 fraction digits" in str(error)
    assert [file.records for file in marker.files] == [2]

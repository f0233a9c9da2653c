"""Records of which no line can be made, and which are refused alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connect_core.api import Headers, SinkRecord
from connect_core.api.data import Instant
from tests.connectors.contexts import Reporter
from tests.connectors.filesystem.export import Export, numbered

pytestmark = pytest.mark.slow

HALF = "\ud800"


def refused(export: Export, records: list[SinkRecord], batches: bool) -> str:
    """Return why the second of three records was refused."""
    export.reporter = Reporter()
    marker = export.run(records, batches=batches)
    assert [record.kafka_offset for record, _ in export.reporter.reported] == [1]
    assert [file.records for file in marker.files] == [2]
    return str(export.reporter.reported[0][1])


@pytest.mark.parametrize("form", ["json", "envelope"])
@pytest.mark.parametrize("setting", [{"json.time.format": "number"}, {"json.map.format": "arrays"}])
def test_values_nested_too_deeply(tmp_path: Path, batches: bool, form: str, setting: dict[str, str]) -> None:
    deep: Any = {"at": Instant(1)}
    for _ in range(900):
        deep = {"a": deep}
    records = numbered([{"n": 1}, {"n": 2, "deep": deep}, {"n": 3}])
    assert "nested too deeply" in refused(Export(tmp_path, format=form, **setting), records, batches)


@pytest.mark.parametrize("form", ["json", "envelope", "plain", "parquet", "csv", "avro", "orc"])
@pytest.mark.parametrize("part", ["key", "value", "header", "header's name"])
def test_texts_with_half_a_character(tmp_path: Path, batches: bool, form: str, part: str) -> None:
    is_selected = form in ("envelope", "plain")
    given = {"format.output.fields": "key,value,headers"} if is_selected else {"include.key": "true"}
    more = {} if is_selected else {"include.headers": "true"}
    records = numbered(["a", "b", "c"], key="k", headers=Headers().add("h", "x"))
    broken: dict[str, dict[str, Any]] = {
        "key": {"key": HALF},
        "value": {"value": HALF},
        "header": {"headers": Headers().add("h", HALF)},
        "header's name": {"headers": Headers().add(HALF, "x")},
    }
    records[1] = replace(records[1], **broken[part])
    assert "surrogate" in refused(Export(tmp_path, format=form, **given, **more), records, batches)

"""Records whose value is null: written, left out, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connect_core.api import Schema, SchemaBuilder, SinkRecord, Struct
from connect_core.api.data import OPTIONAL_INT64_SCHEMA, OPTIONAL_STRING_SCHEMA
from connect_core.errors import DataError
from tests.connectors.contexts import Reporter
from tests.connectors.filesystem.export import Export, numbered

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("policy", "expected"), [("write", [1, None, 2]), ("ignore", [1, 2])])
def test_tombstones_are_written_or_left_out(tmp_path: Path, batches: bool, policy: str, expected: list[Any]) -> None:
    export = Export(tmp_path, **{"behavior.on.null.values": policy})
    export.run(numbered([{"a": 1}, None, {"a": 2}]), batches=batches)
    assert [row["a"] for row in export.rows()] == expected


def test_tombstones_may_fail(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, **{"behavior.on.null.values": "fail"})
    with pytest.raises(DataError, match=r"offset 1: the value is null and behavior.on.null.values is fail"):
        export.run(numbered([{"a": 1}, None]), batches=batches)
    export.reporter = Reporter()
    export.run(numbered([{"a": 1}, None, {"a": 2}]), sequence=2, batches=batches)
    assert [row["a"] for row in export.rows()] == [1, 2]


# -- beside records with a schema: a null record has none, and is in any file ------------------------------------------

NUMBERS, TEXTS = (
    SchemaBuilder.struct().field("a", schema).build() for schema in (OPTIONAL_INT64_SCHEMA, OPTIONAL_STRING_SCHEMA)
)


def mixed(*values: int | str | None, partition: int = 0) -> list[SinkRecord]:
    return [record_of(value, offset, partition) for offset, value in enumerate(values)]


def record_of(value: int | str | None, offset: int, partition: int) -> SinkRecord:
    schema: Schema | None = NUMBERS if isinstance(value, int) else TEXTS if value else None
    given = None if schema is None else Struct(schema).put("a", value)
    return SinkRecord("t", partition, value_schema=schema, value=given, key="k", kafka_offset=offset, timestamp=1)


@pytest.mark.parametrize("compatibility", ["NONE", "BACKWARD"])
@pytest.mark.parametrize("key", ["false", "true"])
def test_files_of_two_schemas_have_tombstones(tmp_path: Path, batches: bool, compatibility: str, key: str) -> None:
    export = Export(tmp_path, **{"schema.compatibility": compatibility, "include.key": key})
    marker = export.run(mixed(1, None, "x", None), batches=batches)
    assert sorted(str(row["a"]) for row in export.rows()) == ["1", "None", "None", "x"]
    assert [file.records for file in marker.files] == [2, 2]
    assert marker.columns == {}


@pytest.mark.parametrize("tasks", [1, 2])
def test_partitions_of_two_schemas_have_tombstones(export: Export, batches: bool, tasks: int) -> None:
    parts = [mixed(1, None), mixed("x", None, partition=1)]
    marker = export.run(*(parts if tasks == 2 else [[*parts[0], *parts[1]]]), batches=batches)
    assert export.rows() == [{"a": 1}, {"a": None}, {"a": "x"}, {"a": None}]
    assert marker.columns == {}


def test_a_tombstone_is_not_refused_because_of_an_earlier_schema(export: Export, batches: bool) -> None:
    values: list[int | str] = [1, "x"]
    for sequence, value in enumerate(values, 1):
        export.reporter = Reporter()
        export.run(mixed(value, None), sequence=sequence, batches=batches)
        assert export.reporter.reported == []
    assert export.rows() == [{"a": "x"}, {"a": None}]


def test_tombstones_alone_have_the_columns_of_their_topic(export: Export, batches: bool) -> None:
    export.run(numbered([{"a": 1}]), numbered([None], partition=1), batches=batches)
    export.run(numbered([None], partition=2), sequence=2, batches=batches)
    export.run(numbered([{"b": 2}]), numbered([None], partition=3), sequence=3, batches=batches)
    null = {"a": None}
    assert export.rows() == [{**null, "b": 2}, null, null, {**null, "b": None}]


def test_tombstones_first_and_in_between(export: Export, batches: bool) -> None:
    export.run([*mixed(None, 1, None), *mixed(None, partition=1)], batches=batches)
    assert export.rows() == [{"a": None}, {"a": 1}, {"a": None}, {"value": None}]

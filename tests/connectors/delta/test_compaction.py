"""Small files are merged at the end of a run, by delta-rs: no row changes."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from typing import Any

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from deltalake.table import TableOptimizer

from connect_core.api.data import INT64_SCHEMA, STRING_SCHEMA, Date, Schema, SchemaBuilder, Struct, Timestamp
from connect_core.api.data import Decimal as ConnectDecimal
from tests.connectors.delta.lake import Lake, numbered

pytestmark = pytest.mark.slow

ROWS = 3
DAY = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


@pytest.fixture
def compacted(lake: Lake) -> Lake:
    """A table whose files are merged once there are four."""
    lake.set({"compaction.min.files": "4"})
    return lake


def value(number: int) -> dict[str, object]:
    return {
        "id": number,
        "day": f"d{number % 2}" if number % 5 else None,
        "text": "é" * (number % 3),
        "nested": {"at": number / 2, "names": [str(number), "x"]},
        "raw": bytes([number % 256]),
    }


def fill(lake: Lake, count: int, first: int = 1) -> None:
    """Run intervals of three rows, without the end of their run."""
    for sequence in range(first, first + count):
        start = (sequence - 1) * ROWS
        lake.run(numbered([value(start + one) for one in range(ROWS)], first=start), sequence=sequence)


def table(lake: Lake) -> DeltaTable:
    return DeltaTable(str(lake.folder / "lake" / "t"))


def rows(lake: Lake) -> list[dict[str, object]]:
    found = table(lake).to_pyarrow_table().to_pylist()
    return sorted(found, key=lambda row: row["id"])


def test_files_are_merged_once_there_are_enough(compacted: Lake) -> None:
    fill(compacted, 3)
    compacted.committer().sweep([])
    assert len(table(compacted).file_uris()) == 3
    fill(compacted, 1, first=4)
    before, version = rows(compacted), table(compacted).version()
    compacted.committer().sweep([])
    assert len(table(compacted).file_uris()) == 1
    assert table(compacted).version() == version + 1
    assert rows(compacted) == before
    assert [row["id"] for row in before] == list(range(12))


def test_without_the_setting_files_stay(lake: Lake) -> None:
    fill(lake, 6)
    lake.committer().sweep([])
    assert len(table(lake).file_uris()) == 6


def test_each_partition_is_merged_by_itself(compacted: Lake) -> None:
    compacted.set({"partition.columns": "day"})
    fill(compacted, 8)
    before = rows(compacted)
    compacted.committer().sweep([])
    assert len(table(compacted).file_uris()) == 3
    assert rows(compacted) == before


def test_later_intervals_and_replays_go_on_as_before(compacted: Lake) -> None:
    fill(compacted, 4)
    staged = compacted.stage(numbered([value(12)], first=12), 5)
    committer, key = compacted.committer(), compacted.key(5)
    marker = committer.commit(key, staged)
    committer.publish(key, marker)
    committer.sweep([])
    compacted.committer(epoch=2).publish(key, marker)
    assert [row["id"] for row in rows(compacted)] == list(range(13))
    assert not [found for one in committer.recount(1, key) for found in one.differences]


def test_upserts_find_rows_in_merged_files(compacted: Lake) -> None:
    compacted.set({"upsert.enabled": "true", "id.columns": "id"})
    fill(compacted, 4)
    compacted.committer().sweep([])
    compacted.run(numbered([{**value(5), "text": "new"}], first=12), sequence=5)
    assert [row["id"] for row in rows(compacted)] == list(range(12))
    assert [row["text"] for row in rows(compacted) if row["id"] == 5] == ["new"]


def test_types_come_back_equal(compacted: Lake) -> None:
    schema = (
        SchemaBuilder.struct()
        .field("id", SchemaBuilder.int64().build())
        .field("at", Timestamp.SCHEMA)
        .field("on", Date.SCHEMA)
        .field("price", ConnectDecimal.schema(4))
        .field("tags", SchemaBuilder.map(SchemaBuilder.string().build(), SchemaBuilder.float64().build()).build())
        .build()
    )
    for number in range(4):
        struct = Struct(schema)
        struct.put("id", number)
        struct.put("at", DAY + datetime.timedelta(milliseconds=number))
        struct.put("on", DAY + datetime.timedelta(days=number))
        struct.put("price", Decimal(f"-{number}.1234"))
        struct.put("tags", {"a": float(number)})
        compacted.run(numbered([struct], first=number, value_schema=schema), sequence=number + 1)
    before, columns = rows(compacted), table(compacted).schema().to_json()
    compacted.committer().sweep([])
    assert len(table(compacted).file_uris()) == 1
    assert rows(compacted) == before
    assert table(compacted).schema().to_json() == columns


@pytest.mark.parametrize(
    ("error", "text"),
    [(CommitFailedError("another"), "others changed it"), (OSError(28, "No space left on device"), "No space left")],
)
def test_a_failure_fails_no_run(
    compacted: Lake,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    text: str,
) -> None:
    def fail(self: TableOptimizer, **options: object) -> None:
        raise error

    caplog.set_level("INFO")
    fill(compacted, 4)
    before = rows(compacted)
    monkeypatch.setattr(TableOptimizer, "compact", fail)
    compacted.committer().sweep([])
    assert text in caplog.text
    assert rows(compacted) == before


def fill_partitions(lake: Lake, schema: Schema, values: list[Any]) -> None:
    """Run four intervals with a row for each value of the partition column."""
    lake.set({"partition.columns": "part"})
    whole = SchemaBuilder.struct().field("id", INT64_SCHEMA).field("part", schema).build()
    for number in range(4):
        first = number * len(values)
        some = [Struct.of_values(whole, (first + one, value)) for one, value in enumerate(values)]
        lake.run(numbered(some, first=first, value_schema=whole), sequence=number + 1)


def parts(lake: Lake) -> set[str]:
    """Return the values of the partition column as the log has them."""
    logged = [json.loads(line) for file in (lake.folder / "lake" / "t" / "_delta_log").glob("*.json")
              for line in file.read_text().splitlines()]  # fmt: skip
    return {one["add"]["partitionValues"]["part"] for one in logged if "add" in one}


@pytest.mark.parametrize(
    ("schema", "values", "text"),
    [
        (ConnectDecimal.schema(2), [Decimal("-1.05"), Decimal("-0.50"), Decimal("2.05")], "part is a decimal"),
        (STRING_SCHEMA, ["a", "__HIVE_DEFAULT_PARTITION__"], "part holds the text __HIVE_DEFAULT_PARTITION__"),
    ],
)
def test_partitions_that_delta_rs_would_change_are_left_alone(
    compacted: Lake, caplog: pytest.LogCaptureFixture, schema: Schema, values: list[Any], text: str
) -> None:
    fill_partitions(compacted, schema, values)
    version, committer = table(compacted).version(), compacted.committer()
    committer.sweep([])
    committer.sweep([])
    assert table(compacted).version() == version
    assert parts(compacted) == {str(value) for value in values}
    assert caplog.text.count(text) == 1

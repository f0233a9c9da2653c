from __future__ import annotations

from dataclasses import replace

import pytest

from connect_core.api.batch import Batch
from connect_core.api.data import INT64_SCHEMA, Instant, Int32, SchemaBuilder, Struct
from connect_core.api.records import SourceRecord
from connect_core.errors import ConfigError, DataError, SchemaBuilderError
from connect_core.task.pipeline import columnar
from connect_core.transforms.insert_field import InsertFieldKey, InsertFieldValue
from tests.transforms.single import applied, configured, in_columns, sink

SCHEMA = SchemaBuilder.struct().name("row").field("a", INT64_SCHEMA).optional().build()
ALL = {"topic_field": "topic", "partition_field": "p", "offset_field": "o!", "timestamp_field": "time?"}


def test_metadata_in_maps() -> None:
    (inserted,) = applied(configured(InsertFieldValue, **ALL), sink({"a": 1}))
    assert inserted.value == {"a": 1, "topic": "t", "p": Int32(1), "o": 7, "time": 1000}
    assert list(inserted.value) == ["a", "topic", "p", "o", "time"]


def test_metadata_in_structs() -> None:
    (inserted,) = applied(configured(InsertFieldValue, **ALL), sink(Struct(SCHEMA).put("a", 1), SCHEMA))
    assert list(inserted.value.values) == [1, "t", 1, 7, Instant(1000)]
    schema = inserted.value_schema
    assert (schema.name, schema.optional) == ("row", False)
    assert [field.schema.optional for field in schema.fields] == [False, True, True, False, True]


def test_static_text_replaces_an_entry() -> None:
    transform = configured(InsertFieldKey, static_field="a", static_value="s")
    (inserted,) = applied(transform, sink({"v": 1}, key={"a": 1, "b": 2}))
    assert inserted.key == {"a": "s", "b": 2}


def test_nulls_stay() -> None:
    transform = configured(InsertFieldValue, static_field="s", static_value="x")
    records = applied(transform, sink(None), sink(None))
    assert [record.value for record in records] == [None, None]
    first, second = applied(transform, sink(None), sink({"a": 1}))
    assert (first.value, second.value) == (None, {"a": 1, "s": "x"})


def test_missing_metadata_leaves_the_entry_out() -> None:
    transform = configured(InsertFieldValue, partition_field="p", timestamp_field="time")
    (inserted,) = applied(transform, sink({"a": 1}, kafka_partition=None, timestamp=None))
    assert inserted.value == {"a": 1}
    assert in_columns(transform, sink({"a": 1}, timestamp=None), sink({"a": 1})) is None


@pytest.mark.parametrize(("inserted", "read_time"), [("timestamp_field", None), ("topic_field", 5)])
def test_record_whose_time_is_inserted_keeps_it(inserted: str, read_time: int | None) -> None:
    batch = replace(columnar(Batch.from_records([sink({"a": 1}, timestamp=5)])), read_time=5)
    changed = configured(InsertFieldValue, **{inserted: "f"}).apply_batch(batch)
    assert changed is not None
    assert (changed.timestamp.to_pylist(), changed.read_time) == ([5], read_time)


def test_offset_needs_a_sink_record() -> None:
    transform = configured(InsertFieldValue, offset_field="o")
    record = SourceRecord("t", None, None, None, None, {"a": 1}, source_partition={}, source_offset={})
    with pytest.raises(DataError, match="Only SinkRecord supported"):
        transform.apply(record)
    assert transform.apply_batch(Batch.from_records([record])) is None


def test_field_that_exists_is_refused_under_a_schema() -> None:
    transform = configured(InsertFieldValue, topic_field="a")
    record = sink(Struct(SCHEMA).put("a", 1), SCHEMA)
    with pytest.raises(SchemaBuilderError, match="duplication"):
        transform.apply(record)
    assert transform.apply_batch(Batch.from_records([record])) is None


@pytest.mark.parametrize("settings", [{}, {"static_field": "a"}])
def test_nothing_to_insert_is_refused(settings: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        configured(InsertFieldValue, **settings)

from __future__ import annotations

from connect_core.transforms.flatten import FlattenValue
from tests.transforms.rows import SCHEMA, row
from tests.transforms.single import applied, configured, in_columns, sink


def test_fields_are_named_by_their_path() -> None:
    records = applied(
        configured(FlattenValue, delimiter="_"), sink(row(1, 5), SCHEMA), sink(row(2, inner=False), SCHEMA)
    )
    assert [field.name for field in records[0].value_schema.fields] == ["a", "n_x", "d"]
    assert [list(record.value.values) for record in records] == [[1, 5, 7], [2, None, 7]]


def test_maps_are_flattened() -> None:
    transform = configured(FlattenValue)
    (flat,) = applied(transform, sink({"a": {"b": {"c": 1}}, "l": [1]}))
    assert flat.value == {"a.b.c": 1, "l": [1]}
    assert in_columns(transform, sink({"a": {"b": 1}}), sink({"a": None})) is None

"""InsertHeader, DropHeaders and HeaderFrom."""

from __future__ import annotations

import pytest

from connect_core.api.data import INT64_SCHEMA, SchemaBuilder, Struct
from connect_core.api.headers import Header, Headers
from connect_core.errors import ConfigError, NullValueError
from connect_core.transforms.drop_headers import DropHeaders
from connect_core.transforms.header_from import HeaderFromKey, HeaderFromValue
from connect_core.transforms.insert_header import InsertHeader
from tests.transforms.single import applied, configured, in_columns, sink

SCHEMA = SchemaBuilder.struct().field("a", INT64_SCHEMA).field("b", INT64_SCHEMA).build()


def _seen(record) -> list[tuple[str, object]]:
    return [(header.key, header.value) for header in record.headers]


def test_insert_appends():
    old = sink(1, headers=Headers([Header("h", None, "old")]))
    records = applied(configured(InsertHeader, header="h", value_literal="2"), old, sink(2))
    assert [_seen(record) for record in records] == [[("h", "old"), ("h", 2)], [("h", 2)]]
    assert _seen(old) == [("h", "old")]


def test_drop_removes_all_of_a_name():
    headers = Headers([Header("a", None, 1), Header("b", None, 2), Header("a", None, 3)])
    records = applied(configured(DropHeaders, headers="a,c"), sink(1, headers=headers), sink(2))
    assert [_seen(record) for record in records] == [[("b", 2)], []]


@pytest.mark.parametrize(("operation", "left"), [("copy", {"a": 1, "b": 2}), ("move", {"b": 2})])
def test_header_from_maps(operation, left):
    transform = configured(HeaderFromValue, fields="a,z", headers="h,i", operation=operation)
    (made,) = applied(transform, sink({"a": 1, "b": 2}))
    assert (made.value, _seen(made)) == (left, [("h", 1), ("i", None)])


def test_header_from_structs_takes_schemas():
    transform = configured(HeaderFromKey, fields="a", headers="h", operation="move")
    key = Struct.of_values(SCHEMA, [1, 2])
    (made,) = applied(transform, sink(1, key_schema=SCHEMA, key=key))
    assert [(header.key, header.schema, header.value) for header in made.headers] == [("h", INT64_SCHEMA, 1)]
    assert [field.name for field in made.key_schema.fields] == ["b"]


def test_header_from_refuses_unknown_fields():
    transform = configured(HeaderFromValue, fields="z", headers="h", operation="copy")
    record = sink(Struct.of_values(SCHEMA, [1, 2]), SCHEMA)
    with pytest.raises(NullValueError, match="no field z"):
        transform.apply(record)
    assert in_columns(transform, record) is None


@pytest.mark.parametrize(
    "settings", [{"fields": "a,b", "headers": "h"}, {"fields": "", "headers": "h"}, {"fields": "a", "headers": "h"}]
)
def test_header_from_refuses_bad_settings(settings):
    operation = {} if settings.get("fields") == "a" else {"operation": "copy"}
    with pytest.raises(ConfigError):
        configured(HeaderFromValue, **settings, **operation)

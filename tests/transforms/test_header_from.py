from __future__ import annotations

import pytest

from connect_core.api.data import INT64_SCHEMA, SchemaBuilder, Struct
from connect_core.errors import ConfigError, NullValueError
from connect_core.transforms.header_from import HeaderFromKey, HeaderFromValue
from tests.transforms.single import applied, configured, in_columns, pairs, sink

SCHEMA = SchemaBuilder.struct().field("a", INT64_SCHEMA).field("b", INT64_SCHEMA).build()


@pytest.mark.parametrize(("operation", "left"), [("copy", {"a": 1, "b": 2}), ("move", {"b": 2})])
def test_entries_of_maps_become_headers(operation: str, left: dict[str, int]) -> None:
    transform = configured(HeaderFromValue, fields="a,z", headers="h,i", operation=operation)
    (made,) = applied(transform, sink({"a": 1, "b": 2}))
    assert (made.value, pairs(made)) == (left, [("h", 1), ("i", None)])


def test_fields_of_structs_keep_their_schemas() -> None:
    transform = configured(HeaderFromKey, fields="a", headers="h", operation="move")
    key = Struct.of_values(SCHEMA, [1, 2])
    (made,) = applied(transform, sink(1, key_schema=SCHEMA, key=key))
    assert [(header.key, header.schema, header.value) for header in made.headers] == [("h", INT64_SCHEMA, 1)]
    assert [field.name for field in made.key_schema.fields] == ["b"]


def test_unknown_field_is_refused() -> None:
    transform = configured(HeaderFromValue, fields="z", headers="h", operation="copy")
    record = sink(Struct.of_values(SCHEMA, [1, 2]), SCHEMA)
    with pytest.raises(NullValueError, match="no field z"):
        transform.apply(record)
    assert in_columns(transform, record) is None


@pytest.mark.parametrize(
    "settings", [{"fields": "a,b", "headers": "h"}, {"fields": "", "headers": "h"}, {"fields": "a", "headers": "h"}]
)
def test_invalid_settings_are_refused(settings: dict[str, str]) -> None:
    operation = {} if settings.get("fields") == "a" else {"operation": "copy"}
    with pytest.raises(ConfigError):
        configured(HeaderFromValue, **settings, **operation)

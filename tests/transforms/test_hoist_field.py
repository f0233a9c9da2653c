from __future__ import annotations

import pytest

from connect_core.api.data import STRING_SCHEMA, Schema
from connect_core.errors import DataError
from connect_core.transforms.hoist_field import HoistFieldKey, HoistFieldValue
from tests.transforms.single import applied, configured, in_columns, sink


@pytest.mark.parametrize(("schema", "value"), [(None, 5), (None, {"a": 1}), (None, None), (STRING_SCHEMA, "line")])
def test_value_is_wrapped(schema: Schema | None, value: object) -> None:
    (hoisted,) = applied(configured(HoistFieldValue, field="f"), sink(value, schema))
    assert (hoisted.value["f"], hoisted.value_schema is None) == (value, schema is None)


def test_null_under_a_required_schema_is_refused() -> None:
    transform = configured(HoistFieldKey, field="f")
    record = sink(1, key_schema=STRING_SCHEMA)
    with pytest.raises(DataError, match="null used for required"):
        transform.apply(record)
    assert in_columns(transform, record) is None

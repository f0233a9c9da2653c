from __future__ import annotations

import pytest

from connect_core.errors import DataError
from connect_core.transforms.value_to_key import ValueToKey
from tests.transforms.rows import SCHEMA, row
from tests.transforms.single import applied, configured, in_columns, sink


def test_key_has_the_fields_in_order() -> None:
    transform = configured(ValueToKey, fields="d,a")
    (keyed,) = applied(transform, sink(row(1), SCHEMA))
    assert list(keyed.key.values) == [7, 1]
    (in_map,) = applied(transform, sink({"a": 1}))
    assert in_map.key == {"d": None, "a": 1}


def test_missing_field_is_refused() -> None:
    transform = configured(ValueToKey, fields="zz")
    with pytest.raises(DataError, match="Field does not exist: zz"):
        transform.apply(sink(row(1), SCHEMA))
    assert in_columns(transform, sink(row(1), SCHEMA)) is None

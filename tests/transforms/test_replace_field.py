from __future__ import annotations

import pytest

from connect_core.errors import ConfigError
from connect_core.transforms.replace_field import ReplaceFieldValue
from tests.transforms.rows import SCHEMA, row
from tests.transforms.single import applied, configured, sink


def test_fields_are_dropped_renamed_and_defaulted() -> None:
    transform = configured(ReplaceFieldValue, exclude="n", renames="a:id")
    (replaced,) = applied(transform, sink(row(1), SCHEMA))
    assert [field.name for field in replaced.value_schema.fields] == ["id", "d"]
    assert list(replaced.value.values) == [1, 7]
    (in_map,) = applied(transform, sink({"a": 1, "n": 2, "z": 3}))
    assert in_map.value == {"id": 1, "z": 3}


def test_included_fields_are_kept() -> None:
    (kept,) = applied(configured(ReplaceFieldValue, include="b,a"), sink({"a": 1, "b": 2, "c": 3}))
    assert kept.value == {"a": 1, "b": 2}


@pytest.mark.parametrize("renames", ["a", "a:b:c", "a:b,,c:d"])
def test_invalid_renames_are_refused(renames: str) -> None:
    with pytest.raises(ConfigError, match="Invalid rename mapping"):
        configured(ReplaceFieldValue, renames=renames)

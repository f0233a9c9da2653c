from __future__ import annotations

import pytest

from connect_core.errors import ConfigError, IllegalArgumentError
from connect_core.transforms.extract_field import ExtractFieldKey, ExtractFieldValue
from tests.transforms.rows import DEFAULTED, SCHEMA, row
from tests.transforms.single import applied, configured, in_columns, sink


@pytest.mark.parametrize(("path", "expected"), [("a", [1, 2]), ("n.x", [5, None]), ("d", [7, 3]), ("`a`", [1, 2])])
def test_path_is_followed(path: str, expected: list[int | None]) -> None:
    transform = configured(ExtractFieldValue, field=path, field_syntax_version="V2")
    records = applied(transform, sink(row(1, 5), SCHEMA), sink(row(2, inner=False, d=3), SCHEMA))
    assert [record.value for record in records] == expected


def test_null_is_kept_without_replacement() -> None:
    transform = configured(ExtractFieldValue, field="d", replace_null_with_default="false")
    (extracted,) = applied(transform, sink(row(1), SCHEMA))
    assert (extracted.value, extracted.value_schema) == (None, DEFAULTED)


def test_entry_of_a_map_is_extracted() -> None:
    transform = configured(ExtractFieldKey, field="a")
    records = applied(transform, sink(1, key={"a": "x"}), sink(1, key=None))
    assert [record.key for record in records] == ["x", None]
    (missing,) = applied(transform, sink(1, key={"b": 1}))
    assert missing.key is None


def test_unknown_field_is_refused() -> None:
    transform = configured(ExtractFieldValue, field="zz")
    with pytest.raises(IllegalArgumentError, match="Unknown field: zz"):
        transform.apply(sink(row(1), SCHEMA))
    assert in_columns(transform, sink(row(1), SCHEMA)) is None


@pytest.mark.parametrize("path", ["`", "a.`", "`abc", "a.`b", "`a\\`"])
def test_incomplete_backticks_are_refused(path: str) -> None:
    with pytest.raises(ConfigError, match="Incomplete backtick pair"):
        configured(ExtractFieldValue, field=path, field_syntax_version="V2")

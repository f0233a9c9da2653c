from __future__ import annotations

import pytest

from connect_core.connectors.filesystem.columns import Kind
from connect_core.connectors.filesystem.hive.types import hive_type, kind_of_hive_type
from connect_core.errors import DataError

TYPES: list[tuple[Kind, str]] = [
    ("bool", "boolean"),
    ("int8", "tinyint"),
    ("int16", "smallint"),
    ("int32", "int"),
    ("int64", "bigint"),
    ("float", "float"),
    ("double", "double"),
    ("string", "string"),
    ("binary", "binary"),
    ("date32[day]", "date"),
    ("timestamp[ms, tz=UTC]", "timestamp"),
    ("decimal128(38, 2)", "decimal(38,2)"),
    (("list", "int32"), "array<int>"),
    (("map", "string", ("list", "double")), "map<string,array<double>>"),
    (
        ("struct", (("a", "decimal128(10, 0)"), ("b", ("struct", (("c", ("map", "int32", "string")),))))),
        "struct<a:decimal(10,0),b:struct<c:map<int,string>>>",
    ),
]


@pytest.mark.parametrize(("kind", "text"), TYPES)
def test_types_are_hives_and_back(kind: Kind, text: str) -> None:
    assert hive_type(kind) == text
    assert kind_of_hive_type(text) == kind


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("time32[ms]", r"no type for time32\[ms\]; cast it"),
        ("decimal256(40, 2)", "at most 38 digits"),
        ("decimal128(38, -1)", "a scale from 0"),
        (("map", ("list", "int32"), "string"), "keys of Hive's maps"),
        (("struct", (("a:b", "int32"),)), "'a:b' cannot be a field"),
        (("list", ("struct", (("at", "time32[ms]"),))), "no type for time32"),
    ],
)
def test_what_hive_has_no_type_for_is_refused(kind: Kind, message: str) -> None:
    with pytest.raises(DataError, match=message):
        hive_type(kind)


def test_types_of_tables_made_by_others_are_understood() -> None:
    found = [kind_of_hive_type(text) for text in ("VARCHAR(20)", "char(3)", "integer", "decimal", "decimal(5)", "INT")]
    assert found == ["string", "string", "int32", "decimal128(10, 0)", "decimal128(5, 0)", "int32"]
    with pytest.raises(DataError, match="uniontype<int,string> is not one of exported files"):
        kind_of_hive_type("uniontype<int,string>")
    with pytest.raises(DataError, match="interval_day_time"):
        kind_of_hive_type("interval_day_time")

from __future__ import annotations

import pytest

from connect_core.api.config import AbstractConfig
from connect_core.connectors.filesystem.columns import ColumnKinds
from connect_core.connectors.filesystem.hive.partitions import folders_of, values_of
from connect_core.connectors.filesystem.hive.stored_as import StoredAs, stored_as
from connect_core.connectors.filesystem.hive.table_columns import table_columns, united
from connect_core.connectors.filesystem.sink.config import CONFIG
from connect_core.errors import DataError


def form(name: str, **config: str) -> StoredAs:
    given = {key.replace("_", "."): value for key, value in config.items()}
    return stored_as(name, AbstractConfig(CONFIG, {"path": "out", **given}))


def test_names_are_in_lower_case_and_folders_are_no_columns() -> None:
    columns = (("userId", "int64"), ("Country", "string"), ("At", ("struct", (("Zone", "string"),))))
    found = table_columns(columns, ("country",), form("parquet"))
    assert found == (("userid", "int64"), ("at", ("struct", (("zone", "string"),))))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((("id", "int64"), ("ID", "int64")), "column ID occurs twice"),
        ((("a", ("struct", (("b", "int64"), ("B", "int64")))),), r"column a\.B occurs twice"),
        ((("a,b", "int64"),), "'a,b' cannot be one"),
        ((("at", "time32[ms]"),), "column at: Hive has no type"),
        ((("country", "string"),), "no column is left"),
    ],
)
def test_columns_that_a_table_cannot_have_are_refused(columns: ColumnKinds, message: str) -> None:
    with pytest.raises(DataError, match=message):
        table_columns(columns, ("country",), form("parquet"))


def test_a_table_has_the_columns_of_all_files() -> None:
    files = [(("a", "int32"),), (("a", "int64"), ("b", "string"))]
    assert united(files, form("parquet")) == (("a", "int64"), ("b", "string"))
    with pytest.raises(DataError, match="field a holds string where int32 is stored in other files"):
        united([(("a", "int32"),), (("a", "string"),)], form("orc"))


def test_longs_are_no_floats_in_parquet() -> None:
    """Spark fails on such files; of Avro and ORC it reads them."""
    for kinds in (("int64", "double"), (("list", "int64"), ("list", "double"))):
        files: list[ColumnKinds] = [(("a", kind),) for kind in kinds]
        with pytest.raises(DataError, match="column a has 64-bit integers in some files and floats in others"):
            united(files, form("parquet"))
        assert united(files, form("orc")) == (("a", kinds[1]),)
    structs: list[ColumnKinds] = [(("s", ("struct", (("a", kind),))),) for kind in ("float", "int64")]
    with pytest.raises(DataError, match="column s has"):
        united(structs, form("parquet"))
    assert united([(("a", "int32"),), (("a", "double"),)], form("parquet")) == (("a", "double"),)


def test_avro_has_no_small_integers_and_only_texts_as_keys_of_maps() -> None:
    columns = (("a", "int8"), ("m", ("map", "int16", "string")), ("t", ("map", "string", "int8")))
    assert united([columns], form("avro")) == (
        ("a", "int32"),
        ("m", ("list", ("struct", (("key", "int32"), ("value", "string"))))),
        ("t", ("map", "string", "int32")),
    )


def test_columns_of_csv_are_texts_by_position() -> None:
    csv = form("csv", csv_delimiter="\\t")
    assert csv.serde_properties["separatorChar"] == "\t"
    assert csv.properties == {"skip.header.line.count": "1"}
    assert form("csv", csv_header="false").properties == {}
    assert united([(("a", "int64"), ("b", "date32[day]")), (("a", "string"),)], csv) == (
        ("a", "string"),
        ("b", "string"),
    )
    with pytest.raises(DataError, match="by position, and files have a, b and a, c"):
        united([(("a", "int64"), ("b", "int64")), (("a", "int64"), ("c", "int64"))], csv)
    with pytest.raises(DataError, match="column day has the name of a folder"):
        table_columns((("day", "string"), ("a", "string")), ("day",), csv)


def test_folders_are_partitions() -> None:
    names = ["lake/t/c=de/x/1.parquet", "lake/t/c=de/x/2.parquet", "lake/t/c=fr/3.parquet"]
    assert folders_of([{"name": name, "home": "lake/t"} for name in names]) == ["c=de/x", "c=fr"]
    assert values_of("country=de/City=..%2F..%2Fx", ["country", "city"]) == ["de", "../../x"]
    assert values_of("c=a=b%25", ["c"]) == ["a=b%"]
    assert values_of("c=__HIVE_DEFAULT_PARTITION__", ["c"]) == ["__HIVE_DEFAULT_PARTITION__"]
    assert values_of("c=Zoë%ED%A0%80", ["c"]) == ["Zoë%ED%A0%80"]


def test_records_without_a_time_are_hives_null() -> None:
    found = values_of("time=__HIVE_DEFAULT_PARTITION__", ["year", "month"])
    assert found == ["__HIVE_DEFAULT_PARTITION__"] * 2

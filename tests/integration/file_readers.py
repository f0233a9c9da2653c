"""Readers that know nothing of connect-core: what they find in a file, as values of Python with their types checked."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv, orc

from tests.integration.file_rows import COLUMNS, Row

__all__ = ["READERS", "SPARK", "by_spark", "plain"]

_ARROW: Mapping[str, pa.DataType] = {
    "n": pa.int64(),
    "small": pa.int8(),
    "short": pa.int16(),
    "number": pa.int32(),
    "single": pa.float32(),
    "double": pa.float64(),
    "flag": pa.bool_(),
    "text": pa.string(),
    "country": pa.string(),
    "data": pa.binary(),
    "amount": pa.decimal128(38, 4),
    "day": pa.date32(),
    "at": pa.timestamp("ms", "UTC"),
    "moment": pa.time32("ms"),
    "tags": pa.list_(pa.string()),
    "attrs": pa.map_(pa.string(), pa.int32()),
    "place": pa.struct([("city", pa.string()), ("zip", pa.int32())]),
}
_DUCK: Mapping[str, str] = {
    "n": "BIGINT",
    "small": "TINYINT",
    "short": "SMALLINT",
    "number": "INTEGER",
    "single": "FLOAT",
    "double": "DOUBLE",
    "flag": "BOOLEAN",
    "text": "VARCHAR",
    "country": "VARCHAR",
    "data": "BLOB",
    "amount": "DECIMAL(38,4)",
    "day": "DATE",
    "at": "TIMESTAMP WITH TIME ZONE",
    "moment": "TIME",
    "tags": "VARCHAR[]",
    "attrs": "MAP(VARCHAR, INTEGER)",
    "place": "STRUCT(city VARCHAR, zip INTEGER)",
}
_FILE_ONLY = "hive_partitioning=false"
"""Else the folder day=14 would stand in for the column day."""
_TEXT_IN_CSV = ("data", "tags", "attrs", "place")
_JSON_IN_CSV = ("tags", "attrs", "place")


def plain(row: Row) -> Row:
    """Return a row with maps as maps and times in UTC, however a reader tells them."""
    return {name: _plain(name, value) for name, value in row.items()}


def _plain(name: str, value: Any) -> Any:
    if name == "attrs" and isinstance(value, list):
        return dict(value)
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return value


def parquet_by_arrow(file: Path) -> list[Row]:
    table = pq.ParquetFile(file).read()
    assert {field.name: field.type for field in table.schema} == dict(_ARROW)
    return list(table.to_pylist())


def orc_by_arrow(file: Path) -> list[Row]:
    table = orc.ORCFile(str(file)).read()
    # ORC keeps nanoseconds, and has no time of day.
    wanted = {name: kind for name, kind in _ARROW.items() if name != "moment"} | {"at": pa.timestamp("ns", "UTC")}
    assert {field.name: field.type for field in table.schema} == wanted
    at = table.column("at").cast(pa.timestamp("ms", "UTC"))
    return list(table.set_column(table.schema.get_field_index("at"), "at", at).to_pylist())


def avro_by_fastavro(file: Path) -> list[Row]:
    with file.open("rb") as source:
        reader = fastavro.reader(source)
        kinds = {field["name"]: field["type"] for field in reader.writer_schema["fields"]}
        assert list(kinds) == list(COLUMNS)
        return [dict(one) for one in reader]


def csv_by_arrow(file: Path) -> list[Row]:
    kinds = {name: pa.string() if name in _TEXT_IN_CSV else kind for name, kind in _ARROW.items()}
    convert = csv.ConvertOptions(
        column_types=kinds, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
    )
    table = csv.read_csv(file, parse_options=csv.ParseOptions(newlines_in_values=True), convert_options=convert)
    return [_from_csv(row) for row in table.to_pylist()]


def csv_by_duckdb(file: Path) -> list[Row]:
    kinds = {name: "VARCHAR" if name in _TEXT_IN_CSV else kind for name, kind in _DUCK.items()}
    options = f"columns={kinds!r}, header=true, nullstr='', allow_quoted_nulls=false, delim=',', {_FILE_ONLY}"
    rows = _duck(f"from read_csv('{file}', {options}, auto_detect=false, quote='\"', escape='\"', new_line='\\n')")
    return [_from_csv(row) for row in rows]


def _from_csv(row: Row) -> Row:
    return {
        name: json.loads(value) if name in _JSON_IN_CSV and value is not None else value for name, value in row.items()
    }


def parquet_by_duckdb(file: Path) -> list[Row]:
    source = f"from read_parquet('{file}', {_FILE_ONLY})"
    with duckdb.connect() as connection:
        found = connection.sql(f"describe {source}").fetchall()
    assert {name: kind for name, kind, *_ in found} == dict(_DUCK)
    return _duck(source)


def json_by_duckdb(file: Path) -> list[Row]:
    kinds = {**_DUCK, "data": "VARCHAR"}
    rows = _duck(f"from read_json('{file}', columns={kinds!r}, format='newline_delimited', {_FILE_ONLY})")
    return [{**row, "data": None if row["data"] is None else base64.b64decode(row["data"])} for row in rows]


def json_by_python(file: Path) -> list[Row]:
    return [json.loads(line, parse_float=Decimal) for line in file.read_bytes().split(b"\n")[:-1]]


def _duck(source: str) -> list[Row]:
    with duckdb.connect() as connection:
        connection.execute("set TimeZone = 'UTC'")
        found = connection.sql(f"select * {source}")
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def lines(file: Path) -> list[Row]:
    """Return the bytes of each line."""
    return [{"line": line} for line in file.read_bytes().split(b"\n")[:-1]]


READERS: Mapping[str, Mapping[str, Callable[[Path], list[Row]]]] = {
    "parquet": {"pyarrow": parquet_by_arrow, "duckdb": parquet_by_duckdb},
    "orc": {"pyarrow": orc_by_arrow},
    "avro": {"fastavro": avro_by_fastavro},
    "csv": {"pyarrow": csv_by_arrow, "duckdb": csv_by_duckdb},
    "json": {"python": json_by_python, "duckdb": json_by_duckdb},
    "raw": {"python": lines},
    "envelope": {"python": json_by_python},
    "plain": {"python": lines},
}


SPARK = ("parquet", "orc", "json")
_SPARK = (
    "n bigint, small tinyint, short smallint, number int, single float, double double, flag boolean, text string, "
    "country string, data binary, amount decimal(38,4), day date, at timestamp, tags array<string>, "
    "attrs map<string,int>, place struct<city:string,zip:int>"
)


def by_spark(session: Any, form: str, folder: Path) -> list[Row]:
    """Return the rows below a folder by their numbers; Spark has no type for the time of day."""
    session.conf.set("spark.sql.session.timeZone", "UTC")
    # In JSON bytes are base64, which Spark takes for the bytes themselves.
    columns = _SPARK.replace("data binary, ", "") if form == "json" else _SPARK
    frame = session.read.schema(columns).option("recursiveFileLookup", "true").format(form).load(f"file://{folder}")
    return [plain(row) for row in frame.orderBy("n").toArrow().to_pylist()]

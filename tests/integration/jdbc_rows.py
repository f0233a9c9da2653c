"""Random rows of every type that all databases have, stored and read without a connector."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import sqlalchemy as sa

from tests.connectors.jdbc.servers import Server

__all__ = ["BEGAN", "COLUMNS", "PLAIN", "Row", "contents", "create", "random_rows", "store"]

COLUMNS: Mapping[str, str] = {
    "id": "BIGINT",
    "label": "VARCHAR(200)",
    "small": "SMALLINT",
    "number": "INTEGER",
    "price": "DECIMAL(18,4)",
    "ratio": "DOUBLE PRECISION",
    "is_open": "BOOLEAN",
    "day": "DATE",
    "data": "BLOB",
    "changed": "TIMESTAMP",
}
PLAIN = ("id", "label", "small", "number", "ratio")
"""What needs no schema to be told from its JSON."""
_OWN = {("postgresql", "BLOB"): "BYTEA", ("mariadb", "TIMESTAMP"): "DATETIME(3)"}
_TEXTS = ("", " ", "ümläut ☃ 漢字 😀", 'O\'Neil "x"; DROP TABLE orders; --', "\\N \\ \t\n,", "NULL", "x" * 200)

BEGAN = dt.datetime(2024, 3, 31, 0, 30)
"""Half an hour before clocks in Europe go forward."""

Row = Mapping[str, Any]


def random_rows(random: Random, ids: Iterable[int], changed: dt.datetime) -> list[Row]:
    """Return rows with these ids; every column but the key may be null, and several share a time."""
    return [{"id": id, **_values(random), "changed": changed + dt.timedelta(seconds=id // 3)} for id in ids]


def _values(random: Random) -> dict[str, Any]:
    values = {
        "label": random.choice(_TEXTS),
        "small": random.randint(-(2**15), 2**15 - 1),
        "number": random.randint(-(2**31), 2**31 - 1),
        "price": Decimal(random.randint(-(10**18) + 1, 10**18 - 1)).scaleb(-4),
        "ratio": random.choice((0.0, -1.5, 0.1, random.uniform(-1e300, 1e300))),
        "is_open": random.random() < 0.5,
        "day": dt.date(1970, 1, 1) + dt.timedelta(days=random.randint(-50_000, 50_000)),
        "data": random.randbytes(random.randint(0, 20)),
    }
    return {name: None if random.random() < 0.1 else value for name, value in values.items()}


def create(server: Server, table: str, columns: Sequence[str]) -> None:
    """Create a table with these of ``COLUMNS``; ``id`` is its key."""
    listed = [f"{name} {_OWN.get((server.kind, COLUMNS[name]), COLUMNS[name])}" for name in columns]
    server.execute(f"CREATE TABLE {table} ({', '.join(one + _constraint(one) for one in listed)})")


def _constraint(column: str) -> str:
    name = column.partition(" ")[0]
    return {"id": " NOT NULL PRIMARY KEY", "changed": " NOT NULL"}.get(name, "")


def store(server: Server, table: str, rows: Sequence[Row]) -> None:
    """Insert rows, in place of those that have their keys."""
    written = [{name: _plain(server.kind, value) for name, value in row.items()} for row in rows]
    marks = ", ".join(f":{name}" for name in COLUMNS)
    with server.open().begin() as connection:
        connection.execute(sa.text(f"DELETE FROM {table} WHERE id = :id"), [{"id": row["id"]} for row in written])
        connection.execute(sa.text(f"INSERT INTO {table} ({', '.join(COLUMNS)}) VALUES ({marks})"), written)


def _plain(kind: str, value: Any) -> Any:
    """Return a value as SQLite's files have it, which knows no such types."""
    if kind != "sqlite":
        return value
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    return str(value) if isinstance(value, Decimal | dt.date) else value


def contents(server: Server, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return a table's rows in the order of their keys, in the same types on every database."""
    found = server.rows(f"SELECT {', '.join(columns)} FROM {table} ORDER BY id")
    return [tuple(_read(name, value) for name, value in zip(columns, row, strict=True)) for row in found]


def _read(name: str, value: Any) -> Any:
    return None if value is None else _READERS.get(name, lambda one: one)(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    # SQLite keeps decimals in columns of numbers as floats, with 15 digits.
    "price": lambda value: Decimal(str(value)).quantize(Decimal("0.0001")),
    "is_open": bool,
    "day": lambda value: dt.date.fromisoformat(str(value)[:10]),
    "data": bytes,
    "changed": lambda value: dt.datetime.fromisoformat(str(value)[:19]),
}

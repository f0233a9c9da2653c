"""PostgreSQL's COPY: whole columns are written, and a temporary table is merged into the real one.

In binary form if all columns have exactly the types of the table's, else as CSV made by Arrow: the server parses each
text by the column's own type, so that any type of column can be written. Neither executes Python code per row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg import sql
from pyarrow import csv
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from connect_core.connectors.jdbc.catalog import TableName
from connect_core.connectors.jdbc.dialects.postgresql.binary import in_binary
from connect_core.connectors.jdbc.dialects.postgresql.errors import without_details
from connect_core.connectors.jdbc.dialects.writes import Verb, Write

__all__ = ["check_upsert", "copy_into", "insert", "merge", "quoted_table"]

_TWICE = "21000"
"""SQLSTATE: ON CONFLICT would update a row a second time."""
_BLOCK = 1 << 20
_OPTIONS = csv.WriteOptions(include_header=False, quoting_style="needed", batch_size=16_384)
_TYPES = "SELECT attname, atttypid FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
_HEX = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), np.uint16)
"""The two hex digits of each byte as one 16-bit number."""


def quoted_table(name: TableName) -> str:
    """Return a table's name, quoted."""
    return ".".join(_quoted((name.schema, name.name) if name.schema else (name.name,)))


def insert(connection: Connection, write: Write) -> None:
    """Append rows to their table. Raises DBAPIError."""
    target, columns = quoted_table(write.table.name), write.columns
    # Locks the types of the columns until the transaction ends.
    _execute(
        connection,
        f"EXPLAIN INSERT INTO {target} ({_listed(columns)}) VALUES ({', '.join(['DEFAULT'] * len(columns))})",
    )
    copy_into(connection, target, write.data)


def copy_into(connection: Connection, table: str, data: pa.Table) -> None:
    """Append rows to a table named in SQL, which this transaction has locked against ALTER. Raises DBAPIError."""
    binary = in_binary(data, _types(connection, table))
    form = "csv" if binary is None else "binary"
    statement = f"COPY {table} ({_listed(data.column_names)}) FROM STDIN (FORMAT {form})"
    with _translated(statement), _cursor(connection) as cursor, cursor.copy(statement.encode()) as copy:
        for piece in _in_csv(data) if binary is None else binary:
            copy.write(piece)


def _types(connection: Connection, table: str) -> dict[str, int]:
    """Return the ``pg_type.oid`` of each column; domains have their own."""
    with _translated(_TYPES), _cursor(connection) as cursor:
        return dict(cursor.execute(_TYPES.encode(), (table,)).fetchall())


def _in_csv(data: pa.Table) -> Iterator[memoryview]:
    sink = pa.BufferOutputStream()
    csv.write_csv(pa.table([_written(column) for column in data.columns], names=data.column_names), sink, _OPTIONS)
    text = memoryview(sink.getvalue())
    for begin in range(0, len(text), _BLOCK):
        yield text[begin : begin + _BLOCK]


def merge(connection: Connection, write: Write) -> None:
    """Copy rows into a temporary table, and merge them into the target table by one statement. Raises DBAPIError.

    Of keys that only the database takes for equal (a UUID in capitals, padded text), the last row counts.
    """
    target = quoted_table(write.table.name)
    place = _place(write)
    _execute(
        connection,
        f"CREATE TEMPORARY TABLE {_stage(write)} ON COMMIT DROP AS "
        f"SELECT {_listed(write.columns)}, 0::bigint AS {place} FROM {target} WITH NO DATA",
    )
    copy_into(connection, _stage(write), write.data.append_column(place, pa.array(np.arange(write.data.num_rows))))
    if write.verb is Verb.UPSERT:
        _upsert_staged(connection, write, target)
    else:
        _execute(connection, _update(write, target) if write.verb is Verb.UPDATE else _delete(write, target))
    _execute(connection, f"DROP TABLE {_stage(write)}")


def _place(write: Write) -> str:
    """Return a name that no column has, for the place of a row among those staged."""
    return _free_name("connect_place", write.columns)


def _stage(write: Write) -> str:
    """Return the name of the temporary table: it must not hide the target, whose name may have no schema."""
    return _free_name("connect_stage", [write.table.name.name])


def _free_name(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _upsert_staged(connection: Connection, write: Write, target: str) -> None:
    """Upsert the staged rows; only the server knows whether keys are equal, and says so after an attempt."""
    try:
        with connection.begin_nested():
            _execute(connection, _upsert(write, target, _stage(write)))
    except DBAPIError as error:
        if not isinstance(error.orig, psycopg.Error) or error.orig.sqlstate != _TWICE:
            raise
        _execute(connection, _upsert(write, target, _last_staged(write)))


def _last_staged(write: Write) -> str:
    """Return the staged rows without those that a later one of an equal key replaces."""
    keys = _listed(write.keys)
    return f"(SELECT DISTINCT ON ({keys}) * FROM {_stage(write)} ORDER BY {keys}, {_place(write)} DESC) AS stage"


def check_upsert(connection: Connection, write: Write) -> None:
    """Check on the server whether an upsert is possible: a unique index on the keys, rights. Raises DBAPIError.

    Until the transaction ends, the index cannot be dropped.
    """
    target = quoted_table(write.table.name)
    _execute(connection, f"EXPLAIN {_upsert(write, target, f'{target} WHERE false')}")


def _upsert(write: Write, target: str, source: str) -> str:
    columns, keys = _listed(write.columns), _listed(write.keys)
    changes = ", ".join(f"{name} = excluded.{name}" for name in _quoted(write.values))
    action = f"UPDATE SET {changes}" if changes else "NOTHING"
    return f"INSERT INTO {target} ({columns}) SELECT {columns} FROM {source} ON CONFLICT ({keys}) DO {action}"


def _update(write: Write, target: str) -> str:
    changes = ", ".join(f"{name} = stage.{name}" for name in _quoted(write.values))
    if not changes:
        return "SELECT 1"
    return f"UPDATE {target} AS target SET {changes} FROM {_last_staged(write)} WHERE {_same_key(write)}"


def _delete(write: Write, target: str) -> str:
    return f"DELETE FROM {target} AS target USING {_stage(write)} AS stage WHERE {_same_key(write)}"


def _same_key(write: Write) -> str:
    return " AND ".join(f"target.{name} = stage.{name}" for name in _quoted(write.keys))


def _quoted(names: Iterable[str]) -> list[str]:
    return [sql.Identifier(name).as_string() for name in names]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(_quoted(names))


def _written(column: pa.ChunkedArray) -> pa.Array:
    """Return a column in the form of PostgreSQL's text input."""
    array = column.combine_chunks()
    if pa.types.is_binary(array.type):
        return _hexadecimal(array)
    if pa.types.is_list(array.type):
        return pa.array([None if value is None else _array_text(value) for value in array.to_pylist()], pa.string())
    return array


def _hexadecimal(array: pa.BinaryArray) -> pa.StringArray:
    """Return bytes in PostgreSQL's hex form, ``\\x`` and two digits per byte, by array arithmetic."""
    offsets = np.frombuffer(array.buffers()[1], np.int32)[array.offset : array.offset + len(array) + 1]
    data = array.buffers()[2]
    values = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    digits = _HEX[values[offsets[0] : offsets[-1]]] if len(offsets) else np.empty(0, np.uint16)
    shifted = ((offsets - offsets[0]) * 2).astype(np.int32)
    texts = pa.StringArray.from_buffers(len(array), pa.py_buffer(shifted), pa.py_buffer(np.ascontiguousarray(digits)))
    prefixed = pc.binary_join_element_wise("\\x", texts, "")
    return pc.if_else(array.is_valid(), prefixed, pa.scalar(None, pa.string()))


def _array_text(values: list[Any]) -> str:
    return "{" + ",".join(map(_element_text, values)) + "}"


def _element_text(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        value = "\\x" + value.hex()
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _cursor(connection: Connection) -> psycopg.Cursor[Any]:
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver.cursor()


def _execute(connection: Connection, statement: str) -> None:
    """Run a statement without parameters, so that a percent sign in a name needs no escape."""
    with _translated(statement), _cursor(connection) as cursor:
        cursor.execute(statement.encode())


@contextmanager
def _translated(statement: str) -> Iterator[None]:
    """Translate psycopg's errors to SQLAlchemy's, as its own calls do."""
    try:
        yield
    except psycopg.Error as error:
        without_details(error)
        raise DBAPIError.instance(statement, None, error, psycopg.Error, hide_parameters=True) from error

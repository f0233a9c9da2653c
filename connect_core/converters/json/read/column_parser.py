"""Parses JSON texts of one known shape into columns, with DuckDB (converters/json/ADR-1)."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from typing import Any

import duckdb
import pyarrow as pa

from connect_core.converters.json.read.shapes import ArrayShape, ObjectShape, ScalarShape, Shape
from connect_core.errors import ConnectError

__all__ = ["ColumnParserError", "parse_columns"]

_TYPES = {
    ScalarShape.NULL: "BOOLEAN",
    ScalarShape.BOOLEAN: "BOOLEAN",
    ScalarShape.INTEGER: "BIGINT",
    ScalarShape.FRACTION: "DOUBLE",
    ScalarShape.NUMBER: "DOUBLE",
    ScalarShape.STRING: "VARCHAR",
    ScalarShape.BASE64: "VARCHAR",
}
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
"""One thread, as tasks run side by side already; nothing from outside the process."""
_OF_THREAD = threading.local()


class ColumnParserError(ConnectError):
    """The texts cannot be parsed into columns; the records may still be readable one by one."""


def parse_columns(rows: pa.StringArray, shape: ObjectShape) -> pa.StructArray:
    """Return a field for each member of the shape, for texts that are known to have it. Raise ColumnParserError."""
    structure = json.dumps(_structure(shape), ensure_ascii=False).replace("'", "''")
    try:
        parsed = _connection().from_arrow(pa.table({"row": rows})).project(f"from_json(row, '{structure}') AS row")
        chunks = parsed.to_arrow_table().column(0)
    except duckdb.Error as error:
        # Such as names that differ only in case.
        raise ColumnParserError(str(error)) from error
    return chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()


def _structure(shape: Shape) -> Any:
    if isinstance(shape, ArrayShape):
        return [_structure(shape.item)]
    if isinstance(shape, ObjectShape):
        return {name: _structure(member) for name, member in shape.members}
    return _TYPES[shape]


def _connection() -> duckdb.DuckDBPyConnection:
    """Return this thread's connection: one serves one thread."""
    connection: duckdb.DuckDBPyConnection | None = getattr(_OF_THREAD, "connection", None)
    if connection is None:
        connection = _OF_THREAD.connection = duckdb.connect(":memory:", config=_SETTINGS)
        # New in DuckDB 2.0: threads for reading files.
        with suppress(duckdb.Error):
            connection.execute("SET async_threads = 0")
    return connection

"""Parses JSON texts of one known shape into columns, with DuckDB (converters/json/ADR-1)."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from connect_core.converters.json.read.shapes import ArrayShape, ObjectShape, ScalarShape, Shape
from connect_core.errors import ConnectError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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
_MOST_PARSERS = 32
_NO_TEXTS = pa.table({"row": pa.array([], pa.string())})


class ColumnParserError(ConnectError):
    """The texts cannot be parsed into columns; the records may still be readable one by one."""


def parse_columns(rows: pa.StringArray, shape: ObjectShape) -> pa.StructArray:
    """Return a field for each member of the shape, for texts that are known to have it. Raise ColumnParserError."""
    # Imported where it is used: drivers and the command line parse nothing, and it takes a quarter of a second.
    import duckdb

    structure = json.dumps(_structure(shape), ensure_ascii=False).replace("'", "''")
    try:
        return _PARSERS.of(structure).parse(rows)
    except duckdb.Error as error:
        # Such as names that differ only in case.
        raise ColumnParserError(str(error)) from error


class _Texts:
    """What a parser's query reads: other texts each time it is executed."""

    def __init__(self) -> None:
        self.table = _NO_TEXTS

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class _Parser:
    """A query that is planned once for a structure: planning takes as long as parsing hundreds of texts."""

    def __init__(self, connection: DuckDBPyConnection, structure: str) -> None:
        self._texts = _Texts()
        self._query = connection.from_arrow(self._texts).project(f"from_json(row, '{structure}') AS row")

    def parse(self, rows: pa.StringArray) -> pa.StructArray:
        self._texts.table = pa.table({"row": rows})
        try:
            parsed = self._query.to_arrow_table().column(0)
        finally:
            self._texts.table = _NO_TEXTS
        return parsed.chunk(0) if parsed.num_chunks == 1 else parsed.combine_chunks()


class _Parsers(threading.local):
    """The parsers of a thread, and their connection: one serves one thread."""

    def __init__(self) -> None:
        self._connection: DuckDBPyConnection | None = None
        self._by_structure: dict[str, _Parser] = {}

    def of(self, structure: str) -> _Parser:
        found = self._by_structure.get(structure)
        if found is None:
            if len(self._by_structure) >= _MOST_PARSERS:
                self._by_structure.clear()
            self._connection = self._connection or _connect()
            found = self._by_structure[structure] = _Parser(self._connection, structure)
        return found


_PARSERS = _Parsers()


def _structure(shape: Shape) -> Any:
    if isinstance(shape, ArrayShape):
        return [_structure(shape.item)]
    if isinstance(shape, ObjectShape):
        return {name: _structure(member) for name, member in shape.members}
    return _TYPES[shape]


def _connect() -> DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect(":memory:", config=_SETTINGS)
    # Threads for reading files.
    connection.execute("SET async_threads = 0")
    return connection

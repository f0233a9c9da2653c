"""Writes in SQLAlchemy's terms: the operations of a dialect on rows in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from connect_core.connectors.jdbc.catalog import Table

__all__ = ["Parameters", "Verb", "Write", "parameters", "statement_table"]

Parameters = list[dict[str, Any]]
"""Rows by bind name: b0, b1, … in the order of the columns, as column names may contain any character."""


class Verb(Enum):
    """What to do with the rows of one write."""

    INSERT = "INSERT"
    UPSERT = "UPSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True)
class Write:
    """Rows for one table; their keys are unique, except for INSERT. DELETE has only key columns.

    ``data``: the columns in their final form; ``statement_rows``: the most rows per statement.
    """

    verb: Verb
    table: Table
    keys: tuple[str, ...]
    data: pa.Table
    statement_rows: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns written."""
        return tuple(self.data.column_names)

    @property
    def values(self) -> tuple[str, ...]:
        """The written columns that are not keys."""
        return tuple(name for name in self.columns if name not in self.keys)

    def bound(self, name: str) -> sa.BindParameter[Any]:
        """Return the parameter of a column; values are passed to the driver unchanged."""
        return sa.bindparam(f"b{self.columns.index(name)}", type_=sa.types.NullType())

    def chunks(self, most: int | None = None) -> Iterator[pa.Table]:
        """Return the rows in pieces of at most ``statement_rows``, and at most ``most``."""
        size = min(self.statement_rows, most or self.statement_rows)
        for begin in range(0, self.data.num_rows, size):
            yield self.data.slice(begin, size)


def statement_table(write: Write) -> sa.Table:
    """Return the table for statements, without types, so that values are not converted."""
    columns = (sa.Column(sa.sql.quoted_name(name, None), sa.types.NullType()) for name in write.columns)
    return sa.Table(write.table.name.name, sa.MetaData(), *columns, schema=write.table.name.schema)


def parameters(chunk: pa.Table, names: Sequence[str]) -> Parameters:
    """Return rows as parameters by bind name."""
    rows = zip(*(column.to_pylist() for column in chunk.columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]

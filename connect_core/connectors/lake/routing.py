"""Chooses the tables for the rows of a batch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.connectors.filesystem.partitioners.value_fields import field_values
from connect_core.connectors.partitioning import groups
from connect_core.errors import DataError

__all__ = ["Routing", "TableName", "table_name"]

TableName = tuple[str, ...]
"""Namespace, of one or several levels, and table name."""

_TOPIC = "${topic}"
_LONGEST = 150
_UNFIT = re.compile(r"[\x00-\x1f\x7f/\\]")


@dataclass(frozen=True, slots=True)
class Routing:
    """One of three ways: by topic (``template``), by a field's value, or every row to all ``tables``.

    With a field and tables, a row goes to those whose pattern matches its whole value.
    """

    template: TableName = ()
    tables: tuple[TableName, ...] = ()
    route_field: str = ""
    is_dynamic: bool = False
    patterns: Mapping[TableName, re.Pattern[str]] = field(default_factory=dict)

    def tables_of(self, topic: str, batch: Batch) -> Iterator[tuple[TableName, pa.Array | None]]:
        """Return tables with the rows (int64 indices) for each, ``None``: all rows. Raises DataError."""
        if self.template:
            yield self._of_topic(topic), None
        elif not self.route_field:
            yield from ((table, None) for table in self.tables)
        else:
            yield from self._by_field(batch)

    def known_tables(self, topics: str) -> list[TableName]:
        """Return the tables that do not depend on a field; ``topics``: names separated by commas."""
        names = [topic.strip() for topic in topics.split(",") if topic.strip()]
        return [self._of_topic(name) for name in names] if self.template else list(self.tables)

    def _of_topic(self, topic: str) -> TableName:
        return _checked(tuple(part.replace(_TOPIC, topic) for part in self.template))

    def _by_field(self, batch: Batch) -> Iterator[tuple[TableName, pa.Array | None]]:
        for value, rows in groups(self._values(batch)):
            if not value:
                continue
            if self.is_dynamic:
                yield table_name(value.lower()), rows
            else:
                matching = (table for table, pattern in self.patterns.items() if pattern.fullmatch(value))
                yield from ((table, rows) for table in matching)

    def _values(self, batch: Batch) -> pa.Array:
        """Return the field's values as texts; empty if there is none."""
        try:
            found = field_values(batch.value, self.route_field)
        except DataError as error:
            raise DataError(
                f"the value has no field {self.route_field}, by which its table is chosen; add it by a transform, name "
                "another field, or let errors.tolerance=all skip such records"
            ) from error
        values = found.to_pylist() if isinstance(found, pa.Array) else found
        return pa.array(["" if value is None else str(value) for value in values], pa.string())


def table_name(text: str) -> TableName:
    """Return the table name in a text, whose parts are separated by points. Raises DataError for an invalid one."""
    return _checked(tuple(text.strip().split(".")))


def _checked(name: TableName) -> TableName:
    """Refuse names that would lead out of the warehouse's folder, or into a hidden one."""
    for part in name:
        if not part or part[0] == "." or part != part.strip() or len(part) > _LONGEST or _UNFIT.search(part):
            shown = ".".join(name)[:_LONGEST]
            raise DataError(f"{shown!r} is no name of a table; give namespace.table, without slashes")
    if len(name) < 2:
        raise DataError(f"{name[0]!r} names no namespace; give namespace.table")
    return name

"""The table in a catalog with a connector's state.

It has no rows. The state is one property, changed only together with a snapshot whose parent is the one that was read:
of any number of drivers exactly one makes the next change, with any catalog.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchTableError, TableAlreadyExistsError
from pyiceberg.table import Table

from connect_core.connectors.iceberg.catalog import catalog_errors, create_namespaces
from connect_core.connectors.iceberg.snapshots import Change, change_once
from connect_core.connectors.lake.decisions import Stored
from connect_core.connectors.lake.routing import TableName

__all__ = ["ControlTable"]

_STATE = "connect-core.state"
_PROPERTIES = {
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "5",
    "comment": "Which intervals a connector of connect-core has committed; has no rows. Do not drop it.",
}


@dataclass(slots=True)
class ControlTable:
    """A StateStore in a catalog."""

    catalog: Catalog
    table: TableName

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"the control table {'.'.join(self.table)}"

    def read(self) -> Stored | None:
        """Return the state, ``None`` without the table."""
        with catalog_errors(self.name):
            try:
                table = self.catalog.load_table(self.table)
            except NoSuchTableError:
                return None
        return Stored(str(table.metadata.table_uuid), table.properties.get(_STATE), table)

    def create(self) -> None:
        """Create the table and its namespace, if they are absent."""
        with catalog_errors(self.name), suppress(TableAlreadyExistsError):
            create_namespaces(self.catalog, self.table)
            columns = pa.schema([pa.field("unused", pa.string())])
            self.catalog.create_table(self.table, columns, properties=_PROPERTIES)

    def replace(self, stored: Stored, text: str, summary: Mapping[str, str]) -> None:
        """Replace what was read. Raises ConflictError."""
        change_once(stored.version, Change(summary, {_STATE: text}, expires=True))

    def write(self, name: str, content: bytes) -> str:
        """Write a new file at the table's location."""
        table = self._table()
        place = f"{table.location().rstrip('/')}/decisions/{name}"
        with catalog_errors(place), table.io.new_output(place).create() as output:
            output.write(content)
        return place

    def load(self, place: str) -> bytes:
        """Return a file's content."""
        with catalog_errors(place), self._table().io.new_input(place).open() as source:
            return bytes(source.read())

    def remove(self, place: str) -> None:
        """Remove a file, if possible."""
        with suppress(OSError):
            self._table().io.delete(place)

    def _table(self) -> Table:
        with catalog_errors(self.name):
            return self.catalog.load_table(self.table)

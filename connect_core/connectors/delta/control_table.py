"""The Delta table with a connector's state: it has no rows, and the state is one of its properties.

Delta's log accepts a change of properties only if none was made since the version that was read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import DeltaError

from connect_core.connectors.delta.tables import ONE_TRY, Tables, delta_errors
from connect_core.connectors.lake.decisions import Stored

__all__ = ["ControlTable"]

_STATE = "connect-core.state"
_PROPERTIES = {"delta.logRetentionDuration": "interval 1 days", "delta.checkpointInterval": "20"}


@dataclass(slots=True)
class ControlTable:
    """A StateStore in Delta's own log."""

    tables: Tables
    place: str

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"the control table {self.place}"

    def read(self) -> Stored | None:
        """Return the state, ``None`` without the table."""
        table = self.tables.open(self.place)
        if table is None:
            return None
        metadata = table.metadata()
        return Stored(str(metadata.id), metadata.configuration.get(_STATE), table)

    def create(self) -> None:
        """Create the table, if it is absent."""
        columns = pa.schema([pa.field("unused", pa.string())])
        with delta_errors(self.name), suppress(DeltaError):
            DeltaTable.create(
                self.place,
                columns,
                mode="error",
                description="Which intervals a connector of connect-core has committed. Do not remove it.",
                configuration=_PROPERTIES,
                storage_options=dict(self.tables.places.options),
            )

    def replace(self, stored: Stored, text: str, summary: Mapping[str, str]) -> None:
        """Replace what was read. Raises ConflictError."""
        with delta_errors(self.name):
            stored.version.alter.set_table_properties(
                {_STATE: text},
                raise_if_not_exists=False,
                commit_properties=CommitProperties(custom_metadata=dict(summary), max_commit_retries=ONE_TRY),
            )

    def write(self, name: str, content: bytes) -> str:
        """Write a new file in the table's folder, where VACUUM does not remove it."""
        place = posixpath.join("_decisions", name)
        with delta_errors(self.name), self.tables.files(self.place).open_output_stream(place) as output:
            output.write(content)
        return place

    def load(self, place: str) -> bytes:
        """Return a file's content."""
        with delta_errors(self.name), self.tables.files(self.place).open_input_file(place) as source:
            return bytes(source.read())

    def remove(self, place: str) -> None:
        """Remove a file, if possible."""
        with suppress(OSError, DeltaError):
            self.tables.files(self.place).delete_file(place)

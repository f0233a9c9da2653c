"""The task of DeltaSink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from connect_core.connectors.control_folder import execution_of
from connect_core.connectors.delta.config import Settings
from connect_core.connectors.delta.places import places_of
from connect_core.connectors.lake.decisions import plain_name
from connect_core.connectors.lake.folders import Folders, identity_of
from connect_core.connectors.lake.installed import ensure_installed
from connect_core.connectors.lake.routing import TableName
from connect_core.connectors.lake.sink_task import LakeSinkTask, TableWriter
from connect_core.connectors.lake.upsert_writer import UpsertWriter

if TYPE_CHECKING:
    from connect_core.connectors.delta.tables import Tables

__all__ = ["DeltaSinkTask"]


class DeltaSinkTask(LakeSinkTask):
    """Stages Parquet files in the tables' folders; creates and evolves tables if that is allowed."""

    _tables: Tables

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration. Raises ConfigError."""
        ensure_installed("deltalake", "DeltaSink", "delta")
        from connect_core.connectors.delta.control_table import ControlTable
        from connect_core.connectors.delta.tables import Tables

        settings = Settings.of(config)
        self.settings = settings.lake
        key = self.context.interval.key
        execution = execution_of(self.context.interval.attempt_id)
        self._tables = Tables(places_of(settings, self.context.limits), settings)
        identity = identity_of(ControlTable(self._tables, self._tables.places.control(key.connector)))
        folder = Folders(plain_name(key.connector), identity).interval(key.incarnation, key.sequence)
        self._folder = f"{folder}/{execution}"

    def writer(self, table: TableName) -> TableWriter:
        """Return the writer for the rows of a table."""
        from connect_core.connectors.delta.writer import DeltaTableWriter

        writer = DeltaTableWriter(table, self._tables, self._folder)
        return writer if self.settings.upserts is None else UpsertWriter(table[-1], self._tables.settings.key, writer)

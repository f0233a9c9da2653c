"""The task of IcebergSink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from connect_core.connectors.control_folder import execution_of
from connect_core.connectors.iceberg.config import Settings
from connect_core.connectors.lake.decisions import plain_name
from connect_core.connectors.lake.folders import Folders, identity_of
from connect_core.connectors.lake.installed import ensure_installed
from connect_core.connectors.lake.routing import TableName
from connect_core.connectors.lake.sink_task import LakeSinkTask, TableWriter
from connect_core.connectors.lake.upsert_writer import UpsertWriter
from connect_core.connectors.path_names import escaped

if TYPE_CHECKING:
    from connect_core.connectors.iceberg.tables import Tables

__all__ = ["IcebergSinkTask"]


class IcebergSinkTask(LakeSinkTask):
    """Stages Parquet files at the tables' locations; creates and evolves tables if that is allowed."""

    _tables: Tables

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration and open the catalog. Raises ConfigError, RetriableError."""
        ensure_installed("pyiceberg", "IcebergSink", "iceberg")
        from connect_core.connectors.iceberg.catalog import open_catalog
        from connect_core.connectors.iceberg.control_table import ControlTable
        from connect_core.connectors.iceberg.tables import Tables

        settings = Settings.of(config)
        self.settings = settings.lake
        key, limits = self.context.interval.key, self.context.limits
        execution = execution_of(self.context.interval.attempt_id)
        catalog = open_catalog(settings, limits)
        identity = identity_of(ControlTable(catalog, (*settings.control, plain_name(key.connector))))
        folder = Folders(escaped(key.connector), identity).interval(key.incarnation, key.sequence)
        self._folder = f"{folder}/{execution}"
        self._tables = Tables(catalog, settings, limits)

    def writer(self, table: TableName) -> TableWriter:
        """Return the writer for the rows of a table."""
        from connect_core.connectors.iceberg.writer import IcebergTableWriter

        writer = IcebergTableWriter(table, self._tables, f"{self._folder}-{len(self._writers)}")
        if self.settings.upserts is None:
            return writer
        return UpsertWriter(".".join(table), self._tables.settings.key_setting(table), writer)

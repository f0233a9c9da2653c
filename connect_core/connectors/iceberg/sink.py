"""IcebergSink: topics as Iceberg tables of any catalog that pyiceberg supports."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence

from connect_core.api.config import ConfigDef, ConfigValue
from connect_core.api.connector import WorkerLimits
from connect_core.api.guarantee import Atomicity, Delivery, Guarantee
from connect_core.api.records import TopicPartition
from connect_core.api.sink import SinkCommitter, SinkConnector
from connect_core.connectors.iceberg.catalog_properties import catalog_properties
from connect_core.connectors.iceberg.config import (
    CATALOG_PREFIX,
    CONFIG,
    ID_COLUMNS,
    TABLES,
    UPSERT,
    Settings,
    unknown,
    unneeded,
)
from connect_core.connectors.iceberg.sink_task import IcebergSinkTask
from connect_core.connectors.lake.decisions import plain_name
from connect_core.connectors.lake.installed import ensure_installed
from connect_core.errors import ConfigError, ConnectError

__all__ = ["IcebergSinkConnector", "IcebergSinkTask"]

_LOG = logging.getLogger(__name__)


class IcebergSinkConnector(SinkConnector):
    """Every record once: tasks stage data files, a decision in the catalog commits them, tables follow."""

    _config: Mapping[str, str]

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration. Raises ConfigError, and ConnectError if pyiceberg is missing."""
        ensure_installed("pyiceberg", "IcebergSink", "iceberg")
        self._config = dict(config)
        Settings.of(config)
        for key in unneeded(config):
            _LOG.info("%s is not needed here: the interval is the commit, decided in the catalog", key)
        for key in unknown(config):
            _LOG.warning("%s is no setting of this sink and of no other known to it", key)

    def stop(self) -> None:
        """Do nothing: there is nothing to release."""

    def task_class(self) -> type[IcebergSinkTask]:
        """Return the class of the tasks."""
        return IcebergSinkTask

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """Return the same configuration for every task."""
        return [dict(self._config) for _ in range(max_tasks)]

    def config(self) -> ConfigDef:
        """Return the settings."""
        return CONFIG

    def validate(self, config: Mapping[str, str]) -> list[ConfigValue]:
        """Return every setting with its errors, including those between settings."""
        values = super().validate(config)
        if not any(value.error_messages for value in values):
            try:
                Settings.of(config)
            except ConfigError as error:
                named = next((value for value in values if f"configuration {value.name}:" in str(error)), None)
                named = named or next(value for value in values if value.name == TABLES)
                named.error_messages.append(str(error))
        return values

    def validate_live(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
        """Check the catalog by listing its namespaces, and the keys of tables whose rows are to be updated."""
        try:
            ensure_installed("pyiceberg", "IcebergSink", "iceberg")
            from connect_core.connectors.iceberg.catalog import catalog_errors, open_catalog
            from connect_core.connectors.iceberg.tables import Tables, ensure_keys

            settings = Settings.of(config)
            catalog = open_catalog(settings, limits)
            with catalog_errors("the catalog"):
                catalog.list_namespaces()
        except ConnectError as error:
            return {"iceberg.catalog": [f"{error}. Check {CATALOG_PREFIX}type, .uri, .warehouse and credentials."]}
        try:
            ensure_keys(Tables(catalog, settings, limits), settings.lake.routing.known_tables(config.get("topics", "")))
        except ConfigError as error:
            return {ID_COLUMNS: [str(error)]}
        except ConnectError as error:
            return {UPSERT: [str(error)]}
        return {}

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return exactly-once; each of several tables shows an interval as a whole, but not all at the same moment."""
        return Guarantee(Delivery.EXACTLY_ONCE, atomicity=Atomicity.INTERVAL, condition="each table by itself")

    def committer(self, config: Mapping[str, str]) -> SinkCommitter:
        """Return the committer that decides intervals and appends their files."""
        from connect_core.connectors.iceberg.catalog import open_catalog
        from connect_core.connectors.iceberg.committer import IcebergCommitter
        from connect_core.connectors.iceberg.control_table import ControlTable
        from connect_core.connectors.iceberg.tables import Tables
        from connect_core.connectors.lake.decisions import Decisions

        settings, name = Settings.of(config), self.context.connector_name
        catalog = open_catalog(settings, self.context.limits)
        tables = Tables(catalog, settings, self.context.limits)
        control = ControlTable(catalog, (*settings.control, plain_name(name)))
        return IcebergCommitter(name, self.context.deployment, tables, Decisions(control))

    def target(self, config: Mapping[str, str]) -> str:
        """Return the catalog and the namespace of control tables, without the login."""
        settings = Settings.of(config)
        properties = catalog_properties(settings.properties, self.context.limits)
        place = re.sub(r"//[^/@]*@", "//", properties.get("uri", ""))
        parts = (properties["type"], settings.catalog, place, properties.get("warehouse", ""), *settings.control)
        return " ".join(parts)

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any offsets: the tables contain none; rows that are read again are appended again."""
        return True

"""DeltaSink: topics as Delta tables, in a folder or an object store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from connect_core.api.config import ConfigDef, ConfigValue
from connect_core.api.connector import WorkerLimits
from connect_core.api.guarantee import Atomicity, Delivery, Guarantee
from connect_core.api.records import TopicPartition
from connect_core.api.sink import SinkCommitter, SinkConnector
from connect_core.connectors.delta.config import CONFIG, ID_COLUMNS, PATH, TABLE_FORMAT, UPSERT, Settings
from connect_core.connectors.delta.places import places_of
from connect_core.connectors.delta.sink_task import DeltaSinkTask
from connect_core.connectors.lake.installed import ensure_installed
from connect_core.errors import ConfigError, ConnectError

__all__ = ["DeltaSinkConnector", "DeltaSinkTask"]


class DeltaSinkConnector(SinkConnector):
    """Every record once: tasks stage data files, a decision commits them, tables follow."""

    _config: Mapping[str, str]

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration. Raises ConfigError, and ConnectError if deltalake is missing."""
        ensure_installed("deltalake", "DeltaSink", "delta")
        self._config = dict(config)
        places_of(Settings.of(config), self.context.limits)

    def stop(self) -> None:
        """Do nothing: there is nothing to release."""

    def task_class(self) -> type[DeltaSinkTask]:
        """Return the class of the tasks."""
        return DeltaSinkTask

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
                named = named or next(value for value in values if value.name == TABLE_FORMAT)
                named.error_messages.append(str(error))
        return values

    def validate_live(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
        """Check whether the worker allows the path, and the keys of tables whose rows are to be updated."""
        try:
            ensure_installed("deltalake", "DeltaSink", "delta")
            settings = Settings.of(config)
            places = places_of(settings, limits)
        except ConnectError as error:
            return {PATH: [str(error)]}
        if settings.lake.upserts is None:
            return {}
        from connect_core.connectors.delta.tables import Tables, ensure_keys

        try:
            ensure_keys(Tables(places, settings), settings.lake.routing.known_tables(config.get("topics", "")))
        except ConfigError as error:
            return {ID_COLUMNS if f"configuration {ID_COLUMNS}:" in str(error) else UPSERT: [str(error)]}
        except ConnectError as error:
            return {PATH: [str(error)]}
        return {}

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return exactly-once; each of several tables shows an interval as a whole, but not all at the same moment."""
        return Guarantee(Delivery.EXACTLY_ONCE, atomicity=Atomicity.INTERVAL, condition="each table by itself")

    def committer(self, config: Mapping[str, str]) -> SinkCommitter:
        """Return the committer that decides intervals and appends their files."""
        from connect_core.connectors.delta.committer import DeltaCommitter
        from connect_core.connectors.delta.control_table import ControlTable
        from connect_core.connectors.delta.tables import Tables
        from connect_core.connectors.lake.decisions import Decisions

        settings, name = Settings.of(config), self.context.connector_name
        tables = Tables(places_of(settings, self.context.limits), settings)
        control = ControlTable(tables, tables.places.control(name))
        return DeltaCommitter(name, self.context.deployment, tables, Decisions(control))

    def target(self, config: Mapping[str, str]) -> str:
        """Return the path that contains the tables and the decisions."""
        return places_of(Settings.of(config), self.context.limits).root

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any offsets: the tables contain none; rows that are read again are appended again."""
        return True

"""FileSystemSink: topics as files, at least one for each partition and interval."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from connect_core.api.config import ConfigDef, ConfigValue
from connect_core.api.connector import WorkerLimits
from connect_core.api.records import TopicPartition
from connect_core.api.sink import SinkCommitter, SinkConnector
from connect_core.connectors.filesystem.hive.registration import Registration, ensure_hive_installed
from connect_core.connectors.filesystem.sink.committer import FileSystemCommitter
from connect_core.connectors.filesystem.sink.config import CONFIG, PATH, Settings, definition_of, located, open_storage
from connect_core.connectors.filesystem.sink.task import FileSystemSinkTask
from connect_core.errors import ConfigError

__all__ = ["FileSystemSinkConnector", "FileSystemSinkTask"]

_LOG = logging.getLogger(__name__)


class FileSystemSinkConnector(SinkConnector):
    """Writes every record once: only the files that a manifest names are data."""

    _config: Mapping[str, str]

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration. Raises ConfigError, and RetriableError for a folder that cannot be written now."""
        self._config = dict(config)
        if Settings.of(config).hive is not None:
            ensure_hive_installed()
        storage = open_storage(config, self.context.limits, is_at_work=True)
        _LOG.info("Starting file system sink connector writing to %s", storage.root)

    def stop(self) -> None:
        """Do nothing: there is nothing to release."""

    def task_class(self) -> type[FileSystemSinkTask]:
        """Return the class of the tasks."""
        return FileSystemSinkTask

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """Return the same configuration for every task."""
        return [dict(self._config) for _ in range(max_tasks)]

    def config(self) -> ConfigDef:
        """Return the settings."""
        return CONFIG

    def validate(self, config: Mapping[str, str]) -> list[ConfigValue]:
        """Return every setting with its errors, including those that only the selected parts detect."""
        try:
            values = definition_of(config).validate(config)
        except ConfigError:
            values = super().validate(config)
        if not any(value.error_messages for value in values):
            try:
                Settings.of(config)
            except ConfigError as error:
                named = next((value for value in values if f"configuration {value.name}:" in str(error)), values[0])
                named.error_messages.append(str(error))
        return values

    def validate_live(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
        """Check whether the storage may be written, and whether the Hive Metastore responds, if one is to be used."""
        try:
            storage = open_storage(config, limits)
        except ConfigError as error:
            return {PATH: [str(error)]}
        hive = Settings.of(config).hive
        return {} if hive is None else Registration(hive, limits, storage.address).problems()

    def committer(self, config: Mapping[str, str]) -> SinkCommitter:
        """Return the committer, which creates manifests and publishes files."""
        settings = Settings.of(config)
        limits, name, deployment = self.context.limits, self.context.connector_name, self.context.deployment
        layout = settings.layout(open_storage(config, limits, is_at_work=True))
        hive = None if settings.hive is None else Registration(settings.hive, limits, layout.storage.address)
        return FileSystemCommitter(
            name, layout, settings.format, deployment, settings.nulls, settings.partitioner, hive
        )

    def target(self, config: Mapping[str, str]) -> str:
        """Return the location that is written to, links followed."""
        return located(config, self.context.limits)

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any offsets: the folder contains none; ranges exported again replace their files."""
        return True

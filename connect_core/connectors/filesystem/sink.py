"""FileSystemSink: topics as Parquet files, a file for each partition and interval."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from connect_core.api.config import AbstractConfig, ConfigDef
from connect_core.api.connector import WorkerLimits
from connect_core.api.records import TopicPartition
from connect_core.api.sink import SinkCommitter, SinkConnector
from connect_core.connectors.allowed_file import AllowedFile
from connect_core.connectors.filesystem.committer import FileSystemCommitter
from connect_core.connectors.filesystem.config import CODEC, CONFIG, PATH, checked_folder
from connect_core.connectors.filesystem.layout import Layout
from connect_core.connectors.filesystem.sink_task import FileSystemSinkTask
from connect_core.errors import ConfigError

__all__ = ["FileSystemSinkConnector", "FileSystemSinkTask"]

_LOG = logging.getLogger(__name__)


class FileSystemSinkConnector(SinkConnector):
    """Writes every record once: what a manifest names is data, all else is not."""

    _config: Mapping[str, str]

    def start(self, config: Mapping[str, str]) -> None:
        """Take the configuration. Raises ConfigError, and RetriableError for a folder that cannot be written now."""
        self._config = dict(config)
        folder = checked_folder(config, self.context.limits, is_at_work=True)
        _LOG.info("Starting file system sink connector writing to %s", folder)

    def stop(self) -> None:
        """Hold nothing, free nothing."""

    def task_class(self) -> type[FileSystemSinkTask]:
        """Return the class of the tasks."""
        return FileSystemSinkTask

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """Return the same configuration for every task."""
        return [dict(self._config) for _ in range(max_tasks)]

    def config(self) -> ConfigDef:
        """Return the settings."""
        return CONFIG

    def validate_live(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
        """Look whether the folder may be written."""
        try:
            checked_folder(config, limits)
        except ConfigError as error:
            return {PATH: [str(error)]}
        return {}

    def committer(self, config: Mapping[str, str]) -> SinkCommitter:
        """Return what makes manifests and puts files in place."""
        layout = Layout(checked_folder(config, self.context.limits, is_at_work=True))
        codec = AbstractConfig(CONFIG, config).get_string(CODEC) or ""
        return FileSystemCommitter(self.context.connector_name, layout, codec, self.context.deployment)

    def target(self, config: Mapping[str, str]) -> str:
        """Return the folder, links followed."""
        value = AbstractConfig(CONFIG, config).get_string(PATH) or ""
        return str(AllowedFile.resolve(PATH, value, self.context.limits).path)

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any offsets: the folder keeps none; ranges exported again replace their files."""
        return True

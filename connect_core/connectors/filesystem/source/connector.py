"""FileSystemSource: files of a folder or a bucket into Kafka, each once."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from connect_core.api.config import ConfigDef, ConfigValue
from connect_core.api.connector import WorkerLimits
from connect_core.api.guarantee import Atomicity, Delivery, Guarantee
from connect_core.api.offsets import parse
from connect_core.api.source import ExactlyOnceSupport, SourceConnector
from connect_core.connectors.filesystem.source.config import (
    PATH,
    SOURCE_CONFIG,
    SourceSettings,
    source_definition,
    source_files,
)
from connect_core.connectors.filesystem.source.offset import SlotState
from connect_core.connectors.filesystem.source.plan import SourcePlanner
from connect_core.connectors.filesystem.source.task import TASK, TASKS, FileSystemSourceTask
from connect_core.errors import ConfigError, ConnectError

__all__ = ["FileSystemSourceConnector", "FileSystemSourceTask"]

_LOG = logging.getLogger(__name__)


class FileSystemSourceConnector(SourceConnector):
    """Finds new files at each plan and assigns them to tasks; large ones by row groups and lines."""

    _config: Mapping[str, str]
    _planner: SourcePlanner

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration. Raises ConfigError."""
        self._config = dict(config)
        settings, files = SourceSettings.of(config), source_files(config, self.context.limits)
        self._planner = SourcePlanner(files, settings, max(1, int(config.get("tasks.max") or 1)))
        _LOG.info("Starting file system source connector reading from %s", settings.path)

    def stop(self) -> None:
        """Do nothing: there is nothing to release."""

    def task_class(self) -> type[FileSystemSourceTask]:
        """Return the class of the tasks."""
        return FileSystemSourceTask

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """Return a configuration for each task; the files that it reads are in the bounds."""
        return [{**self._config, TASK: str(task), TASKS: str(max_tasks)} for task in range(max_tasks)]

    def config(self) -> ConfigDef:
        """Return the settings."""
        return SOURCE_CONFIG

    def validate(self, config: Mapping[str, str]) -> list[ConfigValue]:
        """Return every setting with its errors, including those that only the selected parts detect."""
        try:
            values = source_definition(config).validate(config)
        except ConfigError:
            values = super().validate(config)
        if not any(value.error_messages for value in values):
            try:
                SourceSettings.of(config)
            except ConfigError as error:
                named = next((value for value in values if f"configuration {value.name}:" in str(error)), values[0])
                named.error_messages.append(str(error))
        return values

    def validate_live(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
        """Check whether the files may be read."""
        try:
            source_files(config, limits)
        except ConfigError as error:
            return {PATH: [str(error)]}
        return {}

    def latest(self, offsets: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
        """Return the bound of each slot. Raises RetriableError if files cannot be listed now."""
        return self._planner.latest(offsets)

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Return SUPPORTED: files have positions to return to."""
        return ExactlyOnceSupport.SUPPORTED

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return exactly-once, with its condition on the writers of the files."""
        condition = (
            "files are whole when they have been unchanged for file.settle.ms, and do not change afterwards; a new "
            "one is not older than the 1,000 files modified last before the plan that finds it"
        )
        if SourceSettings.of(config).by_name:
            condition = (
                "files are whole when they have been unchanged for file.settle.ms, and do not change afterwards; the "
                "name of a new one comes after those of all that were read in its folder"
            )
        return Guarantee(Delivery.EXACTLY_ONCE, atomicity=Atomicity.TRANSACTION, condition=condition)

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[str, Mapping[str, Any] | None]) -> bool:
        """Check the form of new offsets; any may be deleted."""
        settings = SourceSettings.of(config)
        for key, offset in offsets.items():
            if offset is None:
                continue
            partition = parse(key)
            if not {"path", "slot"} <= set(partition):
                raise ConnectError(f'A partition {key} needs the keys "path" and "slot"')
            SlotState.of(offset, settings.by_name)
        return True

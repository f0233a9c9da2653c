"""FileStreamSink: one line per record, appended to a file exactly once, or to the standard output."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence

from connect_core.api.batch import Batch
from connect_core.api.config import AbstractConfig, ConfigDef
from connect_core.api.connector import WorkerLimits
from connect_core.api.guarantee import Atomicity, Delivery, Guarantee
from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import SinkCommitter, SinkConnector, SinkTask, Staged
from connect_core.connectors.allowed_file import AllowedFile
from connect_core.connectors.control_folder import execution_of
from connect_core.connectors.file.appender import FileAppender, control_of
from connect_core.connectors.file.config import FILE, SINK_CONFIG
from connect_core.connectors.file.text import lines_of_data, lines_of_values
from connect_core.connectors.link_free import make_folders
from connect_core.connectors.partitioning import by_partition
from connect_core.connectors.path_names import escaped
from connect_core.connectors.staged_file import StagedFile
from connect_core.errors import ConfigError

__all__ = ["FileStreamSinkConnector", "FileStreamSinkTask", "check_allowed", "check_writable"]

_LOG = logging.getLogger(__name__)


class FileStreamSinkConnector(SinkConnector):
    """Appends to one file, with any number of tasks. Connect: ``FileStreamSinkConnector``."""

    _config: Mapping[str, str]

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration. Raises ConfigError for a file that may not be written."""
        self._config = dict(config)
        file = _file_of(config)
        check_allowed(file, self.context.limits)
        _LOG.info("Starting file sink connector writing to %s", file or "standard output")

    def stop(self) -> None:
        """Do nothing: there is nothing to release."""

    def task_class(self) -> type[SinkTask]:
        """Return the class of the tasks."""
        return FileStreamSinkTask

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """Return the same configuration for every task."""
        return [dict(self._config) for _ in range(max_tasks)]

    def config(self) -> ConfigDef:
        """Return the settings."""
        return SINK_CONFIG

    def validate_live(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
        """Check whether the file may be written."""
        try:
            check_allowed(_file_of(config), limits)
        except ConfigError as error:
            return {FILE: [str(error)]}
        return {}

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return exactly-once for files; what was written to the standard output cannot be undone."""
        if not _file_of(config):
            return Guarantee(Delivery.AT_LEAST_ONCE)
        return Guarantee(Delivery.EXACTLY_ONCE, atomicity=Atomicity.INTERVAL)

    def committer(self, config: Mapping[str, str]) -> SinkCommitter | None:
        """Return the committer that appends staged lines; ``None`` for the standard output."""
        file = _file_of(config)
        if not file:
            return None
        return FileAppender(self.context.connector_name, file, self.context.limits, self.context.deployment)

    def target(self, config: Mapping[str, str]) -> str:
        """Return the file, links followed."""
        return str(AllowedFile.resolve(FILE, _file_of(config), self.context.limits).path) if _file_of(config) else ""

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any offsets: the file contains none."""
        return True


class FileStreamSinkTask(SinkTask):
    """Stages its lines, a file for each partition; without ``file`` it prints them at once."""

    def __init__(self) -> None:
        self._staged: dict[TopicPartition, StagedFile] = {}
        self._file = self._execution = ""

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration. Raises ConfigError."""
        self._file = _file_of(config)
        check_writable(self._file, self.context.limits)
        self._execution = execution_of(self.context.interval.attempt_id)

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Write one line per record."""
        if not self._file:
            sys.stdout.write(lines_of_values(record.value for record in records).decode())
            return
        values: dict[TopicPartition, list[object]] = {}
        for record in records:
            topic, partition = record.original_topic or "", record.original_kafka_partition or 0
            values.setdefault(TopicPartition(topic, partition), []).append(record.value)
        for place, some in values.items():
            self._stage(place, lines_of_values(some))

    def put_batch(self, batch: Batch) -> bool:
        """Write one line per row."""
        if not self._file:
            return False
        for place, rows in by_partition(batch):
            self._stage(place, lines_of_data(rows.value))
        return True

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Flush the standard output."""
        sys.stdout.flush()

    def stage(self, positions: Mapping[TopicPartition, int]) -> Sequence[Staged]:
        """Make the staged lines durable and return their paths."""
        ranges = {part.topic_partition: part for part in self.context.interval.ranges}
        staged = []
        for place, end in positions.items():
            detail: dict[str, object] = {"topic_id": ranges[place].topic_id}
            if place in self._staged:
                written = self._staged[place].finish()
                detail |= {"path": written.path.name, "size": written.size, "sha256": written.sha256}
                detail["attempt"] = written.path.parent.name
            staged.append(Staged(place.topic, place.partition, ranges[place].start, end, detail))
        return staged

    def stop(self) -> None:
        """Close open files."""
        for file in self._staged.values():
            file.discard()

    def _stage(self, place: TopicPartition, lines: bytes) -> None:
        if place not in self._staged:
            self._staged[place] = self._new_file(place)
        self._staged[place].write(lines)

    def _new_file(self, place: TopicPartition) -> StagedFile:
        interval = self.context.interval
        control = control_of(self._file, interval.key.connector, self.context.limits)
        folder = control.attempt_folder(interval.key, self._execution)
        make_folders(folder)
        return StagedFile(folder / f"{escaped(place.topic)}+{place.partition}.lines")


def check_allowed(file: str, limits: WorkerLimits) -> None:
    """Raise ConfigError unless the file may be written here; neither it nor its folder has to exist yet.

    No file means the standard output: the task checks whether it can be written, as in Connect.
    """
    if not file:
        return
    allowed = AllowedFile.resolve(FILE, file, limits)
    try:
        if allowed.path.exists():
            os.close(allowed.open(os.O_WRONLY))
    except OSError as error:
        raise ConfigError(
            FILE, file, f"{allowed.path} cannot be written ({error.strerror}); make the worker's user its owner"
        ) from error


def check_writable(file: str, limits: WorkerLimits) -> None:
    """Raise ConfigError unless the file can be written now: a task's check, as in Connect."""
    check_allowed(file, limits)
    if not file:
        if not limits.standalone:
            raise ConfigError(FILE, None, "the standard output can be used in standalone mode only; name a file")
        return
    folder = AllowedFile.resolve(FILE, file, limits).path.parent
    if not folder.is_dir():
        raise ConfigError(FILE, file, f"there is no folder {folder}; create it")


def _file_of(config: Mapping[str, str]) -> str:
    return AbstractConfig(SINK_CONFIG, config).get_string(FILE) or ""

"""FileStreamSource: one record per line of a file, or of the standard input."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from connect_core.api.config import AbstractConfig, ConfigDef
from connect_core.api.connector import WorkerLimits
from connect_core.api.data import STRING_SCHEMA
from connect_core.api.guarantee import Atomicity, Delivery, Guarantee
from connect_core.api.offsets import canonical, parse
from connect_core.api.source import ExactlyOnceSupport, SourceConnector, WrittenSchemas
from connect_core.connectors.allowed_file import AllowedFile
from connect_core.connectors.file.config import FILE, SOURCE_CONFIG, TOPIC
from connect_core.connectors.file.predecessor import QUIET_SECONDS
from connect_core.connectors.file.source_task import FILENAME, POSITION, FileStreamSourceTask, checked_position
from connect_core.connectors.file.tail import FileTail
from connect_core.errors import ConfigError, ConnectError

__all__ = ["FileStreamSourceConnector", "FileStreamSourceTask", "check_readable"]

_LOG = logging.getLogger(__name__)
_RESTART = "restart"
"""Distinguishes a bound from the same committed position in another file."""


class FileStreamSourceConnector(SourceConnector):
    """Follows one file, with one task. Connect: ``FileStreamSourceConnector``."""

    _config: Mapping[str, str]

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration. Raises ConfigError for a file that may not be read."""
        self._config = dict(config)
        file = _file_of(config)
        check_readable(file, self.context.limits)
        _LOG.info("Starting file source connector reading from %s", file or "standard input")

    def stop(self) -> None:
        """Do nothing: there is nothing to release."""

    def task_class(self) -> type[FileStreamSourceTask]:
        """Return the class of the one task."""
        return FileStreamSourceTask

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """Return one configuration: a file is one stream."""
        return [dict(self._config)]

    def config(self) -> ConfigDef:
        """Return the settings."""
        return SOURCE_CONFIG

    def validate_live(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
        """Check whether the file may be read."""
        try:
            check_readable(_file_of(config), limits)
        except ConfigError as error:
            return {FILE: [str(error)]}
        return {}

    def written_schemas(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, WrittenSchemas]:
        """Return the one topic, of texts without keys."""
        return {config[TOPIC]: WrittenSchemas(None, STRING_SCHEMA)}

    def latest(self, offsets: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]] | None:
        """Return the end of the last complete line; ``None`` for the standard input."""
        file = _file_of(self._config)
        if not file:
            return None
        key = canonical({FILENAME: file})
        position = checked_position(offsets.get(key))
        tail = FileTail.resumed(file, self.context.limits, position, self.context.offset_states.get(key))
        try:
            pending = tail.pending()
        finally:
            tail.close()
        if pending is None or pending.end == (0 if pending.is_restart else position or 0):
            return offsets
        bound: dict[str, Any] = {POSITION: pending.end}
        if bound == offsets.get(key):
            bound[_RESTART] = True
        return {**offsets, key: bound}

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return exactly-once for files; the standard input cannot be read again."""
        if not _file_of(config):
            return Guarantee(Delivery.AT_MOST_ONCE, atomicity=Atomicity.TRANSACTION)
        condition = (
            "the file is only appended to, or rotated by renaming it in its folder, and its writers leave the renamed "
            f"file within {QUIET_SECONDS:g} s; rotation that copies and truncates can lose lines"
        )
        return Guarantee(Delivery.EXACTLY_ONCE, atomicity=Atomicity.TRANSACTION, condition=condition)

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Return SUPPORTED for files; the standard input has no positions to return to."""
        return ExactlyOnceSupport.SUPPORTED if _file_of(config) else ExactlyOnceSupport.UNSUPPORTED

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[str, Mapping[str, Any] | None]) -> bool:
        """Check the form of new offsets; any offset may be deleted, whatever its form."""
        if not _file_of(config):
            raise ConnectError(
                f"Offsets cannot be modified if the '{FILE}' configuration is unspecified. "
                "This is because stdin is used for input and offsets are not tracked."
            )
        for key, offset in offsets.items():
            if offset is not None:
                _check_altered(parse(key), offset)
        return True


def check_readable(file: str, limits: WorkerLimits) -> None:
    """Raise ConfigError unless the file may be read here; it does not have to exist yet.

    No file means the standard input: the task checks whether there is one, as in Connect.
    """
    if not file:
        return
    allowed = AllowedFile.resolve(FILE, file, limits)
    try:
        os.close(allowed.open(os.O_RDONLY))
    except FileNotFoundError:
        _LOG.warning("%s does not exist yet: waiting for it", allowed.path)
    except OSError as error:
        raise ConfigError(
            FILE, file, f"{allowed.path} cannot be read ({error.strerror}); let the worker's user read it"
        ) from error


def _file_of(config: Mapping[str, str]) -> str:
    return AbstractConfig(SOURCE_CONFIG, config).get_string(FILE) or ""


def _check_altered(partition: Mapping[str, Any] | None, offset: Mapping[str, Any]) -> None:
    if POSITION not in offset:
        raise ConnectError(f"Offset objects should either be null or contain the key '{POSITION}'")
    position = offset[POSITION]
    if not isinstance(position, int) or isinstance(position, bool):
        raise ConnectError(f"The value for the '{POSITION}' key in the offset is expected to be a Long value")
    if position < 0:
        raise ConnectError(f"The value for the '{POSITION}' key in the offset should be a non-negative value")
    if partition is None:
        raise ConnectError("Partition objects cannot be null")
    if FILENAME not in partition:
        raise ConnectError(f"Partition objects should contain the key '{FILENAME}'")

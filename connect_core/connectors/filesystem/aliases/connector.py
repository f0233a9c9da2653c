"""A FileSystemSink with the class name and the keys of another vendor's sink."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import ClassVar

from connect_core.api.config import ConfigDef, ConfigValue
from connect_core.api.connector import WorkerLimits
from connect_core.api.sink import SinkCommitter
from connect_core.connectors.filesystem.aliases.original import Original
from connect_core.connectors.filesystem.sink.config import PATH
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector
from connect_core.errors import ConfigError

__all__ = ["AliasSinkConnector"]

_LOG = logging.getLogger(__name__)


class AliasSinkConnector(FileSystemSinkConnector):
    """Reads configurations of ``original``; the output and its guarantee are those of FileSystemSink."""

    original: ClassVar[Original]

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration, and log its keys that are not needed. Raises ConfigError, RetriableError."""
        translated = self.original.translated(config)
        for notice in self.original.notices(config):
            _LOG.warning("Connector %s: %s", self.context.connector_name, notice)
        super().start(translated)

    def config(self) -> ConfigDef:
        """Return the keys of the original, and additional settings of ours."""
        return self.original.definition

    def validate(self, config: Mapping[str, str]) -> list[ConfigValue]:
        """Return every key with its errors, including those in the settings that it is translated to."""
        values = self.original.definition.validate_all(config)
        if any(value.error_messages for value in values.values()):
            return list(values.values())
        try:
            translated = self.original.translated(config)
        except ConfigError as error:
            values[self._named(values, str(error))].error_messages.append(str(error))
            return list(values.values())
        for found in FileSystemSinkConnector().validate(translated):
            if found.error_messages:
                name = self.original.source_of(config, found.name)
                values[name].error_messages += [self._told(text) for text in found.error_messages]
        return list(values.values())

    def validate_live(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
        """Check whether the storage may be written."""
        found = super().validate_live(self.original.translated(config), limits)
        names = {PATH: self.original.place_key}
        return {names.get(name, name): [self._told(text) for text in texts] for name, texts in found.items()}

    def committer(self, config: Mapping[str, str]) -> SinkCommitter:
        """Return the committer, which creates manifests and publishes files."""
        return super().committer(self.original.translated(config))

    def target(self, config: Mapping[str, str]) -> str:
        """Return the location that is written to."""
        return super().target(self.original.translated(config))

    def _named(self, values: Mapping[str, ConfigValue], message: str) -> str:
        return next((name for name in values if f"configuration {name}:" in message), self.original.place_key)

    def _told(self, message: str) -> str:
        return message.replace(f"configuration {PATH}:", f"configuration {self.original.place_key}:")

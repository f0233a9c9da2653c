"""Settings of FileSystemSink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, NonEmptyString
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.choices import FORMATS, PARTITIONERS, storage_of
from connect_core.connectors.filesystem.formats import Format
from connect_core.connectors.filesystem.layout import Layout, Naming
from connect_core.connectors.filesystem.partitioners import Partitioner
from connect_core.connectors.filesystem.pluggable import Pluggable
from connect_core.connectors.filesystem.storages import Storage

__all__ = ["CONFIG", "PATH", "Settings", "definition_of", "located", "open_storage"]

PATH = "path"
FORMAT = "format"
PARTITIONER = "partitioner"
INCLUDE_KEY = "include.key"
INCLUDE_METADATA = "include.metadata"

_OWN = (
    ConfigDef()
    .define(
        PATH,
        ConfigType.STRING,
        validator=NonEmptyString(),
        importance=Importance.HIGH,
        doc="The folder to write to, within file.roots; a relative path begins at the first root. It is created.",
    )
    .define(
        FORMAT,
        ConfigType.STRING,
        "parquet",
        validator=FORMATS,
        importance=Importance.HIGH,
        doc="The format of the files.",
    )
    .define(
        PARTITIONER,
        ConfigType.STRING,
        "partition",
        validator=PARTITIONERS,
        importance=Importance.MEDIUM,
        doc="How files are put into folders: one a topic, in it one a partition (partition=0).",
    )
    .define(
        INCLUDE_KEY,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether the record's key is stored, as column _key.",
    )
    .define(
        INCLUDE_METADATA,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether columns _topic, _partition, _offset and _timestamp say where a record was read.",
    )
)


def _with(base: ConfigDef, parts: Sequence[type[Pluggable]]) -> ConfigDef:
    """Return a definition with the settings of parts that it does not have yet."""
    definition = ConfigDef(base)
    for part in parts:
        for key in part.definition.config_keys().values():
            if key.name not in definition.config_keys():
                definition.define_key(key)
    return definition


CONFIG = _with(_OWN, [*FORMATS.built_in.values(), *PARTITIONERS.built_in.values()])
"""The settings of the sink and of all built-in parts."""


def definition_of(config: Mapping[str, str]) -> ConfigDef:
    """Return the settings there are with the chosen parts, also those of other wheels. Raises ConfigError."""
    chosen = AbstractConfig(_OWN, config)
    return _with(CONFIG, [_format_of(chosen), _partitioner_of(chosen)])


@dataclass(frozen=True, slots=True)
class Settings:
    """A configuration with its parts made."""

    format: Format
    partitioner: Partitioner
    extras: Extras
    naming: Naming

    @classmethod
    def of(cls, config: Mapping[str, str]) -> Settings:
        """Read a configuration. Raises ConfigError naming key, value and remedy."""
        parsed = AbstractConfig(definition_of(config), config)
        form, partitioner = _format_of(parsed)(), _partitioner_of(parsed)()
        form.configure(config)
        partitioner.configure(config)
        extras = Extras(bool(parsed.get_boolean(INCLUDE_KEY)), bool(parsed.get_boolean(INCLUDE_METADATA)))
        return cls(form, partitioner, extras, Naming(form.extension))

    def layout(self, storage: Storage) -> Layout:
        """Return where files lie in a storage."""
        return Layout(storage, self.naming)


def open_storage(config: Mapping[str, str], limits: WorkerLimits, *, is_at_work: bool = False) -> Storage:
    """Return the storage to write to. Raises ConfigError for one that may not be written, at work RetriableError."""
    url = _url(config)
    return storage_of(PATH, url).open(url, config, limits, is_at_work=is_at_work)


def located(config: Mapping[str, str], limits: WorkerLimits) -> str:
    """Return the place a configuration writes to, as a text that tells it from all others. Raises ConfigError."""
    url = _url(config)
    return storage_of(PATH, url).locate(url, config, limits)


def _url(config: Mapping[str, str]) -> str:
    return AbstractConfig(_OWN, config).get_string(PATH) or ""


def _format_of(parsed: AbstractConfig) -> type[Format]:
    return FORMATS.find(FORMAT, parsed.get_string(FORMAT) or "")


def _partitioner_of(parsed: AbstractConfig) -> type[Partitioner]:
    return PARTITIONERS.find(PARTITIONER, parsed.get_string(PARTITIONER) or "")

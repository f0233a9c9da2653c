"""Settings of FileSystemSink."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from connect_core.api.config import (
    AbstractConfig,
    ConfigDef,
    ConfigType,
    Importance,
    NonEmptyString,
    Range,
    ValidString,
)
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.choices import FORMATS, PARTITIONERS, STORAGES, storage_of
from connect_core.connectors.filesystem.formats import Format
from connect_core.connectors.filesystem.hive.config import HIVE_KEYS, INTEGRATION, HiveSettings
from connect_core.connectors.filesystem.partitioners import Partitioner, TimeBasedPartitioner
from connect_core.connectors.filesystem.sink.evolution import Evolution
from connect_core.connectors.filesystem.sink.layout import Layout, Naming, Offsets
from connect_core.connectors.filesystem.sink.name_template import TIME_FOLDERS, NameTemplate
from connect_core.connectors.filesystem.sink.staging.files import Rotation
from connect_core.connectors.filesystem.storages import Storage
from connect_core.connectors.filesystem.tombstones import NullValues
from connect_core.errors import ConfigError

__all__ = ["CONFIG", "PATH", "Settings", "definition_of", "located", "open_storage"]

PATH = "path"
FORMAT = "format"
PARTITIONER = "partitioner"
INCLUDE_KEY = "include.key"
INCLUDE_METADATA = "include.metadata"
INCLUDE_HEADERS = "include.headers"
PARTITIONER_CLASS = "partitioner.class"
FLUSH_SIZE = "flush.size"
ROTATE_BYTES = "rotate.bytes"
NULLS = "behavior.on.null.values"
TOPICS_DIR = "topics.dir"
DELIMITER = "file.delim"
DIGITS = "filename.offset.zero.pad.width"
OFFSETS = "file.name.offsets"
TEMPLATE = "file.name.template"
COMPATIBILITY = "schema.compatibility"

_DELIMITERS = re.compile(r"[A-Za-z+._=,@~-]{1,8}\Z")
_FOLDERS = re.compile(r"[^\x00-\x1f\x7f\\]{0,200}\Z")

_OWN = (
    ConfigDef()
    .define(
        PATH,
        ConfigType.STRING,
        validator=NonEmptyString(),
        importance=Importance.HIGH,
        doc="Where to write: a folder within file.roots, created if absent (a relative path begins at the first "
        "root), or the URL of another storage.",
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
        doc="The topic's folders: partition (partition=0), field (country=de), or time, daily or hourly.",
    )
    .define(
        PARTITIONER_CLASS,
        ConfigType.STRING,
        None,
        validator=PARTITIONERS,
        importance=Importance.LOW,
        doc="The partitioner, with the key and class names of Confluent's sinks, instead of partitioner.",
    )
    .define(
        FLUSH_SIZE,
        ConfigType.INT,
        0,
        validator=Range.at_least(0),
        importance=Importance.MEDIUM,
        doc="Maximum number of records in a file, within the interval; 0: a file ends only with the interval.",
    )
    .define(
        ROTATE_BYTES,
        ConfigType.LONG,
        0,
        validator=Range.at_least(0),
        importance=Importance.LOW,
        doc="Maximum size of a file in bytes, before compression; 0: no limit.",
    )
    .define(
        NULLS,
        ConfigType.STRING,
        NullValues.WRITE.value,
        validator=ValidString.one_of(*(policy.value for policy in NullValues)),
        importance=Importance.MEDIUM,
        doc="What happens to records whose value is null: they are written as a row of nulls, left out, or fail.",
    )
    .define(
        COMPATIBILITY,
        ConfigType.STRING,
        Evolution.UNION.value,
        validator=ValidString.one_of(*(policy.value for policy in Evolution)),
        importance=Importance.MEDIUM,
        doc="What happens to a file when the schema of records changes: UNION (it has the columns of all; conflicting "
        "types are refused), NONE (another begins), or BACKWARD, FORWARD and FULL (as UNION, but conflicting types "
        "begin another).",
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
        doc="Whether columns _topic, _partition, _offset and _timestamp are stored, which tell where a record was "
        "read.",
    )
    .define(
        INCLUDE_HEADERS,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether the record's headers are stored, as column _headers: a list of name and value as text.",
    )
    .define(
        TOPICS_DIR,
        ConfigType.STRING,
        "",
        importance=Importance.LOW,
        doc="The folder in path that contains the topics' folders; path itself if empty.",
    )
    .define(
        DELIMITER,
        ConfigType.STRING,
        "+",
        importance=Importance.LOW,
        doc="The separator between topic, partition and offsets in file names.",
    )
    .define(
        DIGITS,
        ConfigType.INT,
        20,
        validator=Range.between(1, 20),
        importance=Importance.LOW,
        doc="Minimum number of digits of the offsets in file names, padded with zeros.",
    )
    .define(
        OFFSETS,
        ConfigType.STRING,
        Offsets.RANGE.value,
        validator=ValidString.one_of(*(choice.value for choice in Offsets)),
        importance=Importance.LOW,
        doc="Which offsets are in file names: range (where what was read begins and ends), first (that of the first "
        "record in the file), or first-last (those of its first and last record).",
    )
    .define(
        TEMPLATE,
        ConfigType.STRING,
        None,
        importance=Importance.LOW,
        doc="Names of the files below path, instead of the default ones: a path with {{topic}}, {{partition}}, "
        "{{start_offset}} (of the first record; padding=true for zeros) and {{timestamp:unit=yyyy}} (MM, dd, HH), as "
        "in lake/{{topic}}-{{partition}}-{{start_offset:padding=true}}.parquet.",
    )
)


def _with(base: ConfigDef, parts: Iterable[ConfigDef]) -> ConfigDef:
    """Return a definition with those settings of parts that it does not have yet."""
    definition = ConfigDef(base)
    for part in parts:
        for key in part.config_keys().values():
            if key.name not in definition.config_keys():
                definition.define_key(key)
    return definition


_BUILT_IN: list[type[Format] | type[Partitioner] | type[Storage]] = [
    *FORMATS.built_in.values(),
    *PARTITIONERS.built_in.values(),
    *STORAGES.built_in.values(),
]

CONFIG = _with(_OWN, (*(part.definition for part in _BUILT_IN), HIVE_KEYS))
"""The settings of the sink and of all built-in parts."""


def definition_of(config: Mapping[str, str]) -> ConfigDef:
    """Return all settings with the selected parts, including those of other wheels. Raises ConfigError."""
    chosen = AbstractConfig(_OWN, config)
    storage = storage_of(PATH, chosen.get_string(PATH) or "")
    return _with(CONFIG, (part.definition for part in (_format_of(chosen), _partitioner_of(chosen), storage)))


@dataclass(frozen=True, slots=True)
class Settings:
    """A configuration with its parts created."""

    format: Format
    partitioner: Partitioner
    extras: Extras
    naming: Naming
    rotation: Rotation
    nulls: NullValues
    evolution: Evolution
    hive: HiveSettings | None

    @classmethod
    def of(cls, config: Mapping[str, str]) -> Settings:
        """Parse a configuration. Raises ConfigError naming key, value and remedy."""
        parsed = AbstractConfig(definition_of(config), config)
        form, partitioner = _format_of(parsed)(), _partitioner_of(parsed)()
        form.configure(config)
        partitioner.configure(config)
        extras = _extras(parsed, form)
        naming, nulls = _naming(parsed, form.extension), NullValues(parsed.get_string(NULLS))
        named = naming.offsets is not Offsets.RANGE
        rotation = Rotation(parsed.get_int(FLUSH_SIZE) or 0, parsed.get_long(ROTATE_BYTES) or 0, named)
        evolution = Evolution(parsed.get_string(COMPATIBILITY))
        hive = _hive(parsed, partitioner, naming, evolution)
        return cls(form, partitioner, extras, naming, rotation, nulls, evolution, hive)

    def layout(self, storage: Storage) -> Layout:
        """Return the layout of files in a storage."""
        return Layout(storage, self.naming)


def open_storage(config: Mapping[str, str], limits: WorkerLimits, *, is_at_work: bool = False) -> Storage:
    """Return the storage to write to. Raises ConfigError for one that may not be written, at work RetriableError."""
    url = _url(config)
    return storage_of(PATH, url).open(url, config, limits, is_at_work=is_at_work)


def located(config: Mapping[str, str], limits: WorkerLimits) -> str:
    """Return the target of a configuration as a text that is unique to it. Raises ConfigError."""
    url = _url(config)
    return storage_of(PATH, url).locate(url, config, limits)


def _url(config: Mapping[str, str]) -> str:
    return AbstractConfig(_OWN, config).get_string(PATH) or ""


def _format_of(parsed: AbstractConfig) -> type[Format]:
    return FORMATS.find(FORMAT, parsed.get_string(FORMAT) or "")


def _partitioner_of(parsed: AbstractConfig) -> type[Partitioner]:
    name = parsed.get_string(PARTITIONER_CLASS)
    if name:
        return PARTITIONERS.find(PARTITIONER_CLASS, name)
    return PARTITIONERS.find(PARTITIONER, parsed.get_string(PARTITIONER) or "")


def _extras(parsed: AbstractConfig, form: Format) -> Extras:
    wanted = [bool(parsed.get_boolean(key)) for key in (INCLUDE_KEY, INCLUDE_METADATA, INCLUDE_HEADERS)]
    if any(wanted) and not form.has_fields:
        key = (INCLUDE_KEY, INCLUDE_METADATA, INCLUDE_HEADERS)[wanted.index(True)]
        text = f"the format {parsed.get_string(FORMAT)} stores values only; set this to false, or choose another format"
        raise ConfigError(key, "true", text)
    return Extras(*wanted)


def _naming(parsed: AbstractConfig, extension: str) -> Naming:
    delimiter = parsed.get_string(DELIMITER) or ""
    if not _DELIMITERS.match(delimiter):
        raise ConfigError(
            DELIMITER, delimiter, "it is part of file names: give one to eight letters or + - . _ = , @ ~"
        )
    given = parsed.get_string(TOPICS_DIR) or ""
    parts = [part for part in given.split("/") if part]
    if given.startswith("/") or not _FOLDERS.match(given) or any(part[0] in "._" for part in parts):
        text = "give a folder below path, such as topics; no part of it may begin with a period or an underscore"
        raise ConfigError(TOPICS_DIR, given, text)
    template = _template(parsed)
    offsets = Offsets(parsed.get_string(OFFSETS)) if template is None else Offsets.FIRST
    return Naming(extension, delimiter, parsed.get_int(DIGITS) or 1, "/".join(parts), offsets, template)


def _hive(
    parsed: AbstractConfig, partitioner: Partitioner, naming: Naming, evolution: Evolution
) -> HiveSettings | None:
    if not parsed.get_boolean(INTEGRATION):
        return None
    if evolution is Evolution.NONE:
        text = "a table has the columns of all files: with hive.integration set BACKWARD, FORWARD or FULL"
        raise ConfigError(COMPATIBILITY, evolution.value, text)
    if naming.template is not None:
        text = "a table needs a folder for each topic: with hive.integration leave it out"
        raise ConfigError(TEMPLATE, parsed.get_string(TEMPLATE), text)
    return HiveSettings.of(parsed, parsed.get_string(FORMAT) or "", partitioner)


def _template(parsed: AbstractConfig) -> NameTemplate | None:
    given = parsed.get_string(TEMPLATE)
    if not given:
        return None
    template = NameTemplate.parse(TEMPLATE, given)
    is_timed = _partitioner_of(parsed) is TimeBasedPartitioner and parsed.get_string("path.format") == TIME_FOLDERS
    if template.needs_time and not is_timed:
        text = f"its time units have to match the folders: set partitioner to time and path.format to {TIME_FOLDERS}"
        raise ConfigError(TEMPLATE, given, text)
    return template

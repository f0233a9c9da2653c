"""Settings of FileSystemSource."""

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
from connect_core.connectors.filesystem.choices import FORMATS, STORAGES, storage_of
from connect_core.connectors.filesystem.formats import Format, FormatReader
from connect_core.connectors.filesystem.source.actions import AfterCommit
from connect_core.connectors.filesystem.source.restoring import Restoring
from connect_core.connectors.filesystem.storages import SourceFiles, Storage
from connect_core.errors import ConfigError

__all__ = ["PATH", "SOURCE_CONFIG", "SourceSettings", "source_definition", "source_files"]

PATH = "path"
_TOPIC = "topic"
_FORMAT = "format"
_PATTERN = "file.pattern"
_ORDER = "file.order"
_SETTLE = "file.settle.ms"
_CHANGED = "behavior.on.changed.files"
_POLL = "poll.interval.ms"
_AFTER = "after.commit"
_KEY = "include.key"
_METADATA = "include.metadata"
_HEADERS = "include.headers"
_HEADER_BYTES = "headers.in.base64"
_UNWRAP = "unwrap.value"

_OWN = (
    ConfigDef()
    .define(
        PATH,
        ConfigType.STRING,
        validator=NonEmptyString(),
        importance=Importance.HIGH,
        doc="Where the files are: a folder within file.roots (a relative path begins at the first root), all folders "
        "below it among it, or the URL of another storage. It need not exist yet.",
    )
    .define(
        _TOPIC,
        ConfigType.STRING,
        None,
        importance=Importance.HIGH,
        doc="The topic that gets one record per row; leave it unset with include.metadata, where each row names its "
        "topic.",
    )
    .define(
        _FORMAT,
        ConfigType.STRING,
        "parquet",
        validator=FORMATS,
        importance=Importance.HIGH,
        doc="The format of the files: parquet, avro, csv, json (a value per line), text (a string per line) or raw "
        "(bytes). Names of compressed ones end with .gz or .zst.",
    )
    .define(
        _PATTERN,
        ConfigType.STRING,
        None,
        importance=Importance.MEDIUM,
        doc="A regular expression that whole names of files must match, including folders below path, as in "
        r"orders/.*\.csv; others are left alone.",
    )
    .define(
        _ORDER,
        ConfigType.STRING,
        "time",
        validator=ValidString.one_of("time", "name"),
        importance=Importance.MEDIUM,
        doc="Which file comes first: time (the one modified first), or name (within a folder by name, each folder by "
        "one task; for files of FileSystemSink). Changing this reads all files again.",
    )
    .define(
        _SETTLE,
        ConfigType.LONG,
        10_000,
        validator=Range.at_least(0),
        importance=Importance.MEDIUM,
        doc="How long a file must have been unchanged before it is read.",
    )
    .define(
        _CHANGED,
        ConfigType.STRING,
        "fail",
        validator=ValidString.one_of("fail", "skip"),
        importance=Importance.MEDIUM,
        doc="What happens when a file changes or goes after some of its rows were read: the connector fails, or the "
        "rest is left out; the file is named.",
    )
    .define(
        _AFTER,
        ConfigType.STRING,
        AfterCommit.LEAVE.value,
        validator=ValidString.one_of(*(action.value for action in AfterCommit)),
        importance=Importance.MEDIUM,
        doc="What happens to a file once all its rows are committed: leave, mark (an empty file _<name>.read is "
        "created next to it), move (into the folder _read of path; on local storage and HDFS) or delete.",
    )
    .define(
        _POLL,
        ConfigType.LONG,
        5_000,
        validator=Range.at_least(0),
        importance=Importance.LOW,
        doc="Minimum time between two searches for new files.",
    )
    .define(
        _KEY,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether the column _key, which FileSystemSink writes, becomes the record's key.",
    )
    .define(
        _METADATA,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether columns _partition and _timestamp become the record's, and _topic where no topic is set; _offset "
        "is left out.",
    )
    .define(
        _HEADERS,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether the column _headers becomes the record's headers, of strings.",
    )
    .define(
        _HEADER_BYTES,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.LOW,
        doc="Whether values of the column _headers are bytes in base64, as where the sink's header.converter is "
        "ByteArrayConverter.",
    )
    .define(
        _UNWRAP,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.LOW,
        doc="Whether the column value is the record's value, as FileSystemSink stores bytes, texts and numbers.",
    )
)


def _with(base: ConfigDef, parts: Iterable[ConfigDef]) -> ConfigDef:
    definition = ConfigDef(base)
    for part in parts:
        for key in part.config_keys().values():
            if key.name not in definition.config_keys():
                definition.define_key(key)
    return definition


_BUILT_IN: list[type[FormatReader] | type[Storage]] = [
    *(form.reader for form in FORMATS.built_in.values() if form.reader is not None),
    *STORAGES.built_in.values(),
]

SOURCE_CONFIG = _with(_OWN, (part.definition for part in _BUILT_IN))
"""The settings of the source and of all built-in formats and storages."""


def source_definition(config: Mapping[str, str]) -> ConfigDef:
    """Return all settings with the selected parts, including those of other wheels. Raises ConfigError."""
    chosen = AbstractConfig(_OWN, config)
    storage = storage_of(PATH, chosen.get_string(PATH) or "")
    return _with(SOURCE_CONFIG, (_reader_of(chosen).definition, storage.definition))


def source_files(config: Mapping[str, str], limits: WorkerLimits) -> SourceFiles:
    """Return the files to read. Raises ConfigError for a location that may not be read."""
    url = AbstractConfig(_OWN, config).get_string(PATH) or ""
    return storage_of(PATH, url).open_source(url, config, limits)


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """A configuration with its parts created. ``settle``: nanoseconds; ``poll_interval``: seconds."""

    path: str
    topic: str
    reader: FormatReader
    pattern: re.Pattern[str] | None
    by_name: bool
    settle: int
    is_strict: bool
    poll_interval: float
    after_commit: AfterCommit
    restoring: Restoring

    @classmethod
    def of(cls, config: Mapping[str, str]) -> SourceSettings:
        """Parse a configuration. Raises ConfigError naming key, value and remedy."""
        parsed = AbstractConfig(source_definition(config), config)
        reader = _reader_of(parsed)()
        reader.configure(config)
        topic = parsed.get_string(_TOPIC) or ""
        restoring = _restoring(parsed)
        if not topic and not restoring.metadata:
            raise ConfigError(_TOPIC, topic, f"name the topic, or set {_METADATA}=true where rows name it")
        return cls(
            path=parsed.get_string(PATH) or "",
            topic=topic,
            reader=reader,
            pattern=_pattern(parsed.get_string(_PATTERN)),
            by_name=parsed.get_string(_ORDER) == "name",
            settle=(parsed.get_long(_SETTLE) or 0) * 1_000_000,
            is_strict=parsed.get_string(_CHANGED) == "fail",
            poll_interval=(parsed.get_long(_POLL) or 0) / 1000,
            after_commit=_after_commit(parsed),
            restoring=restoring,
        )


def _restoring(parsed: AbstractConfig) -> Restoring:
    keys = (_KEY, _METADATA, _HEADERS, _HEADER_BYTES, _UNWRAP)
    wanted = [bool(parsed.get_boolean(key)) for key in keys]
    form = parsed.get_string(_FORMAT) or ""
    if any(wanted) and not FORMATS.find(_FORMAT, form).has_fields:
        key = keys[wanted.index(True)]
        raise ConfigError(key, "true", f"files of the format {form} have values only; set it to false")
    return Restoring(*wanted)


def _after_commit(parsed: AbstractConfig) -> AfterCommit:
    action = AfterCommit(parsed.get_string(_AFTER))
    storage = storage_of(PATH, parsed.get_string(PATH) or "")
    if action.value not in storage.after_commit:
        text = f"this storage supports {', '.join(sorted(storage.after_commit))}; choose one of these"
        raise ConfigError(_AFTER, action.value, text)
    return action


def _reader_of(parsed: AbstractConfig) -> type[FormatReader]:
    name = parsed.get_string(_FORMAT) or ""
    found: type[Format] = FORMATS.find(_FORMAT, name)
    if found.reader is None:
        readable = ", ".join(one for one, form in FORMATS.built_in.items() if form.reader is not None)
        raise ConfigError(_FORMAT, name, f"this format can be written only; those that can be read are {readable}")
    return found.reader


def _pattern(text: str | None) -> re.Pattern[str] | None:
    if not text:
        return None
    try:
        return re.compile(text)
    except re.error as error:
        raise ConfigError(_PATTERN, text, f"it is not a regular expression: {error}") from error

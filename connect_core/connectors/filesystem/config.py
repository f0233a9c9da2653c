"""Settings of FileSystemSink."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, NonEmptyString, ValidString
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.allowed_file import allowed_folder
from connect_core.errors import ConfigError, RetriableError

__all__ = ["CODEC", "CONFIG", "INCLUDE_KEY", "INCLUDE_METADATA", "PATH", "checked_folder"]

PATH = "path"
FORMAT = "format"
PARTITIONER = "partitioner"
CODEC = "parquet.codec"
INCLUDE_KEY = "include.key"
INCLUDE_METADATA = "include.metadata"

CONFIG = (
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
        validator=ValidString.one_of("parquet"),
        importance=Importance.HIGH,
        doc="The format of the files.",
    )
    .define(
        PARTITIONER,
        ConfigType.STRING,
        "partition",
        validator=ValidString.one_of("partition"),
        importance=Importance.MEDIUM,
        doc="How files are put into folders: one a topic, in it one a partition (partition=0).",
    )
    .define(
        CODEC,
        ConfigType.STRING,
        "zstd",
        validator=ValidString.one_of("none", "snappy", "lz4", "zstd", "gzip"),
        importance=Importance.LOW,
        doc="How Parquet pages are compressed.",
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


def checked_folder(config: Mapping[str, str], limits: WorkerLimits, *, is_at_work: bool = False) -> Path:
    """Return the folder to write to. Raises ConfigError for one that may not be written.

    At work that is a RetriableError: a disk that is read-only for a while must not need a person afterwards.
    """
    value = AbstractConfig(CONFIG, config).get_string(PATH) or ""
    folder = allowed_folder(PATH, value, limits)
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    if not existing.is_dir():
        raise ConfigError(PATH, value, f"{existing} is no folder; name another")
    if not os.access(existing, os.W_OK | os.X_OK):
        error = ConfigError(PATH, value, f"{existing} cannot be written; give it to the worker's user")
        raise RetriableError(str(error)) if is_at_work else error
    return folder

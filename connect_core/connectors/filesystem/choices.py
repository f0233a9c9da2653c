"""Formats, partitioners and storages by their names in configurations.

Built-in ones are in the tables below; other wheels register theirs by entry points of the groups
``connect_core.filesystem.formats``, ``.partitioners`` and ``.storages``, whose name is the one in configurations: for a
storage, the scheme of its URLs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from typing import Any, Generic, TypeVar

from connect_core.connectors.filesystem.formats import (
    AvroFormat,
    CsvFormat,
    EnvelopeFormat,
    Format,
    JsonLinesFormat,
    OrcFormat,
    ParquetFormat,
    PlainFormat,
    RawFormat,
    TextFormat,
)
from connect_core.connectors.filesystem.partitioners import (
    DailyPartitioner,
    DefaultPartitioner,
    FieldPartitioner,
    HourlyPartitioner,
    Partitioner,
    TimeBasedPartitioner,
)
from connect_core.connectors.filesystem.storages import (
    AzureStorage,
    GcsStorage,
    HdfsStorage,
    LocalStorage,
    S3Storage,
    Storage,
)
from connect_core.errors import PLUGIN_ERRORS, ConfigError

__all__ = ["FORMATS", "PARTITIONERS", "STORAGES", "Choice", "storage_of"]

Chosen = TypeVar("Chosen")
"""The contract that the classes implement."""

_CONFLUENT = ("io.confluent.connect.storage.partitioner.", "io.confluent.connect.hdfs.partitioner.")
"""The packages of Confluent's partitioners; the second is that of older configurations for HDFS."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


@dataclass(frozen=True)
class Choice(Generic[Chosen]):
    """The classes of one contract by name; also the validator of the setting that selects one."""

    group: str
    contract: type[Chosen]
    built_in: Mapping[str, type[Chosen]]
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names of built-in classes."""

    def find(self, key: str, name: str) -> type[Chosen]:
        """Return the class of a name. Raises ConfigError naming the available ones."""
        found = self.built_in.get(self.aliases.get(name, name))
        return found or self._announced(key, name)

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for a name without a class."""
        if value is not None:
            self.find(name, value)

    def __str__(self) -> str:
        return f"[{', '.join(self.built_in)}]"

    def _announced(self, key: str, name: str) -> type[Chosen]:
        known = _entry_points(self.group)
        if name not in known:
            names = ", ".join([*self.built_in, *sorted(known)])
            raise ConfigError(key, name, f"choose one of {names}, or install the package that provides it")
        try:
            found = known[name].load()
        except PLUGIN_ERRORS as error:
            raise ConfigError(key, name, f"it cannot be loaded: {error}; reinstall its package") from error
        if not (isinstance(found, type) and issubclass(found, self.contract)):
            text = f"{known[name].value} is not a {self.contract.__name__}; ask the authors of its package"
            raise ConfigError(key, name, text)
        return found


@cache
def _entry_points(group: str) -> Mapping[str, metadata.EntryPoint]:
    return {point.name: point for point in metadata.entry_points(group=f"connect_core.filesystem.{group}")}


FORMATS: Choice[Format] = Choice(
    "formats",
    Format,  # type: ignore[type-abstract]
    {
        "parquet": ParquetFormat,
        "avro": AvroFormat,
        "csv": CsvFormat,
        "json": JsonLinesFormat,
        "orc": OrcFormat,
        "raw": RawFormat,
        "text": TextFormat,
        "envelope": EnvelopeFormat,
        "plain": PlainFormat,
    },
)

PARTITIONERS: Choice[Partitioner] = Choice(
    "partitioners",
    Partitioner,  # type: ignore[type-abstract]
    {
        "partition": DefaultPartitioner,
        "field": FieldPartitioner,
        "time": TimeBasedPartitioner,
        "daily": DailyPartitioner,
        "hourly": HourlyPartitioner,
    },
    {
        f"{package}{name}Partitioner": short
        for package in _CONFLUENT
        for name, short in (
            ("Default", "partition"),
            ("Field", "field"),
            ("TimeBased", "time"),
            ("Daily", "daily"),
            ("Hourly", "hourly"),
        )
    },
)

STORAGES: Choice[Storage] = Choice(
    "storages",
    Storage,  # type: ignore[type-abstract]
    {
        "file": LocalStorage,
        "hdfs": HdfsStorage,
        "s3": S3Storage,
        "gs": GcsStorage,
        "abfs": AzureStorage,
        "abfss": AzureStorage,
    },
)


def storage_of(key: str, url: str) -> type[Storage]:
    """Return the class for a URL; a path belongs to the local one. Raises ConfigError."""
    scheme = _SCHEME.match(url)
    return STORAGES.find(key, scheme[1].lower()) if scheme else LocalStorage

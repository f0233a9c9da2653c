"""Settings of the registration in a Hive Metastore, with the names that Confluent's sinks for HDFS use."""

from __future__ import annotations

import re
from dataclasses import dataclass

from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, Range
from connect_core.connectors.filesystem.hive.stored_as import StoredAs, stored_as
from connect_core.connectors.filesystem.partitioners import FieldPartitioner, Partitioner
from connect_core.errors import ConfigError

__all__ = ["DATABASE", "HIVE_KEYS", "INTEGRATION", "TABLE", "URIS", "HiveSettings"]

INTEGRATION = "hive.integration"
URIS = "hive.metastore.uris"
DATABASE = "hive.database"
TABLE = "hive.table.name"
TIMEOUT = "hive.metastore.timeout.ms"

_TOPIC = "${topic}"
_FIELDS = "partition.field.name"
_PATH = "path.format"
_URI = re.compile(r"thrift://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})/?\Z")
_NAME = re.compile(r"\w{1,128}\Z", re.ASCII)
_KEY = re.compile(r"[\w-]+\Z")
_LAST_PORT = 65_535

HIVE_KEYS = (
    ConfigDef()
    .define(
        INTEGRATION,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether each topic's files are a table in a Hive Metastore: it is created, and new partitions and columns "
        "are added, after an interval's files are published.",
    )
    .define(
        URIS,
        ConfigType.STRING,
        "",
        importance=Importance.MEDIUM,
        doc="For hive.integration: the metastore, as thrift://host:port; several, separated by commas, are tried in "
        "order.",
    )
    .define(
        DATABASE,
        ConfigType.STRING,
        "default",
        importance=Importance.LOW,
        doc="For hive.integration: the database of the tables; it must exist.",
    )
    .define(
        TABLE,
        ConfigType.STRING,
        _TOPIC,
        importance=Importance.LOW,
        doc="For hive.integration: the name of a topic's table; it contains ${topic}. Characters other than letters, "
        "digits and underscores become underscores.",
    )
    .define(
        TIMEOUT,
        ConfigType.INT,
        60_000,
        validator=Range.between(1000, 3_600_000),
        importance=Importance.LOW,
        doc="For hive.integration: how many milliseconds a call waits for the metastore's response before it fails and "
        "is retried.",
    )
)


@dataclass(frozen=True, slots=True)
class HiveSettings:
    """Where and as what files are registered."""

    addresses: tuple[tuple[str, int], ...]
    database: str
    table: str
    timeout: float
    """In seconds."""
    keys: tuple[str, ...]
    """The columns that folders stand for, in the order of folders."""
    stored_as: StoredAs

    @classmethod
    def of(cls, settings: AbstractConfig, form: str, partitioner: Partitioner) -> HiveSettings:
        """Return the settings for a format and a partitioner. Raises ConfigError naming key, value and remedy."""
        stored = stored_as(form, settings)
        keys = _keys(settings, partitioner)
        if stored.is_positional and isinstance(partitioner, FieldPartitioner):
            text = (
                "in CSV files the field is a column as well, and Hive finds columns by position; choose another format"
            )
            raise ConfigError(INTEGRATION, "true", text)
        database = (settings.get_string(DATABASE) or "").strip().lower()
        if not _NAME.match(database):
            raise ConfigError(DATABASE, database, "name a database of the metastore, such as default")
        table = settings.get_string(TABLE) or ""
        if _TOPIC not in table:
            raise ConfigError(TABLE, table, f"it must contain {_TOPIC}, so that each topic has its own table")
        timeout = (settings.get_int(TIMEOUT) or 0) / 1000
        return cls(_addresses(settings.get_string(URIS) or ""), database, table, timeout, keys, stored)

    def table_of(self, topic: str) -> str:
        """Return the name of a topic's table."""
        return re.sub(r"\W", "_", self.table.replace(_TOPIC, topic), flags=re.ASCII).lower()[:128]


def _addresses(given: str) -> tuple[tuple[str, int], ...]:
    found = []
    for part in filter(None, map(str.strip, given.split(","))):
        uri = _URI.match(part)
        if uri is None or not 0 < int(uri[2]) <= _LAST_PORT:
            raise ConfigError(URIS, given, "write each as thrift://host:9083, with commas between several")
        found.append((uri[1].strip("[]"), int(uri[2])))
    if not found:
        raise ConfigError(URIS, given, "hive.integration needs it: give the metastore, as thrift://host:9083")
    return tuple(found)


def _keys(settings: AbstractConfig, partitioner: Partitioner) -> tuple[str, ...]:
    """Return the columns that folders stand for, in lower case as Hive has them."""
    named = _FIELDS if isinstance(partitioner, FieldPartitioner) else _PATH
    given = settings.originals().get(named, type(partitioner).__name__)
    keys = partitioner.keys
    if not keys:
        text = "with hive.integration every part of it is a name and a value, as in 'year'=YYYY/'month'=MM/'day'=dd"
        raise ConfigError(named, given, text)
    lowered = tuple(key.lower() for key in keys)
    if not all(map(_KEY.match, keys)) or len(set(lowered)) < len(lowered):
        text = (
            "with hive.integration they are columns, each once, of letters, digits and _, in which capitals are equal"
        )
        raise ConfigError(named, given, text)
    return lowered

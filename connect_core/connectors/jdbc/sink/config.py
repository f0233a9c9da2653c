"""Settings of the JDBC sink: names and meanings as in Connect's JDBC sink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, Range, ValidString
from connect_core.connectors.jdbc.catalog import TableName
from connect_core.connectors.jdbc.config import ConnectionSettings, connection_settings, with_connection_keys
from connect_core.errors import ConfigError

__all__ = [
    "AUTO_CREATE",
    "AUTO_EVOLVE",
    "DELETE_ENABLED",
    "INSERT_MODE",
    "OFFSETS_TABLE",
    "PK_FIELDS",
    "PK_MODE",
    "SINK_CONFIG",
    "TABLE_NAME_FORMAT",
    "InsertMode",
    "KeyMode",
    "SinkSettings",
    "relation_errors",
    "sink_settings",
]

INSERT_MODE = "insert.mode"
DELETE_ENABLED = "delete.enabled"
PK_MODE = "pk.mode"
PK_FIELDS = "pk.fields"
FIELDS_INCLUDE = "fields.include.list"
FIELDS_WHITELIST = "fields.whitelist"
TABLE_NAME_FORMAT = "table.name.format"
AUTO_CREATE = "auto.create"
AUTO_EVOLVE = "auto.evolve"
BATCH_SIZE = "batch.size"
OFFSETS_TABLE = "offsets.table"

_KAFKA_FIELDS = ("__connect_topic", "__connect_partition", "__connect_offset")


class InsertMode(Enum):
    """The effect of a record with a value on its table."""

    INSERT = "insert"
    UPSERT = "upsert"
    UPDATE = "update"


class KeyMode(Enum):
    """The origin of a row's primary key."""

    NONE = "none"
    KAFKA = "kafka"
    RECORD_KEY = "record_key"
    RECORD_VALUE = "record_value"


@dataclass(frozen=True, slots=True)
class SinkSettings:
    """The sink's parsed settings. ``key_fields`` is empty if all fields of the key or value are used."""

    connection: ConnectionSettings
    insert_mode: InsertMode
    deletes: bool
    key_mode: KeyMode
    key_fields: tuple[str, ...]
    included: frozenset[str]
    table_format: str
    creates: bool
    evolves: bool
    batch_size: int
    offsets_table: TableName

    def table_of(self, topic: str) -> TableName:
        """Return the table of a topic: a point in the format separates schema and table, one in the topic does not."""
        schema, point, name = self.table_format.rpartition(".")
        parts = [part.replace("${topic}", topic) for part in ((schema, name) if point else ("", self.table_format))]
        return TableName(parts[0] or None, parts[1])


def sink_settings(config: Mapping[str, str]) -> SinkSettings:
    """Return a configuration's settings. Raises ConfigError for the first invalid one."""
    parsed = AbstractConfig(SINK_CONFIG, config)
    errors = relation_errors(config)
    if errors:
        raise ConfigError(next(iter(errors.values())))
    key_mode = KeyMode(parsed.get_string(PK_MODE))
    fields = tuple(parsed.get_list(PK_FIELDS) or ())
    return SinkSettings(
        connection_settings(parsed),
        InsertMode(parsed.get_string(INSERT_MODE)),
        bool(parsed.get_boolean(DELETE_ENABLED)),
        key_mode,
        fields or (_KAFKA_FIELDS if key_mode is KeyMode.KAFKA else ()),
        frozenset(parsed.get_list(FIELDS_INCLUDE) or parsed.get_list(FIELDS_WHITELIST) or ()),
        parsed.get_string(TABLE_NAME_FORMAT) or "",
        bool(parsed.get_boolean(AUTO_CREATE)),
        bool(parsed.get_boolean(AUTO_EVOLVE)),
        parsed.get_int(BATCH_SIZE) or 1,
        _table_name(parsed.get_string(OFFSETS_TABLE) or ""),
    )


def relation_errors(config: Mapping[str, str | None]) -> dict[str, str]:
    """Return the errors between settings that are each valid: key → message with remedy."""
    keys = SINK_CONFIG.config_keys()
    given = {name: config.get(name) or keys[name].default for name in (INSERT_MODE, PK_MODE, PK_FIELDS)}
    mode, key_mode = given[INSERT_MODE], given[PK_MODE]
    fields = [part.strip() for part in (config.get(PK_FIELDS) or "").split(",") if part.strip()]
    errors: dict[str, str] = {}
    if mode in ("upsert", "update") and key_mode == "none":
        errors[PK_MODE] = f"pk.mode=none: insert.mode={mode} needs a key; use record_key, record_value or kafka"
    if str(config.get(DELETE_ENABLED)).strip().lower() == "true" and key_mode != "record_key":
        errors[DELETE_ENABLED] = (
            f"delete.enabled=true needs pk.mode=record_key, not {key_mode}: a tombstone is only a key"
        )
    if key_mode == "kafka" and len(fields) not in (0, 3):
        errors[PK_FIELDS] = "pk.fields: with pk.mode=kafka give no field, or three: for topic, partition and offset"
    if len(set(fields)) != len(fields):
        errors[PK_FIELDS] = f"pk.fields: {','.join(fields)} contains a field twice"
    table_format = config.get(TABLE_NAME_FORMAT)
    if table_format is not None and not table_format.strip(". "):
        errors[TABLE_NAME_FORMAT] = "table.name.format: it does not contain a table name; write ${topic} or a name"
    return errors


def _table_name(text: str) -> TableName:
    schema, _, name = text.rpartition(".")
    return TableName(schema or None, name)


def _definition() -> ConfigDef:
    definition = with_connection_keys(ConfigDef())
    _writes(definition)
    _keys(definition)
    _tables(definition)
    return definition


def _writes(definition: ConfigDef) -> None:
    group = "Writes"
    definition.define(
        INSERT_MODE,
        ConfigType.STRING,
        "insert",
        validator=ValidString.one_of("insert", "upsert", "update"),
        group=group,
        doc="insert: a new row for each record. upsert: a row for each key, replaced by newer records. "
        "update: existing rows are changed; records for other rows are skipped.",
    )
    definition.define(
        DELETE_ENABLED,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        group=group,
        doc="Whether a record without a value (a tombstone) deletes the row of its key; needs pk.mode=record_key.",
    )
    definition.define(
        FIELDS_INCLUDE,
        ConfigType.LIST,
        "",
        importance=Importance.MEDIUM,
        group=group,
        doc="The fields of the value to write; by default all. Key columns are always written.",
    )
    definition.define(FIELDS_WHITELIST, ConfigType.LIST, "", internal=True, doc="Older name of the same setting.")
    definition.define(
        BATCH_SIZE,
        ConfigType.INT,
        3000,
        validator=Range.at_least(1),
        importance=Importance.MEDIUM,
        group=group,
        doc="Maximum number of rows in one statement; not needed for PostgreSQL, which is written with COPY.",
    )


def _keys(definition: ConfigDef) -> None:
    group = "Writes"
    definition.define(
        PK_MODE,
        ConfigType.STRING,
        "none",
        validator=ValidString.one_of("none", "kafka", "record_key", "record_value"),
        group=group,
        doc="Where a row's primary key comes from: nowhere, the record's topic, partition and offset, its key, "
        "or fields of its value.",
    )
    definition.define(
        PK_FIELDS,
        ConfigType.LIST,
        "",
        importance=Importance.MEDIUM,
        group=group,
        doc="The columns of the primary key. kafka: three names, by default __connect_topic, __connect_partition, "
        "__connect_offset. record_key: fields of the key, by default all; for a key that is not a struct the one name "
        "it gets. record_value: fields of the value, by default all.",
    )


def _tables(definition: ConfigDef) -> None:
    group = "Tables"
    definition.define(
        TABLE_NAME_FORMAT,
        ConfigType.STRING,
        "${topic}",
        importance=Importance.MEDIUM,
        group=group,
        doc="The table of a topic; ${topic} is replaced by the topic's name. schema.${topic} names a schema, too.",
    )
    definition.define(
        AUTO_CREATE,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        group=group,
        doc="Whether a missing table is created from the record's schema.",
    )
    definition.define(
        AUTO_EVOLVE,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        group=group,
        doc="Whether columns are added for new fields, and widened for wider numbers.",
    )
    definition.define(
        OFFSETS_TABLE,
        ConfigType.STRING,
        "connect_offsets",
        importance=Importance.LOW,
        group=group,
        doc="The table in the target that stores the positions, in the same transaction as the rows; it is created.",
    )


SINK_CONFIG = _definition()

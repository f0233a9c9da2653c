"""Settings of IcebergSink: those of Apache Iceberg's own Kafka Connect sink, and a few more."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, NonEmptyString, ValidString
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.tombstones import NullValues
from connect_core.connectors.iceberg.partition_texts import PartitionText, partition_texts
from connect_core.connectors.lake.changes import Upserts
from connect_core.connectors.lake.compaction import compaction_of, with_compaction
from connect_core.connectors.lake.key_columns import KeySetting
from connect_core.connectors.lake.routing import Routing, TableName, table_name
from connect_core.connectors.lake.sink_task import LakeSettings
from connect_core.connectors.lake.types import Evolution
from connect_core.errors import ConfigError, DataError

__all__ = ["CATALOG_PREFIX", "CONFIG", "Settings", "TableSettings", "unknown", "unneeded"]

CATALOG = "iceberg.catalog"
CATALOG_PREFIX = "iceberg.catalog."
TABLES = "iceberg.tables"
DYNAMIC = "iceberg.tables.dynamic-enabled"
ROUTE_FIELD = "iceberg.tables.route-field"
PARTITION_BY = "iceberg.tables.default-partition-by"
BRANCH = "iceberg.tables.default-commit-branch"
AUTO_CREATE = "iceberg.tables.auto-create-enabled"
EVOLVE = "iceberg.tables.evolve-schema-enabled"
IGNORE_CASE = "iceberg.tables.schema-case-insensitive"
ID_COLUMNS = "iceberg.tables.default-id-columns"
UPSERT = "iceberg.tables.upsert-mode-enabled"
CDC_FIELD = "iceberg.tables.cdc-field"
FORCE_OPTIONAL = "iceberg.tables.schema-force-optional"
CREATE_PROPERTIES = "iceberg.tables.auto-create-props."
WRITE_PROPERTIES = "iceberg.tables.write-props."
TABLE_PREFIX = "iceberg.table."
TABLE_FORMAT = "table.name.format"
CONTROL_NAMESPACE = "control.namespace"
NULLS = "behavior.on.null.values"
INCLUDE_KEY = "include.key"
INCLUDE_METADATA = "include.metadata"
INCLUDE_HEADERS = "include.headers"

_OF_TABLE = re.compile(r"iceberg\.table\.(.+)\.(commit-branch|partition-by|route-regex|id-columns)\Z")
_UNNEEDED = (
    *("iceberg.connect.", "iceberg.control.", "iceberg.kafka.", "iceberg.hadoop."),
    *("iceberg.hadoop-conf-dir", "iceberg.coordinator"),
)

CONFIG = with_compaction(
    ConfigDef()
    .define(
        CATALOG,
        ConfigType.STRING,
        "iceberg",
        validator=NonEmptyString(),
        importance=Importance.MEDIUM,
        doc="The catalog's name; iceberg.catalog.* are its properties.",
    )
    .define(
        TABLES,
        ConfigType.LIST,
        "",
        importance=Importance.HIGH,
        doc="The tables to write, as namespace.table. Without a route field each record goes to all of them.",
    )
    .define(
        TABLE_FORMAT,
        ConfigType.STRING,
        "",
        importance=Importance.HIGH,
        doc="The table of a topic in place of iceberg.tables, such as lake.${topic}. A point in a topic's name parts "
        "nothing.",
    )
    .define(
        ROUTE_FIELD,
        ConfigType.STRING,
        None,
        importance=Importance.MEDIUM,
        doc="The field of the value (a.b in structs) by which a record's table is chosen: its value must match "
        "iceberg.table.NAME.route-regex as a whole, or is the table. A record that no table matches is left out.",
    )
    .define(
        DYNAMIC,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether the route field's value, in lower case, is the name of the table.",
    )
    .define(
        AUTO_CREATE,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether tables and namespaces that are missing are created, with the columns of the records. All are "
        "optional.",
    )
    .define(
        EVOLVE,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether tables change with the records: columns are added, int becomes long, float double, required "
        "optional. Otherwise fields without a column are left out.",
    )
    .define(
        PARTITION_BY,
        ConfigType.STRING,
        "",
        importance=Importance.MEDIUM,
        doc="How tables that are created are partitioned: columns, or year(c), month(c), day(c), hour(c), "
        "bucket(c, 16), truncate(c, 10), separated by commas. iceberg.table.NAME.partition-by is that of one.",
    )
    .define(
        BRANCH,
        ConfigType.STRING,
        None,
        importance=Importance.LOW,
        doc="The branch that is written, by default main. iceberg.table.NAME.commit-branch is that of one table.",
    )
    .define(
        IGNORE_CASE,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.LOW,
        doc="Whether fields find their columns by name in whatever case.",
    )
    .define(
        FORCE_OPTIONAL,
        ConfigType.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Columns that are created are always optional: what is required today may be missing tomorrow.",
    )
    .define(
        ID_COLUMNS,
        ConfigType.LIST,
        "",
        importance=Importance.MEDIUM,
        doc="The columns of the key by which rows are found if they are updated, by default the table's identifier "
        "fields. iceberg.table.NAME.id-columns are those of one table.",
    )
    .define(
        UPSERT,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether a record replaces the row that has its key instead of being appended.",
    )
    .define(
        CDC_FIELD,
        ConfigType.STRING,
        None,
        importance=Importance.MEDIUM,
        doc="The field of the value (a.b in structs) with the operation: where it begins with D or d, the row that has "
        "the record's key is deleted; everything else replaces it. Rows are updated even without "
        "iceberg.tables.upsert-mode-enabled.",
    )
    .define(
        NULLS,
        ConfigType.STRING,
        NullValues.IGNORE.value,
        validator=ValidString.one_of(*(policy.value for policy in NullValues)),
        importance=Importance.MEDIUM,
        doc="What becomes of records whose value is null: they are left out, written as a row of nulls, or fail. Where "
        "rows are updated and this is not set, they delete the row that has the record's key; write is refused.",
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
    .define(
        INCLUDE_HEADERS,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether the record's headers are stored, as column _headers: a list of name and value as text.",
    )
    .define(
        CONTROL_NAMESPACE,
        ConfigType.STRING,
        "connect",
        validator=NonEmptyString(),
        importance=Importance.LOW,
        doc="The namespace of the catalog, created if absent, in which each connector has a table that holds its "
        "epoch and which interval was committed last.",
    )
)


@dataclass(frozen=True, slots=True)
class TableSettings:
    """The settings of one table."""

    branch: str
    partitions: tuple[PartitionText, ...]
    key: tuple[str, ...]
    """The columns by which rows are found; none: those that the table declares."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A parsed configuration."""

    catalog: str
    properties: Mapping[str, str]
    lake: LakeSettings
    creates: bool
    evolution: Evolution
    default: TableSettings
    tables: Mapping[str, TableSettings]
    """The tables that have settings of their own, by name."""
    create_properties: Mapping[str, str]
    write_properties: Mapping[str, str]
    control: TableName

    @classmethod
    def of(cls, config: Mapping[str, str]) -> Settings:
        """Parse a configuration. Raises ConfigError naming key, value and remedy."""
        parsed = AbstractConfig(CONFIG, config)
        extras = Extras(*(bool(parsed.get_boolean(key)) for key in (INCLUDE_KEY, INCLUDE_METADATA, INCLUDE_HEADERS)))
        default = TableSettings(
            parsed.get_string(BRANCH) or "main",
            _partitions(PARTITION_BY, parsed.get_string(PARTITION_BY) or ""),
            tuple(parsed.get_list(ID_COLUMNS) or ()),
        )
        evolution = Evolution(
            bool(parsed.get_boolean(EVOLVE)), bool(parsed.get_boolean(IGNORE_CASE)), takes_empty=False
        )
        return cls(
            parsed.get_string(CATALOG) or "",
            _below(config, CATALOG_PREFIX),
            LakeSettings(
                _routing(parsed, config),
                extras,
                NullValues(parsed.get_string(NULLS)),
                _upserts(parsed, config),
                compaction_of(parsed),
            ),
            bool(parsed.get_boolean(AUTO_CREATE)),
            evolution,
            default,
            _own_settings(config, default),
            _below(config, CREATE_PROPERTIES),
            _below(config, WRITE_PROPERTIES),
            tuple((parsed.get_string(CONTROL_NAMESPACE) or "").split(".")),
        )

    def of_table(self, name: TableName) -> TableSettings:
        """Return the settings of a table."""
        return self.tables.get(".".join(name), self.default)

    def key_setting(self, name: TableName) -> KeySetting:
        """Return the columns by which a table's rows are found."""
        key = self.of_table(name).key
        own = f"{TABLE_PREFIX}{'.'.join(name)}.id-columns"
        return KeySetting(own if key != self.default.key else ID_COLUMNS, key, self.evolution.ignores_case)


def unneeded(config: Mapping[str, str]) -> list[str]:
    """Return the settings of Apache's sink that have no effect here."""
    known = [key for key in config if key.startswith(_UNNEEDED) or key == FORCE_OPTIONAL]
    if not _updates(config):
        known += [key for key in config if key == ID_COLUMNS or (_OF_TABLE.match(key) and key.endswith(".id-columns"))]
    return sorted(known)


def unknown(config: Mapping[str, str]) -> list[str]:
    """Return settings with this sink's prefix that neither it nor Apache's sink has."""
    prefixes = (CATALOG_PREFIX, CREATE_PROPERTIES, WRITE_PROPERTIES, *_UNNEEDED)
    return sorted(
        key
        for key in config
        if key.startswith("iceberg.")
        and key not in CONFIG.config_keys()
        and not key.startswith(prefixes)
        and not _OF_TABLE.match(key)
    )


def _upserts(parsed: AbstractConfig, config: Mapping[str, str]) -> Upserts | None:
    operation = parsed.get_string(CDC_FIELD) or ""
    if not (operation or parsed.get_boolean(UPSERT)):
        return None
    nulls = config.get(NULLS)
    if nulls == NullValues.WRITE.value:
        text = f"with {UPSERT} or {CDC_FIELD} a row of nulls has no key; leave it out to delete the record's key"
        raise ConfigError(NULLS, nulls, text)
    if nulls is None and parsed.get_string(ROUTE_FIELD):
        text = f"a null value deletes a row, but {ROUTE_FIELD} finds no table in it; set ignore or fail, or leave out "
        raise ConfigError(NULLS, "", text + ROUTE_FIELD)
    return Upserts(nulls is None, operation, CDC_FIELD)


def _updates(config: Mapping[str, str]) -> bool:
    return bool(config.get(CDC_FIELD)) or (config.get(UPSERT) or "").strip().lower() == "true"


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _below(config: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}


def _partitions(key: str, text: str) -> tuple[PartitionText, ...]:
    try:
        return partition_texts(text)
    except ValueError as error:
        raise ConfigError(key, text, str(error)) from error


def _own_settings(config: Mapping[str, str], default: TableSettings) -> dict[str, TableSettings]:
    names = {match[1] for match in map(_OF_TABLE.match, config) if match}
    found = {}
    for name in names:
        key = f"{TABLE_PREFIX}{name}.partition-by"
        partitions = _partitions(key, config[key]) if key in config else default.partitions
        branch = config.get(f"{TABLE_PREFIX}{name}.commit-branch") or default.branch
        columns = config.get(f"{TABLE_PREFIX}{name}.id-columns") or ""
        found[name] = TableSettings(branch, partitions, tuple(_listed(columns)) or default.key)
    return found


def _routing(parsed: AbstractConfig, config: Mapping[str, str]) -> Routing:
    template, field = parsed.get_string(TABLE_FORMAT) or "", parsed.get_string(ROUTE_FIELD) or ""
    names = parsed.get_list(TABLES) or []
    is_dynamic = bool(parsed.get_boolean(DYNAMIC))
    if template and (names or is_dynamic or field):
        raise ConfigError(TABLE_FORMAT, template, "it chooses the tables by topic: leave out the other ways, or this")
    if template:
        _named(TABLE_FORMAT, template.replace("${topic}", "topic"))
        return Routing(tuple(template.split(".")))
    if is_dynamic and not field:
        raise ConfigError(DYNAMIC, "true", f"name the field that says the table by {ROUTE_FIELD}")
    if not (names or is_dynamic):
        raise ConfigError(TABLES, "", f"name the tables, or choose them by {TABLE_FORMAT} or {DYNAMIC}")
    tables = tuple(_named(TABLES, name) for name in names)
    patterns = _patterns(config, names) if field and not is_dynamic else {}
    return Routing((), tables, field, is_dynamic, patterns)


def _patterns(config: Mapping[str, str], names: list[str]) -> dict[TableName, re.Pattern[str]]:
    patterns = {}
    for name in names:
        key = f"{TABLE_PREFIX}{name}.route-regex"
        if key in config:
            try:
                patterns[table_name(name)] = re.compile(config[key])
            except re.error as error:
                raise ConfigError(key, config[key], f"it is no regular expression: {error}") from error
    if not patterns:
        text = f"set {TABLE_PREFIX}NAME.route-regex for the tables, or leave the route field out"
        raise ConfigError(ROUTE_FIELD, config[ROUTE_FIELD], text)
    return patterns


def _named(key: str, name: str) -> TableName:
    try:
        return table_name(name)
    except DataError as error:
        raise ConfigError(key, name, str(error)) from error

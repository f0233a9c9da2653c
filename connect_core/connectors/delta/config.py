"""Settings of DeltaSink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, NonEmptyString, ValidString
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.tombstones import NullValues
from connect_core.connectors.lake.changes import Upserts
from connect_core.connectors.lake.compaction import compaction_of, with_compaction
from connect_core.connectors.lake.key_columns import KeySetting
from connect_core.connectors.lake.routing import Routing, table_name
from connect_core.connectors.lake.sink_task import LakeSettings
from connect_core.connectors.lake.types import Evolution
from connect_core.errors import ConfigError, DataError

__all__ = ["CONFIG", "ID_COLUMNS", "OPTIONS_PREFIX", "PATH", "TABLE_FORMAT", "UPSERT", "Settings"]

PATH = "path"
TABLE_FORMAT = "table.name.format"
AUTO_CREATE = "auto.create"
EVOLVE = "auto.evolve"
PARTITION_COLUMNS = "partition.columns"
UPSERT = "upsert.enabled"
ID_COLUMNS = "id.columns"
CDC_FIELD = "cdc.field"
NULLS = "behavior.on.null.values"
INCLUDE_KEY = "include.key"
INCLUDE_METADATA = "include.metadata"
INCLUDE_HEADERS = "include.headers"
OPTIONS_PREFIX = "delta.storage."

CONFIG = with_compaction(
    ConfigDef()
    .define(
        PATH,
        ConfigType.STRING,
        validator=NonEmptyString(),
        importance=Importance.HIGH,
        doc="Where the tables are: a folder within file.roots (a relative path begins at the first root), or a URL "
        "that delta-rs knows. The folder _connect in it holds what is committed.",
    )
    .define(
        TABLE_FORMAT,
        ConfigType.STRING,
        "${topic}",
        validator=NonEmptyString(),
        importance=Importance.HIGH,
        doc="The table of a topic: the name of a folder in path, without slashes.",
    )
    .define(
        AUTO_CREATE,
        ConfigType.BOOLEAN,
        True,
        importance=Importance.MEDIUM,
        doc="Whether tables that are missing are created, with the columns of the records. All are optional.",
    )
    .define(
        EVOLVE,
        ConfigType.BOOLEAN,
        True,
        importance=Importance.MEDIUM,
        doc="Whether columns and nested fields that records have are added to the tables. Otherwise such fields are "
        "left out.",
    )
    .define(
        PARTITION_COLUMNS,
        ConfigType.LIST,
        "",
        importance=Importance.MEDIUM,
        doc="The columns by which tables that are created are partitioned.",
    )
    .define(
        UPSERT,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether a record replaces the row that has its key instead of being appended.",
    )
    .define(
        ID_COLUMNS,
        ConfigType.LIST,
        "",
        importance=Importance.MEDIUM,
        doc="The columns of the key by which rows are found if they are updated.",
    )
    .define(
        CDC_FIELD,
        ConfigType.STRING,
        None,
        importance=Importance.MEDIUM,
        doc="The field of the value (a.b in structs) with the operation: where it begins with D or d, the row that has "
        "the record's key is deleted; everything else replaces it. Rows are updated even without upsert.enabled.",
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
)


@dataclass(frozen=True, slots=True)
class Settings:
    """A parsed configuration."""

    path: str
    options: Mapping[str, str]
    """The options that delta-rs needs to access the path."""
    lake: LakeSettings
    creates: bool
    evolution: Evolution
    partition_columns: tuple[str, ...]
    key: KeySetting

    @classmethod
    def of(cls, config: Mapping[str, str]) -> Settings:
        """Parse a configuration. Raises ConfigError naming key, value and remedy."""
        parsed = AbstractConfig(CONFIG, config)
        template = parsed.get_string(TABLE_FORMAT) or ""
        try:
            table_name(f"tables.{template.replace('${topic}', 'topic').replace('.', '_')}")
        except DataError as error:
            raise ConfigError(TABLE_FORMAT, template, str(error)) from error
        extras = Extras(*(bool(parsed.get_boolean(key)) for key in (INCLUDE_KEY, INCLUDE_METADATA, INCLUDE_HEADERS)))
        options = {
            key.removeprefix(OPTIONS_PREFIX): value for key, value in config.items() if key.startswith(OPTIONS_PREFIX)
        }
        return cls(
            parsed.get_string(PATH) or "",
            options,
            LakeSettings(
                Routing(("tables", template)),
                extras,
                NullValues(parsed.get_string(NULLS)),
                _upserts(parsed, config),
                compaction_of(parsed),
            ),
            bool(parsed.get_boolean(AUTO_CREATE)),
            Evolution(bool(parsed.get_boolean(EVOLVE)), widens=False, takes_case=False),
            tuple(parsed.get_list(PARTITION_COLUMNS) or ()),
            KeySetting(ID_COLUMNS, tuple(parsed.get_list(ID_COLUMNS) or ())),
        )


def _upserts(parsed: AbstractConfig, config: Mapping[str, str]) -> Upserts | None:
    operation, nulls = parsed.get_string(CDC_FIELD) or "", config.get(NULLS)
    columns = ",".join(parsed.get_list(ID_COLUMNS) or ())
    if not (operation or parsed.get_boolean(UPSERT)):
        if columns:
            text = f"rows are appended, and none is found by its key: set {UPSERT}=true to update them, or leave it out"
            raise ConfigError(ID_COLUMNS, columns, text)
        return None
    if not columns:
        text = f"name the columns of the key by which {UPSERT} and {CDC_FIELD} find rows"
        raise ConfigError(ID_COLUMNS, "", text)
    if nulls == NullValues.WRITE.value:
        text = f"with {UPSERT} or {CDC_FIELD} a row of nulls has no key; leave it out to delete the record's key"
        raise ConfigError(NULLS, nulls, text)
    return Upserts(nulls is None, operation, CDC_FIELD)

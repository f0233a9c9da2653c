"""Settings of the JDBC source: the keys and meanings of Connect's JDBC source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from connect_core.api.config import (
    NO_DEFAULT,
    AbstractConfig,
    CaseInsensitiveValidString,
    ConfigDef,
    ConfigType,
    Importance,
    Range,
    ValidString,
)
from connect_core.connectors.jdbc.address import CURRENT_SCHEMA, parse_address
from connect_core.connectors.jdbc.config import ConnectionSettings, connection_settings, with_connection_keys
from connect_core.connectors.jdbc.source.query_text import refusal
from connect_core.errors import ConfigError

__all__ = [
    "INCREMENTING_COLUMN",
    "MODE",
    "QUERY",
    "SOURCE_CONFIG",
    "TABLE_EXCLUDE",
    "TABLE_INCLUDE",
    "TASK_SINCE",
    "TASK_STREAMS",
    "TIMESTAMP_COLUMNS",
    "Mode",
    "NumericMapping",
    "SourceSettings",
    "TableSelection",
    "contradictions",
    "parsed_settings",
    "source_settings",
]

MODE = "mode"
INCREMENTING_COLUMN = "incrementing.column.name"
TIMESTAMP_COLUMNS = "timestamp.column.name"
TIMESTAMP_INITIAL = "timestamp.initial"
TIMESTAMP_DELAY = "timestamp.delay.interval.ms"
LATE_WINDOW = "late.window.ms"
VALIDATE_NON_NULL = "validate.non.null"
QUERY = "query"
TABLE_INCLUDE = "table.include.list"
TABLE_EXCLUDE = "table.exclude.list"
TABLE_WHITELIST = "table.whitelist"
TABLE_BLACKLIST = "table.blacklist"
CATALOG_PATTERN = "catalog.pattern"
SCHEMA_PATTERN = "schema.pattern"
TABLE_TYPES = "table.types"
TOPIC_PREFIX = "topic.prefix"
POLL_INTERVAL = "poll.interval.ms"
BATCH_MAX_ROWS = "batch.max.rows"
NUMERIC_MAPPING = "numeric.mapping"
QUOTE_IDENTIFIERS = "quote.sql.identifiers"
TASK_STREAMS = "task.streams"
"""The streams of one task; written by ``task_configs``, never by users."""
TASK_SINCE = "task.since"
"""When the connector was started, if ``timestamp.initial`` is -1; written by ``task_configs``."""


_DELAY_SECONDS = 10.0
"""The minimum age of timestamps if nothing else shows which transactions are running."""


class Mode(Enum):
    """How new rows are found; the values are those of Connect's JDBC source."""

    BULK = "bulk"
    INCREMENTING = "incrementing"
    TIMESTAMP = "timestamp"
    TIMESTAMP_INCREMENTING = "timestamp+incrementing"

    @property
    def has_timestamp(self) -> bool:
        """Whether rows are found by a timestamp column."""
        return self in (Mode.TIMESTAMP, Mode.TIMESTAMP_INCREMENTING)

    @property
    def has_incrementing(self) -> bool:
        """Whether rows are found by an incrementing column."""
        return self in (Mode.INCREMENTING, Mode.TIMESTAMP_INCREMENTING)


class NumericMapping(Enum):
    """The mapping of NUMERIC columns. Connect's JDBC source: ``NumericMapping``."""

    NONE = "none"
    PRECISION_ONLY = "precision_only"
    BEST_FIT = "best_fit"
    BEST_FIT_EAGER_DOUBLE = "best_fit_eager_double"


@dataclass(frozen=True, slots=True)
class TableSelection:
    """Which tables are read: lists of names or regular expressions, patterns with % and _."""

    include: tuple[str, ...]
    exclude: tuple[str, ...]
    catalog_pattern: str | None
    schema_pattern: str | None
    current_schema: str | None
    types: frozenset[str]


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """The parsed configuration of a JDBC source; times in seconds, only ``timestamp_initial`` in milliseconds."""

    connection: ConnectionSettings
    mode: Mode
    incrementing_column: str
    timestamp_columns: tuple[str, ...]
    timestamp_initial: int | None
    delay: float
    late_window: float
    validate_non_null: bool
    query: str
    selection: TableSelection
    topic_prefix: str
    poll_interval: float
    batch_rows: int
    numeric_mapping: NumericMapping
    is_quoting: bool

    def delay_of(self, has_xmin: bool) -> float:
        """Return the minimum age of timestamps in a stream, which depends on whether its rows have a transaction id."""
        if self.delay >= 0:
            return self.delay
        return 0.0 if has_xmin else _DELAY_SECONDS


def source_settings(config: Mapping[str, Any]) -> SourceSettings:
    """Return the settings of a configuration. Raises ConfigError, also if they contradict each other."""
    settings = parsed_settings(config)
    for _, error in contradictions(settings):
        raise error
    return settings


def parsed_settings(config: Mapping[str, Any]) -> SourceSettings:
    """Return the settings of a configuration, each valid by itself. Raises ConfigError."""
    parsed = AbstractConfig(SOURCE_CONFIG, config)
    return SourceSettings(
        connection=connection_settings(parsed),
        mode=Mode(parsed.get_string(MODE)),
        incrementing_column=parsed.get_string(INCREMENTING_COLUMN) or "",
        timestamp_columns=_names(parsed, TIMESTAMP_COLUMNS),
        timestamp_initial=parsed.get_long(TIMESTAMP_INITIAL),
        delay=(parsed.get_long(TIMESTAMP_DELAY) or 0) / 1000,
        late_window=(parsed.get_long(LATE_WINDOW) or 0) / 1000,
        validate_non_null=bool(parsed.get_boolean(VALIDATE_NON_NULL)),
        query=(parsed.get_string(QUERY) or "").strip(),
        selection=_selection(parsed),
        topic_prefix=parsed.get_string(TOPIC_PREFIX) or "",
        poll_interval=(parsed.get_int(POLL_INTERVAL) or 0) / 1000,
        batch_rows=parsed.get_int(BATCH_MAX_ROWS) or 1,
        numeric_mapping=NumericMapping((parsed.get_string(NUMERIC_MAPPING) or "none").lower()),
        is_quoting=(parsed.get_string(QUOTE_IDENTIFIERS) or "").lower() != "never",
    )


def _selection(parsed: AbstractConfig) -> TableSelection:
    return TableSelection(
        include=_either(parsed, TABLE_INCLUDE, TABLE_WHITELIST),
        exclude=_either(parsed, TABLE_EXCLUDE, TABLE_BLACKLIST),
        catalog_pattern=parsed.get_string(CATALOG_PATTERN),
        schema_pattern=parsed.get_string(SCHEMA_PATTERN),
        current_schema=parse_address(parsed.get_string("connection.url") or "").parameters.get(CURRENT_SCHEMA),
        types=frozenset(one.strip().upper() for one in parsed.get_list(TABLE_TYPES) or ()),
    )


def _names(parsed: AbstractConfig, key: str) -> tuple[str, ...]:
    return tuple(name for name in parsed.get_list(key) or () if name)


def _either(parsed: AbstractConfig, key: str, old: str) -> tuple[str, ...]:
    """Return a list set under its name or its old one. Raises ConfigError if both are set."""
    names, old_names = _names(parsed, key), _names(parsed, old)
    if names and old_names:
        raise ConfigError(
            old, ",".join(old_names), f"it is the old name of {key}, which is also set; keep only that one"
        )
    return names or old_names


def contradictions(settings: SourceSettings) -> Iterator[tuple[str, ConfigError]]:
    """Yield the errors between settings that are each valid by themselves, by key."""
    mode, selection = settings.mode, settings.selection
    if mode.has_timestamp and not settings.timestamp_columns:
        yield _wrong(TIMESTAMP_COLUMNS, "", f"mode {mode.value} finds rows by it; give the column")
    initial = settings.timestamp_initial
    if initial is not None and not _FIRST_MILLIS <= initial <= _LAST_MILLIS:
        yield _wrong(TIMESTAMP_INITIAL, str(initial), "it is not within the years 1 to 9999; give milliseconds")
    if settings.query and mode.has_incrementing and not settings.incrementing_column:
        yield _wrong(INCREMENTING_COLUMN, "", "with a query the column cannot be detected; give it")
    if settings.query and (selection.include or selection.exclude):
        yield _wrong(
            QUERY, settings.query, f"a query does not read whole tables; remove {TABLE_INCLUDE} and similar settings"
        )
    if selection.include and selection.exclude:
        yield _wrong(TABLE_EXCLUDE, ",".join(selection.exclude), f"set either it or {TABLE_INCLUDE}")
    if settings.query:
        reason = refusal(settings.query, parse_address(settings.connection.url).dialect)
        if reason is not None:
            yield _wrong(QUERY, settings.query, reason)


_FIRST_MILLIS, _LAST_MILLIS = -62_135_510_400_000, 253_402_214_400_000
"""The second day of year 1 and the last of year 9999: each has a wall clock time in every zone."""


def _wrong(key: str, value: str, reason: str) -> tuple[str, ConfigError]:
    return key, ConfigError(key, value, reason)


_CONNECTOR, _MODE, _TABLES = "Connector", "Mode", "Tables"


def _definition() -> ConfigDef:
    definition = with_connection_keys(ConfigDef())
    for group, keys in ((_MODE, _MODE_KEYS), (_TABLES, _TABLE_KEYS), (_CONNECTOR, _CONNECTOR_KEYS)):
        for name, type, default, importance, doc, *rest in keys:
            validator = rest[0] if rest else None
            definition.define(name, type, default, importance=importance, doc=doc, validator=validator, group=group)
    definition.define(
        TOPIC_PREFIX,
        ConfigType.STRING,
        importance=Importance.HIGH,
        group=_CONNECTOR,
        doc="Prefix of the topic, before the table's name; with `query`, the whole topic name.",
    )
    for name in (TASK_STREAMS, TASK_SINCE):
        definition.define(name, ConfigType.STRING, "", importance=Importance.LOW, internal=True, doc="A task's share.")
    return definition


_MODE_KEYS: Sequence[tuple[Any, ...]] = (
    (
        MODE,
        ConfigType.STRING,
        NO_DEFAULT,
        Importance.HIGH,
        "bulk: all rows, repeatedly; incrementing: new rows, by a column that only grows; "
        "timestamp: new and changed rows, by a column that every write sets; timestamp+incrementing: by both.",
        ValidString.one_of(*(mode.value for mode in Mode)),
    ),
    (
        INCREMENTING_COLUMN,
        ConfigType.STRING,
        "",
        Importance.MEDIUM,
        "The column that only grows; by default, the single column that the database itself numbers.",
    ),
    (
        TIMESTAMP_COLUMNS,
        ConfigType.LIST,
        "",
        Importance.MEDIUM,
        "The column set by every write; of several, the first that is not null is used.",
    ),
    (
        TIMESTAMP_INITIAL,
        ConfigType.LONG,
        None,
        Importance.LOW,
        "Where the first interval begins, in milliseconds since 1970; -1: with rows written from now on.",
    ),
    (
        TIMESTAMP_DELAY,
        ConfigType.LONG,
        -1,
        Importance.HIGH,
        "How old a row's timestamp must be before it is read: time for transactions with earlier or equal timestamps "
        "to commit. -1: 0 for tables of PostgreSQL, which need none, and 10000 for all else, where 0 loses rows that "
        "commit late or change again within a timestamp already read.",
        Range.at_least(-1),
    ),
    (
        LATE_WINDOW,
        ConfigType.LONG,
        60_000,
        Importance.LOW,
        "Mode incrementing, elsewhere than on PostgreSQL: how long a number that was left out is looked for again, "
        "as its transaction may still commit; after it, and after any outage, once more.",
        Range.at_least(0),
    ),
    (
        VALIDATE_NON_NULL,
        ConfigType.BOOLEAN,
        True,
        Importance.LOW,
        "Whether the mode's columns must be NOT NULL; rows with nulls there are never found.",
    ),
    (
        QUERY,
        ConfigType.STRING,
        "",
        Importance.MEDIUM,
        "One SELECT to read instead of tables; the mode's conditions are put around it.",
    ),
)
_TABLE_KEYS: Sequence[tuple[Any, ...]] = (
    (
        TABLE_INCLUDE,
        ConfigType.LIST,
        "",
        Importance.MEDIUM,
        "The tables to read, by name, by schema.name, or by a regular expression for either; by default all.",
    ),
    (TABLE_EXCLUDE, ConfigType.LIST, "", Importance.MEDIUM, "The tables to exclude; in the same form."),
    (TABLE_WHITELIST, ConfigType.LIST, "", Importance.LOW, "The old name of `table.include.list`."),
    (TABLE_BLACKLIST, ConfigType.LIST, "", Importance.LOW, "The old name of `table.exclude.list`."),
    (
        CATALOG_PATTERN,
        ConfigType.STRING,
        None,
        Importance.MEDIUM,
        "The catalogs whose tables are read, as a pattern with % and _: for MySQL, databases; by default, the "
        "connected one.",
    ),
    (
        SCHEMA_PATTERN,
        ConfigType.STRING,
        None,
        Importance.HIGH,
        "The schemas whose tables are read, with % and _; without it, all but the system's, "
        "or the URL's currentSchema.",
    ),
    (TABLE_TYPES, ConfigType.LIST, "TABLE", Importance.LOW, "TABLE, VIEW, or both."),
)
_CONNECTOR_KEYS: Sequence[tuple[Any, ...]] = (
    (
        POLL_INTERVAL,
        ConfigType.INT,
        5000,
        Importance.HIGH,
        "How often the database is polled for new rows and tables; in mode bulk, the time between two reads.",
        Range.at_least(0),
    ),
    (
        BATCH_MAX_ROWS,
        ConfigType.INT,
        100,
        Importance.LOW,
        "Maximum number of rows in one poll when records are processed one by one; columns have up to 20,000 rows.",
        Range.at_least(1),
    ),
    (
        NUMERIC_MAPPING,
        ConfigType.STRING,
        "none",
        Importance.LOW,
        "NUMERIC as Decimal (none), as integers by precision where the scale is 0 (precision_only), as integers "
        "or FLOAT64 where at most 18 digits (best_fit), or FLOAT64 for any scale above 0 (best_fit_eager_double).",
        CaseInsensitiveValidString.one_of(*(mapping.value for mapping in NumericMapping)),
    ),
    (
        QUOTE_IDENTIFIERS,
        ConfigType.STRING,
        "always",
        Importance.MEDIUM,
        "Whether names in statements are quoted; never: the database folds their case.",
        CaseInsensitiveValidString.one_of("always", "never"),
    ),
)
SOURCE_CONFIG = _definition()

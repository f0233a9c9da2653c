"""Settings that the JDBC source and sink share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, LambdaValidator, Range
from connect_core.connectors.jdbc.address import CONNECTION_URL, parse_address
from connect_core.errors import ConfigError

__all__ = [
    "CONNECTION_ATTEMPTS",
    "CONNECTION_BACKOFF",
    "CONNECTION_PASSWORD",
    "CONNECTION_TIMEOUT",
    "CONNECTION_URL",
    "CONNECTION_USER",
    "DB_TIMEZONE",
    "STATEMENT_TIMEOUT",
    "ConnectionSettings",
    "connection_settings",
    "with_connection_keys",
]

CONNECTION_USER = "connection.user"
CONNECTION_PASSWORD = "connection.password"
CONNECTION_ATTEMPTS = "connection.attempts"
CONNECTION_BACKOFF = "connection.backoff.ms"
CONNECTION_TIMEOUT = "connection.timeout.ms"
STATEMENT_TIMEOUT = "statement.timeout.ms"
DB_TIMEZONE = "db.timezone"


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """How to connect to a database; times in seconds. ``password`` is never shown."""

    url: str
    user: str | None
    password: str | None
    attempts: int
    backoff: float
    connect_timeout: float
    statement_timeout: float
    timezone: ZoneInfo

    def __repr__(self) -> str:
        return f"ConnectionSettings(user={self.user!r})"


def connection_settings(config: AbstractConfig) -> ConnectionSettings:
    """Return the connection settings of a parsed configuration that has the shared keys."""
    password = config.get_password(CONNECTION_PASSWORD)
    return ConnectionSettings(
        url=config.get_string(CONNECTION_URL) or "",
        user=config.get_string(CONNECTION_USER),
        password=None if password is None else password.value,
        attempts=config.get_int(CONNECTION_ATTEMPTS) or 1,
        backoff=(config.get_long(CONNECTION_BACKOFF) or 0) / 1000,
        connect_timeout=(config.get_long(CONNECTION_TIMEOUT) or 0) / 1000,
        statement_timeout=(config.get_long(STATEMENT_TIMEOUT) or 0) / 1000,
        timezone=ZoneInfo(config.get_string(DB_TIMEZONE) or "UTC"),
    )


def with_connection_keys(definition: ConfigDef) -> ConfigDef:
    """Add the shared settings to a definition and return it."""
    group = "Connection"
    definition.define(
        CONNECTION_URL,
        ConfigType.STRING,
        validator=LambdaValidator(_check_url, lambda: "jdbc:dialect://host:port/database"),
        importance=Importance.HIGH,
        group=group,
        doc="The database: jdbc:postgresql://host:5432/database, or the equivalent SQLAlchemy URL; "
        "jdbc:sqlite:path for a file within file.roots. Credentials have their own settings.",
    )
    definition.define(
        CONNECTION_USER, ConfigType.STRING, None, importance=Importance.HIGH, group=group, doc="The database user."
    )
    definition.define(
        CONNECTION_PASSWORD, ConfigType.PASSWORD, None, importance=Importance.HIGH, group=group, doc="Its password."
    )
    numbers: tuple[tuple[str, ConfigType, int, int, str], ...] = (
        (CONNECTION_ATTEMPTS, ConfigType.INT, 3, 1, "Number of attempts to connect before the task fails."),
        (CONNECTION_BACKOFF, ConfigType.LONG, 1000, 0, "How long to wait after the first attempt; doubled each time."),
        (CONNECTION_TIMEOUT, ConfigType.LONG, 10_000, 1, "How long one attempt to connect may take."),
        (STATEMENT_TIMEOUT, ConfigType.LONG, 300_000, 0, "How long one statement may run; 0: no limit."),
    )
    for name, type, default, least, doc in numbers:
        definition.define(
            name, type, default, validator=Range.at_least(least), importance=Importance.LOW, group=group, doc=doc
        )
    return definition.define(
        DB_TIMEZONE,
        ConfigType.STRING,
        "UTC",
        validator=LambdaValidator(_check_timezone, lambda: "a time zone's name, such as Europe/Berlin"),
        importance=Importance.MEDIUM,
        group=group,
        doc="The time zone of columns that have none.",
    )


def _check_url(name: str, value: Any) -> None:
    if value is None:
        raise ConfigError(name, None, "write jdbc:postgresql://host:5432/database")
    parse_address(value)


def _check_timezone(name: str, value: Any) -> None:
    try:
        ZoneInfo(value or "")
    except (ValueError, KeyError, OSError) as error:
        raise ConfigError(name, value, "it is not a time zone; write a name such as UTC or Europe/Berlin") from error

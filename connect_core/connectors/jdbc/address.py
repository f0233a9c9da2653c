"""``connection.url``: Connect's JDBC form and SQLAlchemy's, checked against the allowed values.

A URL is the one setting that could make a driver read files or load code, so only listed values are accepted. Which
dialects and which further parameters a worker allows is its administrator's choice: ``limits.jdbc.dialects`` and
``limits.jdbc.parameters`` of the worker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote

from sqlalchemy import URL

from connect_core.api.allowed_host import ensure_allowed_host
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.allowed_file import allowed_path
from connect_core.errors import ConfigError

__all__ = ["ALLOWED_DIALECTS", "CONNECTION_URL", "CURRENT_SCHEMA", "DatabaseAddress", "database_url", "parse_address"]

CONNECTION_URL = "connection.url"
CURRENT_SCHEMA = "currentSchema"
"""The parameter of PostgreSQL's Java driver for the schema of names without one."""
ALLOWED_DIALECTS = ("postgresql", "mysql", "mariadb", "sqlite")
"""The dialects that a worker allows if it does not set ``limits.jdbc.dialects``."""

_FORM = re.compile(
    r"(?P<jdbc>jdbc:)?(?P<dialect>[a-z][a-z0-9_]*)(?:\+(?P<driver>[a-z0-9_]+))?:(?P<rest>[^\0\r\n]*)", re.IGNORECASE
)
_PLACE = re.compile(
    r"//(?:(?P<login>[^@/?]*)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]*)(?::(?P<port>\d{1,5}))?(?:/(?P<database>.*))?"
)
_FILES = frozenset({"duckdb", "sqlite"})
"""Dialects whose databases are files, even if a URL names a host."""
_DRIVERS = {"postgresql": "psycopg", "mysql": "pymysql", "mariadb": "pymysql", "sqlite": "pysqlite"}
_SYNONYMS = {"postgres": "postgresql"}

_HARMLESS: dict[str, frozenset[str]] = {
    "postgresql": frozenset({"application_name", CURRENT_SCHEMA, "sslmode", "target_session_attrs"}),
    "mysql": frozenset({"charset"}),
    "mariadb": frozenset({"charset"}),
}
"""Parameters that can neither name a file nor load code."""

_JDBC_NAMES = {
    "ApplicationName": "application_name",
    "sslMode": "sslmode",
    "targetServerType": "target_session_attrs",
}
_WITHOUT_MEANING = frozenset(
    {
        "allowPublicKeyRetrieval",
        "cachePrepStmts",
        "characterEncoding",
        "connectTimeout",
        "connectionTimeZone",
        "defaultRowFetchSize",
        "prepareThreshold",
        "reWriteBatchedInserts",
        "rewriteBatchedStatements",
        "serverTimezone",
        "socketTimeout",
        "stringtype",
        "tcpKeepAlive",
        "useCursorFetch",
        "useServerPrepStmts",
        "useUnicode",
        "zeroDateTimeBehavior",
    }
)
"""Parameters of Java's drivers that tune what these drivers do anyway, or that have settings of ours."""

_NO_LOGIN = "credentials do not belong there; use connection.user and connection.password"


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """A parsed URL, without credentials. ``host`` is empty if the database is a file."""

    dialect: str
    driver: str | None
    host: str
    port: int | None
    database: str
    parameters: Mapping[str, str]

    @property
    def is_file(self) -> bool:
        """Whether the database is a file, not a server."""
        return not self.host or self.dialect in _FILES


def parse_address(value: str) -> DatabaseAddress:
    """Parse ``jdbc:dialect://host:port/database?name=value`` or SQLAlchemy's form of it.

    Raises ConfigError; its message contains no login.
    """
    form = _FORM.fullmatch(value.strip())
    if form is None:
        raise _refused(value, "it is neither of the form jdbc:postgresql://host:5432/database nor postgresql://…")
    dialect = form["dialect"].lower()
    dialect = _SYNONYMS.get(dialect, dialect)
    rest, _, query = form["rest"].partition("?")
    parameters = _parameters(value, dialect, query)
    driver = form["driver"] or _DRIVERS.get(dialect)
    if dialect in _DRIVERS and driver != _DRIVERS[dialect]:
        raise _refused(value, f"the driver {driver} is not used for {dialect}; leave it out")
    place = _PLACE.fullmatch(rest)
    if place is None and rest.startswith("//"):
        if "@" in rest:
            raise _refused(value, _NO_LOGIN)
        raise _refused(value, "host, port and database cannot be distinguished; write //host:port/database")
    if place is None:
        return DatabaseAddress(dialect, driver, "", None, unquote(rest), parameters)
    is_named = dialect not in _FILES and "@" in (place["database"] or "")
    if place["login"] or is_named or any("@" in name for name in parameters):
        # The rest of a password with a slash or a question mark looks like a database or a parameter.
        raise _refused(value, f"{_NO_LOGIN}; an @ in a database's name is written %40")
    port = int(place["port"]) if place["port"] else None
    return DatabaseAddress(dialect, driver, place["host"], port, unquote(place["database"] or ""), parameters)


def database_url(value: str, login: tuple[str | None, str | None], limits: WorkerLimits) -> URL:
    """Return the SQLAlchemy URL of a ``connection.url`` for one user and password.

    Raises ConfigError for what this worker does not allow: another dialect or parameter, a database file outside
    ``file.roots``, a host that may not be called.
    """
    address = parse_address(value)
    _check_allowed(value, address, limits)
    user, password = login
    database = address.database
    if address.is_file:
        database = _checked_file(value, address, limits)
        user = password = None
    else:
        ensure_allowed_host(CONNECTION_URL, address.host, limits)
    return URL.create(
        f"{address.dialect}+{address.driver}" if address.driver else address.dialect,
        username=user,
        password=password,
        host=address.host.strip("[]") or None,
        port=address.port,
        database=database or None,
        query={name: text for name, text in address.parameters.items() if name != CURRENT_SCHEMA},
    )


def _check_allowed(value: str, address: DatabaseAddress, limits: WorkerLimits) -> None:
    allowed = _listed(limits, "jdbc.dialects") or ALLOWED_DIALECTS
    if address.dialect not in allowed:
        raise _refused(
            value,
            f"this worker allows the dialects {', '.join(allowed)}; an administrator can add {address.dialect} to "
            "limits.jdbc.dialects",
        )
    known = {*_HARMLESS.get(address.dialect, ()), *_listed(limits, "jdbc.parameters")}
    unknown = sorted(set(address.parameters) - known)
    if unknown:
        raise _refused(
            value,
            f"the parameter {unknown[0]} is not allowed for {address.dialect}; remove it, or let an administrator "
            "add it to limits.jdbc.parameters",
        )


def _checked_file(value: str, address: DatabaseAddress, limits: WorkerLimits) -> str:
    if address.dialect in _HARMLESS:
        raise _refused(value, f"it does not contain a server; write jdbc:{address.dialect}://host:port/database")
    if address.host:
        raise _refused(value, f"its database is a file and has no host; write jdbc:{address.dialect}:path")
    if address.database in ("", ":memory:") or address.database.startswith("file:"):
        raise _refused(value, f"it does not contain a file; write jdbc:{address.dialect}:path")
    return str(allowed_path(CONNECTION_URL, address.database, limits))


def _parameters(value: str, dialect: str, query: str) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    if any(name.lower() in ("user", "username", "password", "passwd") for name, _ in pairs):
        raise _refused(value, _NO_LOGIN)
    named = {_JDBC_NAMES.get(name, name): text for name, text in pairs if name not in _WITHOUT_MEANING}
    if dialect == "postgresql" and named.pop("ssl", "false") == "true":
        named.setdefault("sslmode", "require")
    return named


def _listed(limits: WorkerLimits, name: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in limits.values.get(name, "").split(",") if part.strip())


def _refused(value: str, reason: str) -> ConfigError:
    return ConfigError(CONNECTION_URL, _shown(value), reason)


def _shown(value: str) -> str:
    """Return a URL without a possible login and without the values of parameters.

    A password may contain any character, so all up to the last ``@`` may belong to it. An ``@`` after the first
    parameter may be part of a value: then nothing after the dialect is shown.
    """
    before, at, after = value.rpartition("@")
    if not at:
        return _without_values(value)
    dialect = _DIALECT.match(before)
    start = dialect[0] if dialect else ""
    return f"{start}…" if "=" in before[len(start) :] else f"{start}…@{_without_values(after)}"


def _without_values(text: str) -> str:
    name, equals, _ = text.partition("=")
    return f"{name}=…" if equals else text


_DIALECT = re.compile(r"\s*(?:jdbc:)?[A-Za-z][A-Za-z0-9_+]*:(?://)?")

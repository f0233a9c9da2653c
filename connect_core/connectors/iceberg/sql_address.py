"""The address of an SQL catalog: one host, accessed as configured, independently of the environment."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from connect_core.api.allowed_host import allowed_addresses
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.allowed_file import allowed_path
from connect_core.connectors.libpq_environment import instead_of_environment
from connect_core.errors import ConfigError

__all__ = ["engine_url", "sql_address"]

_KEY = "iceberg.catalog.uri"
_DRIVERS = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql", "mariadb": "mysql+pymysql"}
_SCHEMES = (*dict.fromkeys(_DRIVERS.values()), "sqlite")
_PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "postgresql+psycopg": {
        "application_name": "",
        "channel_binding": "",
        "connect_timeout": "10",
        "gssencmode": "",
        "keepalives_count": "3",
        "keepalives_idle": "30",
        "keepalives_interval": "10",
        "sslmode": "",
        "target_session_attrs": "",
        "tcp_user_timeout": "60000",
    },
    "mysql+pymysql": {"charset": "", "connect_timeout": "10", "read_timeout": "60", "write_timeout": "60"},
}
"""The parameters that an address may have, with their defaults. Others name files, or another host."""


def sql_address(given: str, user: str, password: str, limits: WorkerLimits) -> str:
    """Return SQLAlchemy's address of a catalog, from SQLAlchemy's or JDBC's form.

    Raises ConfigError for one that the worker does not allow; the address is not shown, as it may contain a password.
    """
    scheme, _, rest = given.removeprefix("jdbc:").partition(":")
    scheme = _DRIVERS.get(scheme, scheme)
    if scheme not in _SCHEMES:
        raise _refused(f"the address of a catalog begins with {', '.join(_SCHEMES)}")
    if scheme == "sqlite":
        return f"sqlite:///{allowed_path(_KEY, rest.removeprefix('///').partition('?')[0], limits)}"
    try:
        url = make_url(f"{scheme}:{rest}")
    except (ArgumentError, ValueError):
        raise _refused("it is no address of a database; write postgresql://host:port/database") from None
    if not url.host or "," in url.host:
        raise _refused("it names no host, or several; write postgresql://host:port/database")
    unknown = sorted(set(url.query) - set(_PARAMETERS[scheme]))
    if unknown:
        known = ", ".join(_PARAMETERS[scheme])
        raise _refused(f"{unknown[0]} is not taken as a parameter of the address; there are: {known}")
    allowed_addresses(_KEY, url.host, limits)
    named = url.set(username=user or url.username, password=password or url.password)
    return named.render_as_string(hide_password=False)


def engine_url(address: str, limits: WorkerLimits) -> URL:
    """Return the URL to connect to: with time limits, and a value for all that the worker's environment could set."""
    url = make_url(address)
    defaults = {name: value for name, value in _PARAMETERS.get(url.drivername, {}).items() if value}
    missing = {name: value for name, value in defaults.items() if name not in url.query}
    if url.drivername == "postgresql+psycopg":
        parts = {"user": url.username, "password": url.password, "dbname": url.database, "port": url.port}
        missing |= instead_of_environment({*url.query, *missing, *(name for name, part in parts.items() if part)})
        addresses = allowed_addresses(_KEY, str(url.host), limits)
        if addresses:
            # Not resolved again: the name may have another address by then. TLS checks the name.
            missing["hostaddr"] = addresses[0]
    return url.update_query_dict(missing)


def _refused(text: str) -> ConfigError:
    return ConfigError(_KEY, "(not shown)", text)

"""libpq's parameters: where and as whom a connector connects is never taken from the worker's environment."""

from __future__ import annotations

import os
from collections.abc import Sequence

from psycopg import pq

from connect_core.connectors.jdbc.address import parse_address
from connect_core.connectors.jdbc.config import ConnectionSettings

__all__ = ["at_addresses", "not_the_workers"]

_CERTIFICATE = frozenset({"sslcert", "sslkey", "sslcertmode"})
_INSTEAD = {
    "user": "",
    "password": "",
    "passfile": os.devnull,
    "dbname": "",
    "port": "5432",
    "application_name": "",
    "client_encoding": "",
    "requirepeer": "",
    "sslcert": "",
    "sslkey": "",
    "sslcertmode": "disable",
    "target_session_attrs": "any",
    "load_balance_hosts": "disable",
}
"""What stands for a parameter nobody gave: libpq asks ``PGPASSWORD`` and its like, ``PGSERVICE``'s file and the home
folder for what is absent, not for what is empty. How strictly TLS is checked (``PGSSLMODE``, ``PGSSLROOTCERT``) stays
an administrator's choice."""
_KNOWN = frozenset(one.keyword.decode() for one in pq.Conninfo.get_defaults())
"""Parameters of the libpq that is installed."""


def not_the_workers(settings: ConnectionSettings) -> dict[str, str]:
    """Return a value for each parameter that a connector leaves open and the worker's environment could fill."""
    address = parse_address(settings.url)
    given = {
        *address.parameters,
        *(["user"] if settings.user else []),
        *(["password"] if settings.password else []),
        *(["dbname"] if address.database else []),
        *(["port"] if address.port else []),
    }
    if given & _CERTIFICATE:
        given |= _CERTIFICATE
    return {name: text for name, text in _INSTEAD.items() if name in _KNOWN and name not in given}


def at_addresses(host: str, addresses: Sequence[str]) -> dict[str, str]:
    """Return the parameters that connect to the first of these addresses that answers; TLS checks the host's name."""
    return {"host": ",".join([host] * len(addresses)), "hostaddr": ",".join(addresses)}

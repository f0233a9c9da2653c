"""libpq's parameters: where and as whom a connector connects is never taken from the worker's environment."""

from __future__ import annotations

import os
from collections.abc import Collection

__all__ = ["instead_of_environment"]

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


def instead_of_environment(given: Collection[str]) -> dict[str, str]:
    """Return a value for each parameter that a connector does not give and the worker's environment could fill."""
    from psycopg import pq

    # Only what the libpq that is installed knows.
    known = {one.keyword.decode() for one in pq.Conninfo.get_defaults()}
    taken = {*given, *(_CERTIFICATE if not _CERTIFICATE.isdisjoint(given) else ())}
    return {name: text for name, text in _INSTEAD.items() if name in known and name not in taken}

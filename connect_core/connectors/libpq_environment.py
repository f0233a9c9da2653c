"""libpq's parameters: a connector's server and login are never taken from the worker's environment."""

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
"""The value of a parameter that is not given: libpq reads ``PGPASSWORD`` and the like, the file of ``PGSERVICE`` and
the home folder for absent parameters, not for empty ones. How strictly TLS is checked (``PGSSLMODE``,
``PGSSLROOTCERT``) remains an administrator's choice.
"""


def instead_of_environment(given: Collection[str]) -> dict[str, str]:
    """Return a value for each parameter that a connector does not give and the worker's environment could set."""
    from psycopg import pq

    # Only parameters that the installed libpq has.
    known = {one.keyword.decode() for one in pq.Conninfo.get_defaults()}
    taken = {*given, *(_CERTIFICATE if not _CERTIFICATE.isdisjoint(given) else ())}
    return {name: text for name, text in _INSTEAD.items() if name in known and name not in taken}

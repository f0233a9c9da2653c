"""Addresses that name one host to every client: what a check reads is what is called."""

from __future__ import annotations

import re

from connect_core.api.allowed_host import ensure_allowed_host
from connect_core.api.connector import WorkerLimits
from connect_core.errors import ConfigError

__all__ = ["ensure_allowed_url", "host_of_url"]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?([/?][!-\[\]-~]*)?\Z")


def ensure_allowed_url(key: str, url: str, limits: WorkerLimits) -> str:
    """Return the host of an address. Raises ConfigError for one that is not plain, or may not be called."""
    host = host_of_url(key, url)
    ensure_allowed_host(key, host, limits)
    return host


def host_of_url(key: str, url: str) -> str:
    r"""Return the host of an address. Raises ConfigError, without the address, unless all clients read it alike.

    They differ about a backslash (``http://one\@other``), blanks before it, and signs of a host that are escaped.
    """
    found = _URL.match(url)
    if found is None:
        text = (
            "it is no plain address; write one such as http://host:9000, without user, blanks, \\, # or %-signs in it"
        )
        raise ConfigError(key, "(not shown)", text)
    return found[1].strip("[]")

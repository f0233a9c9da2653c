"""The ``Host`` of a request, parsed strictly by RFC 9110 §7.2: lenient parsing can be exploited."""

from __future__ import annotations

import re
from ipaddress import IPv6Address

from starlette.types import Scope

__all__ = ["BadHost", "host_of"]

_FORM = re.compile(rb"(?P<host>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.-]{1,253})(:(?P<port>[0-9]{1,5}))?")


class BadHost(ValueError):
    """Raised for a request that does not name exactly one host, as HOST or HOST:PORT."""


def host_of(scope: Scope) -> str:
    """Return the host without its port, in lower case; empty for HTTP/1.0 without the header. Raise BadHost."""
    given = [value for name, value in scope["headers"] if name.lower() == b"host"]
    if not given and scope.get("http_version") == "1.0":
        return ""
    match = _FORM.fullmatch(given[0]) if len(given) == 1 else None
    if match is None or int(match["port"] or 0) > 65535:
        raise BadHost
    host = match["host"].decode().lower()
    if host.startswith("["):
        try:
            return str(IPv6Address(host[1:-1]))
        except ValueError:
            raise BadHost from None
    return host

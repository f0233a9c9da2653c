"""Addresses a worker's REST API listens on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from connect_core.errors import ConfigError

__all__ = ["Listener", "parse_listener"]

_ADDRESS = re.compile(r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.%]+\]|[^\s:/\[\]]*):(?P<port>\d{1,5})", re.IGNORECASE)
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Listener:
    """One address: ``http`` or ``https``, host and port."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def parse_listener(name: str, address: str) -> Listener:
    """Return the listener for an address in the setting ``name``. Raise ConfigError.

    An empty host is the loopback interface: a public one must be named.
    """
    match = _ADDRESS.fullmatch(address.strip())
    if match is None or int(match["port"]) > 65535:
        raise ConfigError(name, address, "Write protocol, host and port, such as http://127.0.0.1:8083")
    return Listener(match["scheme"].lower(), match["host"].strip("[]") or _LOOPBACK, int(match["port"]))

"""libpq's parameters that a connector does not set, and the addresses it connects to."""

from __future__ import annotations

from collections.abc import Sequence

from connect_core.connectors.jdbc.address import parse_address
from connect_core.connectors.jdbc.config import ConnectionSettings
from connect_core.connectors.libpq_environment import instead_of_environment

__all__ = ["at_addresses", "not_the_workers"]


def not_the_workers(settings: ConnectionSettings) -> dict[str, str]:
    """Return a value for each parameter that a connector does not set and the worker's environment could set."""
    address = parse_address(settings.url)
    given = {
        *address.parameters,
        *(["user"] if settings.user else []),
        *(["password"] if settings.password else []),
        *(["dbname"] if address.database else []),
        *(["port"] if address.port else []),
    }
    return instead_of_environment(given)


def at_addresses(host: str, addresses: Sequence[str]) -> dict[str, str]:
    """Return the parameters that connect to the first address that responds; TLS checks the host's name."""
    return {"host": ",".join([host] * len(addresses)), "hostaddr": ",".join(addresses)}

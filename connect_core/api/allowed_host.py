"""Hosts a connector may call: the worker's ``limits.hosts.allowed``; by default no cloud's metadata service."""

from __future__ import annotations

import re
import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from connect_core.api.connector import WorkerLimits
from connect_core.errors import ConfigError

__all__ = ["allowed_addresses", "ensure_allowed_host"]

_ALLOWED = "hosts.allowed"
_METADATA = frozenset(map(ip_address, ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254")))
"""Addresses, other than link-local ones, at which clouds give a machine its credentials."""
_MISREAD = re.compile(r"[\x00- #/?@\\]|%[0-9a-f]{2}")
"""Signs that clients read in several ways, as ``%2e`` for a point."""
_NAT64 = IPv6Network("64:ff9b::/96")

Address = IPv4Address | IPv6Address


def ensure_allowed_host(key: str, host: str, limits: WorkerLimits) -> None:
    """Raise ConfigError unless a connector may call this host.

    With ``limits.hosts.allowed`` (names, ``*.`` names, addresses, networks; separated by
    commas) only hosts in this list. Without it, every host but link-local, metadata, multicast and
    unspecified addresses, which only an address or network in the list allows. A name that
    resolves to several addresses needs all of them allowed; one that does not resolve
    fails when it is called.
    """
    allowed_addresses(key, host, limits)


def allowed_addresses(key: str, host: str, limits: WorkerLimits) -> list[str]:
    """Return a host's addresses in the system's order; none if its name does not resolve.

    Connect to these and do not resolve the name again: it may resolve to
    another address by then (DNS rebinding). Raises as ``ensure_allowed_host`` does.
    """
    listed = [part.strip().lower() for part in limits.values.get(_ALLOWED, "").split(",") if part.strip()]
    name = host.strip("[]").rstrip(".").lower()
    if _MISREAD.search(name):
        raise ConfigError(key, host, "a host's name has no such signs in it; write it plainly")
    found = _resolved(name)
    is_named = any(_is_name(name, pattern) for pattern in listed)
    for address in map(_plain, found):
        if any(_is_within(address, part) for part in listed):
            continue
        if _is_never(address):
            remedy = f"name another host, or ask an administrator to add {address} to limits.{_ALLOWED}"
            raise ConfigError(key, host, f"{address} is a link-local, metadata or multicast address: {remedy}")
        if listed and not is_named:
            raise _unlisted(key, host, listed)
    if listed and not found and not is_named:
        raise _unlisted(key, host, listed)
    return found


def _unlisted(key: str, host: str, listed: list[str]) -> ConfigError:
    remedy = f"name one of them, or ask an administrator to add it to limits.{_ALLOWED}"
    return ConfigError(key, host, f"this worker's connectors may only call {', '.join(listed)}: {remedy}")


def _resolved(name: str) -> list[str]:
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(one[4][0]) for one in found))


def _plain(text: str) -> Address:
    """Return an address; an IPv4 address embedded in IPv6 is returned as IPv4."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        return inner or address
    return address


def _is_never(address: Address) -> bool:
    return address.is_link_local or address.is_multicast or address.is_unspecified or address in _METADATA


def _is_name(name: str, pattern: str) -> bool:
    return name.endswith(pattern[1:]) if pattern.startswith("*.") else name == pattern


def _is_within(address: Address, part: str) -> bool:
    if not re.fullmatch(r"[0-9a-f:.]+(/[0-9]+)?", part):
        return False
    try:
        return address in ip_network(part, strict=False)
    except ValueError:
        return False

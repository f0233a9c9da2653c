"""Restricts where a worker's own login may be sent: to its cloud's hosts, and to no other host a connector names."""

from __future__ import annotations

from collections.abc import Mapping

from connect_core.errors import ConfigError

__all__ = ["ensure_clouds_own_host"]

_DOMAINS: Mapping[str, tuple[str, ...]] = {
    "azure": (
        ".core.windows.net",
        ".core.usgovcloudapi.net",
        ".core.chinacloudapi.cn",
        ".storage.azure.net",
        ".fabric.microsoft.com",
    ),
    "google": (".googleapis.com",),
}


def ensure_clouds_own_host(cloud: str, key: str, host: str, remedy: str) -> None:
    """Raise ConfigError unless a host belongs to the cloud: whoever receives a bearer token can use it.

    cloud: ``azure`` or ``google``; remedy: which settings set a login of the connector's own.
    """
    if not f".{host.lower().rstrip('.')}".endswith(_DOMAINS[cloud]):
        text = f"the worker's own login is sent to {cloud.capitalize()}'s hosts only; {remedy}"
        raise ConfigError(key, host, text)

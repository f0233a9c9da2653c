"""Where a worker's own login may be sent: to the cloud that gave it, and to no address a connector names."""

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
    """Raise ConfigError unless a host is the cloud's: a bearer token that another gets, it can use.

    cloud: ``azure`` or ``google``; remedy: which settings give a login of the connector's own.
    """
    if not f".{host.lower().rstrip('.')}".endswith(_DOMAINS[cloud]):
        text = f"the worker's own login is sent to {cloud.capitalize()}'s hosts only; {remedy}"
        raise ConfigError(key, host, text)

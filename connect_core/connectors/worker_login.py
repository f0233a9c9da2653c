"""What a worker's own login is used for: its cloud's hosts, and the places in ``limits.login.places``.

A connector without a login of its own works with that of the worker's machine: all who may create connectors would
otherwise have whatever it may read and write.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from connect_core.api.connector import WorkerLimits
from connect_core.errors import ConfigError

__all__ = ["PLACES", "ensure_clouds_own_host", "ensure_listed_place"]

PLACES = "login.places"
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
_SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss", "adl": "abfss", "azure": "az", "wasb": "wasbs"}
_PLAIN = re.compile(r"([a-z][a-z0-9+.-]*)://([A-Za-z0-9._@-]*)(/[^\x00- %?#\\]*)?\Z")


def ensure_clouds_own_host(cloud: str, key: str, host: str, remedy: str) -> None:
    """Raise ConfigError unless a host belongs to the cloud: whoever receives a bearer token can use it.

    cloud: ``azure`` or ``google``; remedy: which settings set a login of the connector's own.
    """
    if not f".{host.lower().rstrip('.')}".endswith(_DOMAINS[cloud]):
        text = f"the worker's own login is sent to {cloud.capitalize()}'s hosts only; {remedy}"
        raise ConfigError(key, host, text)


def ensure_listed_place(key: str, url: str, limits: WorkerLimits, remedy: str) -> None:
    """Raise ConfigError unless a connector may use a bucket, container or catalog with the worker's own login.

    With ``limits.login.places`` (``s3://bucket/folder``, ``abfss://container@account.dfs.core.windows.net``,
    ``glue://``; separated by commas) only these, with all below them. Without it, whatever the login may use. remedy:
    which settings set a login of the connector's own.
    """
    given = limits.values.get(PLACES)
    if given is None:
        return
    listed = [part.strip() for part in given.split(",") if part.strip()]
    place = _parts(url)
    if place is None:
        text = "write it plainly, without user, blanks, %, \\, ?, #, . or .. in it"
    elif any(_is_below(place, _parts(one)) for one in listed):
        return
    else:
        text = f"this worker's own login is for {', '.join(listed) or 'no place'}"
    raise ConfigError(key, url, f"{text}; {remedy}, or ask an administrator to add the place to limits.{PLACES}")


def _parts(url: str) -> tuple[str, ...] | None:
    """Return scheme, bucket and folders of a URL; ``None`` for one that clients may read differently."""
    scheme, separator, rest = url.partition("://")
    found = _PLAIN.match(f"{scheme.lower()}{separator}{rest}")
    if found is None:
        return None
    folders = [part for part in (found[3] or "").split("/") if part]
    if any(part in (".", "..") for part in folders):
        return None
    return (_SCHEMES.get(found[1], found[1]), found[2].lower(), *folders)


def _is_below(place: Collection[str], listed: Collection[str] | None) -> bool:
    return listed is not None and tuple(place)[: len(listed)] == tuple(listed)

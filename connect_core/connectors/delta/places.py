"""The locations of tables, and the check that the worker allows them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from connect_core.api.allowed_url import ensure_allowed_url
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.allowed_file import allowed_folder, allowed_path
from connect_core.connectors.delta.config import OPTIONS_PREFIX, PATH, Settings
from connect_core.connectors.lake.decisions import plain_name
from connect_core.connectors.lake.routing import TableName
from connect_core.connectors.worker_login import PLACES, ensure_clouds_own_host, ensure_listed_place
from connect_core.errors import ConfigError

__all__ = ["Places", "places_of"]

_SCHEMES = ("s3", "s3a", "gs", "az", "abfs", "abfss", "adl")
_ADDRESS = re.compile(r"[\x00- ]*[a-z][a-z0-9+.-]*:\s*[/\\]", re.IGNORECASE)
"""What some client would take for a URL."""
_PLACE = re.compile(r"(endpoint|url|uri|host|authority)\Z", re.IGNORECASE)
"""Endings of the names of options that name a host, with or without a scheme."""
_PART = re.compile(r"(region|account|account_name|bucket|bucket_name|container|container_name)\Z", re.IGNORECASE)
"""Endings of the names of options that delta-rs makes a part of a host's name."""
_PLAIN = re.compile(r"[A-Za-z0-9._-]*\Z")
_SWITCH = re.compile(r"(true|false|0|1|yes|no|on|off)\Z", re.IGNORECASE)
_FILE = re.compile(r"(_file|_path|service_account|application_credentials)\Z", re.IGNORECASE)
"""Endings of the names of options that name a file with a login."""
_GOOGLE_KEY = re.compile(
    r"(service_account|service_account_path|service_account_key|application_credentials)\Z", re.IGNORECASE
)
"""Endings of the names of options that are, or name, a service account's key."""
_LOGINS = {
    "azure": (("az", "abfs", "abfss", "adl"), ("account_key", "access_key", "sas", "client_secret", "bearer_token")),
    "google": (("gs",), ("service_account", "service_account_key", "application_credentials")),
}
"""Cloud → its schemes, and parts of the names of options that set a login of the connector's own."""
_REMEDY = "give a login of its own by delta.storage.*"
_OTHER_PLACE = re.compile(r"(account|account_name|bucket|bucket_name|container|container_name)\Z", re.IGNORECASE)
"""Endings of the names of options that name a place beside the one in path."""
_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")


@dataclass(frozen=True, slots=True)
class Places:
    """A root, and the options needed to access it."""

    root: str
    options: Mapping[str, str]

    def table(self, name: TableName) -> str:
        """Return the location of a table; a name that is hidden, or not valid in a URL, gets a hash."""
        folder = name[-1] if _FOLDER.match(name[-1]) else plain_name(f"t {name[-1]}")
        return f"{self.root}/{folder}"

    def control(self, connector: str) -> str:
        """Return the location of a connector's state."""
        return f"{self.root}/_connect/{plain_name(connector)}"


def places_of(settings: Settings, limits: WorkerLimits) -> Places:
    """Return the places of a configuration. Raises ConfigError for one that the worker does not allow."""
    place = urlsplit(settings.path)
    for key, value in settings.options.items():
        _check_option(key, value, place.scheme, settings.options, limits)
    if place.scheme in _SCHEMES:
        _check_login(settings, place.scheme, limits)
        return Places(settings.path.rstrip("/"), settings.options)
    if place.scheme not in ("", "file"):
        raise ConfigError(PATH, settings.path, f"give a folder, or a URL of {', '.join(_SCHEMES)}")
    path = unquote(place.path) if place.scheme else settings.path
    return Places(str(allowed_folder(PATH, path, limits)), settings.options)


def _check_login(settings: Settings, scheme: str, limits: WorkerLimits) -> None:
    """Raise ConfigError for a place that the worker's own login is not for, if the connector has none of its own."""
    options = [key.lower() for key in settings.options]
    if scheme in ("s3", "s3a"):
        has_login = all(any(key.endswith(part) for key in options) for part in ("access_key_id", "secret_access_key"))
    else:
        has_login = any(_has_login(cloud, scheme, options) for cloud in _LOGINS)
    if has_login:
        return
    ensure_listed_place(PATH, settings.path, limits, _REMEDY)
    named = [key for key in settings.options if _OTHER_PLACE.search(key)] if PLACES in limits.values else []
    if named:
        text = "with the worker's own login a place is named by path alone; leave it out"
        raise ConfigError(OPTIONS_PREFIX + named[0], settings.options[named[0]], f"{text}, or {_REMEDY}")


def _has_login(cloud: str, scheme: str, options: Iterable[str]) -> bool:
    schemes, logins = _LOGINS[cloud]
    return scheme in schemes and any(login in one.lower() for one in options for login in logins)


def _check_option(key: str, value: str, scheme: str, options: Mapping[str, str], limits: WorkerLimits) -> None:
    """Raise ConfigError for a host or file that is not allowed, or a host that would receive the worker's login."""
    name = OPTIONS_PREFIX + key
    if key.lower().endswith("profile"):
        raise ConfigError(name, value, "the worker's profiles are not a connector's; give its login by delta.storage.*")
    place = allowed_path(name, value, limits) if _FILE.search(key) else None
    if _GOOGLE_KEY.search(key):
        _check_key(name, value if place is None else _text(name, place), limits)
    if _PART.search(key) and not _PLAIN.match(value):
        raise ConfigError(name, value, "it becomes a part of a host's name; there are letters, digits, . _ and - in it")
    if not _ADDRESS.match(value) and (not _PLACE.search(key) or _SWITCH.match(value)):
        return
    host = ensure_allowed_url(name, value if _ADDRESS.match(value) else f"any://{value}", limits)
    for cloud, (schemes, _) in _LOGINS.items():
        if scheme in schemes and not _has_login(cloud, scheme, options):
            ensure_clouds_own_host(cloud, name, host, _REMEDY)


def _check_key(name: str, text: str, limits: WorkerLimits) -> None:
    """Raise ConfigError for a service account's key that names hosts of its own which the worker does not allow."""
    try:
        found = json.loads(text)
    except ValueError:
        raise ConfigError(
            name, "(not shown)", "it is no JSON; give a service account's key as Google issues it"
        ) from None
    for part in ("gcs_base_url", "token_uri"):
        if isinstance(found, dict) and isinstance(found.get(part), str):
            ensure_allowed_url(f"{part} of {name}", found[part], limits)


def _text(name: str, place: Path) -> str:
    try:
        return place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(name, str(place), f"the file of a key cannot be read: {type(error).__name__}") from error

"""A registry's addresses, and the login for requests to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from connect_core.api.config import Password
from connect_core.errors import ConfigError

__all__ = ["URL", "Login", "host_of", "login_of", "printable", "urls_of"]

URL = "schema.registry.url"
_JAAS_OPTION = re.compile(
    r"""(?<![\w.])(username|password)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"']+))"""
)


@dataclass(frozen=True, slots=True)
class Login:
    """How requests are authorised: by user and password, by a token, or not at all."""

    user: str = ""
    password: Password | None = None
    token: Password | None = None


def urls_of(listed: list[str]) -> tuple[str, ...]:
    """Return the addresses without credentials and without a trailing slash. Raise ConfigError."""
    return tuple(_without_login(one.strip()) for one in _filled(listed))


def _filled(listed: list[str]) -> list[str]:
    if not any(one.strip() for one in listed):
        raise ConfigError(URL, "", "give at least one address, such as http://registry:8081")
    return [one for one in listed if one.strip()]


def _without_login(url: str) -> str:
    rest = url.partition("://")[2]
    place = rest.partition("/")[0].rpartition("@")[2]
    scheme = url.partition("://")[0].lower()
    if scheme not in ("http", "https") or not host_of(f"{scheme}://{place}"):
        # The rest may contain a password and is not shown.
        shown = place if rest else "without a scheme"
        raise ConfigError(URL, shown, "write it as http://host:port or https://host:port; mock:// is not supported")
    path = rest.partition("/")[2].partition("?")[0].strip("/")
    return f"{scheme}://{place}/{path}".rstrip("/")


def host_of(url: str) -> str | None:
    """Return the host of an address, ``None`` if there is none or its port is not a number."""
    try:
        parts = urlsplit(url)
        return parts.hostname if parts.port is None or parts.port > 0 else None
    except ValueError:
        return None


def login_of(values: Mapping[str, Any]) -> Login:
    """Return the login in parsed settings. Raise ConfigError."""
    token = values["bearer.auth.token"]
    if token.value:
        return Login(token=Password(printable("bearer.auth.token", token.value)))
    source = values["basic.auth.credentials.source"]
    if source == "USER_INFO":
        older, newer = values["schema.registry.basic.auth.user.info"], values["basic.auth.user.info"]
        return _pair("basic.auth.user.info", older.value or newer.value)
    if source == "SASL_INHERIT":
        return _inherited(values["sasl.jaas.config"].value)
    return _login_of_urls(values[URL])


def _login_of_urls(listed: list[str]) -> Login:
    for url in listed:
        info, at, _ = url.partition("://")[2].partition("/")[0].rpartition("@")
        if at:
            user, _, password = info.partition(":")
            return Login(unquote(user), Password(unquote(password)))
    return Login()


def _pair(key: str, text: str) -> Login:
    user, colon, password = text.partition(":")
    if not colon or not user:
        raise ConfigError(key, Password.HIDDEN, "write it as user:password")
    return Login(user, Password(password))


def _inherited(jaas: str) -> Login:
    found = {
        name: re.sub(r"\\(.)", r"\1", double or single) or bare
        for name, double, single, bare in _JAAS_OPTION.findall(jaas)
    }
    if "username" not in found or "password" not in found:
        remedy = 'SASL_INHERIT needs username="…" password="…" in it, of a PLAIN or SCRAM login module'
        raise ConfigError("sasl.jaas.config", Password.HIDDEN, remedy)
    return Login(found["username"], Password(found["password"]))


def printable(key: str, text: str) -> str:
    """Return the value of an HTTP header. Raise ConfigError, without showing it, if it is not valid there."""
    if not (text.isascii() and text.isprintable()):
        raise ConfigError(key, Password.HIDDEN, "it contains characters that are invalid in HTTP headers: remove them")
    return text

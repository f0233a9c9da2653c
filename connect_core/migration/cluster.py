"""Opens the REST API of a Kafka Connect cluster: its address, the login and TLS."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx

from connect_core.api.allowed_host import ensure_allowed_host
from connect_core.errors import ConfigError
from connect_core.migration.connect_api import ConnectApi
from connect_core.migration.transport import BoundedTransport, Bounds

__all__ = ["Tls", "open_api", "open_bounded_api"]

_FROM = "--from"
_SECONDS = 30.0
_RETRY_SECONDS = 10.0
"""How long a bounded call is repeated: its caller may ask again."""


@dataclass(frozen=True, slots=True)
class Tls:
    """TLS settings for an ``https`` address: trusted certificates, and our own certificate and key.

    ``ca_text``: trusted certificates in PEM, in place of the file ``ca``.
    """

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    is_verified: bool = True
    ca_text: str | None = None

    def context(self) -> ssl.SSLContext:
        """Return the SSL context for a client. Raise ConfigError for a file or a text that cannot be used."""
        try:
            context = ssl.create_default_context(cafile=None if self.ca is None else str(self.ca), cadata=self.ca_text)
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError, ValueError, TypeError) as error:
            files = ", ".join(str(file) for file in (self.ca, self.certificate, self.key) if file is not None)
            reason = getattr(error, "strerror", None) or error
            raise ConfigError(f"Cannot use the certificates of {files or 'ca'}: {reason}") from error
        if not self.is_verified:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context


@contextmanager
def open_api(url: str, login: tuple[str, str] | None = None, tls: Tls | None = None) -> Iterator[ConnectApi]:
    """Open the REST API of a Connect cluster for a block, on behalf of who may call every host.

    ``login``: user and password. Raise ConfigError for an invalid address, or one that contains credentials.
    """
    address = _address(url, _FROM, "use --login and --password-file: other users can see command lines")
    verify = (tls or Tls()).context() if address.startswith("https:") else True
    # Ignores proxies of the environment, which are for external hosts. Redirects, which are not followed, would send
    # the credentials elsewhere.
    with httpx.Client(base_url=address, auth=login, verify=verify, timeout=_SECONDS, trust_env=False) as client:
        yield ConnectApi(client, address)


@contextmanager
def open_bounded_api(
    url: str, bounds: Bounds, login: tuple[str, str] | None = None, tls: Tls | None = None
) -> Iterator[ConnectApi]:
    """Open a cluster whose address a caller of the REST API chose, for a block; all of it ends at ``bounds.until``.

    Raise ConfigError as ``open_api``, and for a host that this worker may not call.
    """
    address = _address(url, bounds.key, "give user and password separately")
    context = (tls or Tls()).context() if address.startswith("https:") else None
    ensure_allowed_host(bounds.key, urlsplit(address).hostname or "", bounds.limits)
    # An uncompressed response cannot expand.
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    transport = BoundedTransport(bounds, context)
    with httpx.Client(
        base_url=address, auth=login, headers=headers, transport=transport, timeout=_SECONDS, trust_env=False
    ) as client:
        yield ConnectApi(client, address, _RETRY_SECONDS, bounds.until)


def _address(url: str, key: str, remedy: str) -> str:
    """Return an address without query and fragment. Raise ConfigError."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        raise ConfigError(key, _hidden(url), "write http://HOST:8083 or https://HOST:8083") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(key, _hidden(url), "write http://HOST:8083 or https://HOST:8083")
    if parts.username or parts.password:
        raise ConfigError(key, _hidden(url), remedy)
    bare = f"[{host}]" if ":" in host else host
    place = bare if port is None else f"{bare}:{port}"
    return urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", ""))


def _hidden(url: str) -> str:
    before, sign, after = url.rpartition("@")
    return f"…{sign}{after}" if before else after

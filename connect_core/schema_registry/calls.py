"""Calls of a schema registry's REST API: fail-over, retries, time limits and limited response sizes."""

from __future__ import annotations

import random
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import orjson

from connect_core.api.allowed_host import ensure_allowed_host
from connect_core.api.connector import WorkerLimits
from connect_core.errors import ConfigError
from connect_core.schema_registry.errors import (
    RegistryRefusalError,
    RegistrySettingError,
    SchemaRegistryError,
    UnavailableRegistryError,
    registry_error,
)
from connect_core.schema_registry.login import URL, host_of
from connect_core.schema_registry.settings import ClientSettings
from connect_core.schema_registry.tls import TlsSettings, tls_context

__all__ = ["RegistryCalls", "Request"]

_LARGEST_ANSWER = 16 << 20
_CONNECTIONS = 16
_SHOWN = 500
_TYPE = "application/vnd.schemaregistry.v1+json"
_HEADERS = {
    "Accept": f"{_TYPE}, application/vnd.schemaregistry+json, application/json",
    # Schemas are small, and an uncompressed response cannot expand.
    "Accept-Encoding": "identity",
    "User-Agent": "connect-core",
}
_REMEDIES = {
    401: "; check basic.auth.user.info, the credentials in schema.registry.url, or bearer.auth.token",
    403: "; this login lacks the permission: ask the registry's administrator",
}


@dataclass(frozen=True, slots=True)
class Request:
    """One request: ``path`` is quoted and relative to a registry's address; ``body`` becomes JSON."""

    method: str
    path: str
    params: tuple[tuple[str, str], ...] = ()
    body: Any = None

    def __str__(self) -> str:
        query = "&".join(f"{name}={value}" for name, value in self.params)
        return f"{self.method} /{self.path}{'?' if query else ''}{query}"


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why an address gave no response; ``wait``: the seconds it requires before the next attempt."""

    error: SchemaRegistryError
    wait: float | None = None
    is_final: bool = False


class RegistryCalls:
    """The connections to one registry; safe to use from any thread."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._limits = WorkerLimits(values={"hosts.allowed": settings.allowed_hosts})
        self._client: httpx.Client | None = None
        self._lock = threading.Lock()
        self._first = 0

    def call(self, request: Request, base: str | None = None) -> Any:
        """Return the JSON of a response, trying each address in turn, and all of them again.

        ``base``: replaces the path of the addresses. Raise SchemaRegistryError for a rejected request,
        UnavailableRegistryError when nothing responds in time, ConfigError for unusable settings.
        """
        limits = self._settings.calls
        deadline = time.monotonic() + limits.total
        attempt = 0
        while True:
            failure = self._ask_each(request, base, deadline)
            if not isinstance(failure, _Failure):
                return failure.value
            wait = self._wait(attempt, failure.wait)
            if failure.is_final or attempt >= limits.retries or time.monotonic() + wait >= deadline:
                raise failure.error
            time.sleep(wait)
            attempt += 1

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _wait(self, attempt: int, asked_for: float | None) -> float:
        limits = self._settings.calls
        if asked_for is not None:
            return min(asked_for, limits.retry_max_wait)
        # Full jitter: a thousand tasks that failed together do not retry together.
        return random.random() * min(limits.retry_wait * 2.0 ** min(attempt, 30), limits.retry_max_wait)

    def _ask_each(self, request: Request, base: str | None, deadline: float) -> _Answer | _Failure:
        urls = self._settings.urls
        failure: _Failure | None = None
        first = self._first
        for index in ((first + step) % len(urls) for step in range(len(urls))):
            found = self._ask(request, _address(urls[index], base), deadline)
            if isinstance(found, _Answer):
                self._first = index
                return found
            failure = found
            if found.is_final or time.monotonic() >= deadline:
                break
        assert failure is not None
        return failure

    def _ask(self, request: Request, url: str, deadline: float) -> _Answer | _Failure:
        try:
            return self._exchange(request, url, deadline)
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            text = f"The schema registry at {url} does not respond to {request}: {reason}; check schema.registry.url"
            return _Failure(UnavailableRegistryError(text))
        except (httpx.InvalidURL, UnicodeError) as error:
            # Found by the resolver of names: no record is skipped for it.
            text = f"{url} cannot be called ({error}); correct schema.registry.url or proxy.host"
            return _Failure(RegistryRefusalError(text), is_final=True)

    def _exchange(self, request: Request, url: str, deadline: float) -> _Answer | _Failure:
        limits = self._settings.calls
        left = max(deadline - time.monotonic(), 0.001)
        timeout = httpx.Timeout(min(limits.read, left), connect=min(limits.connect, left), pool=left)
        headers = {} if request.body is None else {"Content-Type": _TYPE}
        content = None if request.body is None else orjson.dumps(request.body)
        target, params = f"{url}/{request.path}", httpx.QueryParams(request.params)
        with self._opened().stream(
            request.method, target, params=params, headers=headers, content=content, timeout=timeout
        ) as response:
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                # A few kilobytes may expand to gigabytes in one piece, before any size can be checked.
                text = f"{url} answers {request} with a compressed body, which was not requested: does a proxy do it?"
                return _unread(text, response)
            body = _content(response, deadline)
        if body is None:
            text = f"The response of {url} to {request} has more than {_LARGEST_ANSWER >> 20} MiB"
            return _unread(text, response, SchemaRegistryError)
        return _judged(request, url, response, body)

    def _opened(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def _connect(self) -> httpx.Client:
        settings, login = self._settings, self._settings.login
        try:
            verify = self._checked()
        except ConfigError as error:
            raise RegistrySettingError(*error.args) from error
        headers = {**_HEADERS, **dict(settings.headers)}
        if login.token is not None:
            headers["Authorization"] = f"Bearer {login.token.value}"
        # Neither proxies nor logins of the environment: only the configuration counts.
        return httpx.Client(
            auth=(login.user, login.password.value) if login.password is not None else None,
            headers=headers,
            verify=verify,
            proxy=settings.proxy,
            trust_env=False,
            follow_redirects=False,
            limits=httpx.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS),
        )

    def _checked(self) -> ssl.SSLContext:
        """Check the hosts, and return the TLS context of the connections. Raise ConfigError."""
        settings = self._settings
        for url in settings.urls:
            ensure_allowed_host(URL, host_of(url) or "", self._limits)
        if settings.proxy:
            ensure_allowed_host("proxy.host", host_of(settings.proxy) or "", self._limits)
        addresses = (*settings.urls, settings.proxy or "")
        if settings.tls == TlsSettings() and not any(one.lower().startswith("https:") for one in addresses):
            # Trusts nobody: reading the public authorities takes 0.05 s of processor time in each process.
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return tls_context(settings.tls)


@dataclass(frozen=True, slots=True)
class _Answer:
    value: Any


def _address(url: str, base: str | None) -> str:
    if base is None:
        return url
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/{base}"


def _content(response: httpx.Response, deadline: float) -> bytes | None:
    """Return a body; ``None`` if it is too large. Raise ReadTimeout if it takes too long as a whole."""
    parts, size = [], 0
    for part in response.iter_bytes():
        size += len(part)
        if size > _LARGEST_ANSWER:
            return None
        if time.monotonic() > deadline:
            raise httpx.ReadTimeout("the response takes too long")
        parts.append(part)
    return b"".join(parts)


def _unread(text: str, response: httpx.Response, kind: type[SchemaRegistryError] = RegistryRefusalError) -> _Failure:
    """Return the failure for a body that is not read: its kind, if the status says nothing else."""
    if response.is_success:
        return _Failure(kind(text, response.status_code), is_final=True)
    return _refused(registry_error(text, response.status_code, 0), response)


def _judged(request: Request, url: str, response: httpx.Response, body: bytes) -> _Answer | _Failure:
    status = response.status_code
    try:
        value = orjson.loads(body) if body else None
    except orjson.JSONDecodeError:
        value = None
        if response.is_success:
            text = f"{url} answers {request} with something that is not JSON; check schema.registry.url"
            return _Failure(RegistryRefusalError(text, status), is_final=True)
    if response.is_success:
        return _Answer(value)
    code, message = _reason(value)
    text = f"The schema registry at {url} rejects {request}: HTTP {status}{message}{_REMEDIES.get(status, '')}"
    return _refused(registry_error(text, status, code), response)


def _refused(error: SchemaRegistryError, response: httpx.Response) -> _Failure:
    return _Failure(error, _retry_after(response.headers), not isinstance(error, UnavailableRegistryError))


def _reason(value: Any) -> tuple[int, str]:
    if not isinstance(value, Mapping):
        return 0, ""
    code, message = value.get("error_code"), value.get("message")
    number = code if isinstance(code, int) else 0
    return number, f", {number or 'no code'}: {str(message)[:_SHOWN]}"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    text = headers.get("retry-after", "").strip()
    if text.isdigit():
        return float(text[:9])
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0) if text else None
    except ValueError:
        return None

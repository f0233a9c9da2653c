"""Client of a Kafka Connect cluster's REST API."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, urlsplit, urlunsplit

import httpx

from connect_core.errors import BadRequestError, ConfigError, ConnectError, NotFoundError, RetriableError

__all__ = ["ConnectApi", "ConnectorThere", "OffsetEntries", "Tls", "open_api"]

_SECONDS = 30.0
_OFFSETS_SECONDS = 120.0
"""Connect responds to requests for offsets once it has read its topic to the end, or fenced its producers."""
_RETRY_SECONDS = 90.0
"""Longer than a rebalance, or the start of a worker, takes."""
_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.25, 5.0
_LONGEST_REASON = 300

OffsetEntries = list[dict[str, Any]]
"""Connect's ``{"partition": {…}, "offset": {…}}``."""


class _Forbidden(ConnectError):
    """The login has no right to this; for topics, or the cluster does not track them (403)."""


@dataclass(frozen=True, slots=True)
class Tls:
    """TLS settings for an ``https`` address: trusted certificates, and our own certificate and key."""

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    is_verified: bool = True

    def context(self) -> ssl.SSLContext:
        """Return the SSL context for a client. Raise ConfigError for a file that cannot be used."""
        try:
            context = ssl.create_default_context(cafile=None if self.ca is None else str(self.ca))
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as error:
            files = ", ".join(str(file) for file in (self.ca, self.certificate, self.key) if file is not None)
            raise ConfigError(f"Cannot use the certificates of {files}: {error.strerror or error}") from error
        if not self.is_verified:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context


@dataclass(frozen=True, slots=True)
class ConnectorThere:
    """A connector of a Connect cluster: its configuration, references unresolved, its state and its tasks' states."""

    name: str
    type: str
    config: Mapping[str, str]
    state: str
    tasks: tuple[str, ...] = ()

    @property
    def is_stopped(self) -> bool:
        """Whether it is stopped and has no tasks left."""
        return self.state == "STOPPED" and not self.tasks


@dataclass(frozen=True)
class ConnectApi:
    """One Connect cluster; each call is repeated while it rebalances or does not answer, for 90 s at most.

    Calls raise NotFoundError for an unknown connector, BadRequestError if refused, RetriableError if the cluster
    does not answer in time, ConnectError for all other errors.
    """

    client: httpx.Client
    address: str
    """Without credentials, as it is printed and stored."""
    retry_seconds: float = _RETRY_SECONDS
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def connectors(self) -> list[ConnectorThere]:
        """Return all connectors, by one call."""
        found = self._call("GET", "/connectors?expand=info&expand=status")
        if not isinstance(found, dict):
            raise ConnectError(
                f"{self.address} does not know expand=info: a Kafka Connect of 2.3 or newer is needed, or another URL"
            )
        return [_connector(name, one) for name, one in sorted(found.items())]

    def connector(self, name: str) -> ConnectorThere:
        """Return one connector."""
        info = self._call("GET", _path(name))
        return _connector(name, {"info": info, "status": self._call("GET", _path(name, "/status"))})

    def plugins(self) -> list[dict[str, str]]:
        """Return the cluster's plugins with class, type and version."""
        return cast("list[dict[str, str]]", self._call("GET", "/connector-plugins?connectorsOnly=false"))

    def offsets(self, name: str) -> OffsetEntries:
        """Return a connector's committed offsets, for a sink those of its consumer group. It may be running."""
        try:
            found = self._call("GET", _path(name, "/offsets"), seconds=_OFFSETS_SECONDS)
        except NotFoundError as error:
            self.connector(name)
            remedy = "with an older one name its offset.storage.topic: connect import --offsets-topic TOPIC"
            raise BadRequestError(f"{error}. Offsets are read since Kafka Connect 3.5; {remedy}") from error
        return cast("OffsetEntries", (found or {}).get("offsets") or [])

    def topics(self, name: str) -> tuple[str, ...]:
        """Return the topics that a connector has used; none if the cluster does not track them."""
        try:
            found = self._call("GET", _path(name, "/topics"))
        except (BadRequestError, NotFoundError, _Forbidden):
            return ()
        return tuple(sorted((found or {}).get(name, {}).get("topics") or ()))

    def settings_of(self, plugin: str) -> frozenset[str] | None:
        """Return the names of a plugin's settings; ``None`` if the cluster cannot list them (before Kafka 3.2)."""
        try:
            found = self._call("GET", f"/connector-plugins/{quote(plugin, safe='')}/config")
        except ConnectError:
            return None
        return frozenset(str(one.get("name")) for one in found or ())

    def alter_offsets(self, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Alter offsets of a stopped connector; a null offset forgets a partition. Idempotent."""
        self._call("PATCH", _path(name, "/offsets"), {"offsets": list(entries)}, _OFFSETS_SECONDS)

    def stop(self, name: str) -> None:
        """Request the state STOPPED; its tasks end later."""
        self._call("PUT", _path(name, "/stop"))

    def resume(self, name: str) -> None:
        """Request the state RUNNING."""
        self._call("PUT", _path(name, "/resume"))

    def pause(self, name: str) -> None:
        """Request the state PAUSED."""
        self._call("PUT", _path(name, "/pause"))

    def _call(self, method: str, path: str, body: Any = None, seconds: float = _SECONDS) -> Any:
        end, pause = time.monotonic() + self.retry_seconds, _PAUSE_SECONDS
        while True:
            try:
                return self._called_once(method, path, body, seconds)
            except RetriableError:
                if time.monotonic() + pause > end:
                    raise
            self.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _called_once(self, method: str, path: str, body: Any, seconds: float) -> Any:
        act = f"{method} {self.address}{path}"
        try:
            answer = self.client.request(method, path, json=body, timeout=seconds)
        except httpx.HTTPError as error:
            raise _unanswered(act, error) from None
        if answer.is_success:
            return _json(answer, act)
        raise _error(answer, act)


def _unanswered(act: str, error: httpx.HTTPError) -> ConnectError:
    """Return an error without the client's own text, which may contain an address with credentials."""
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return ConnectError(
            f"{act} was not sent: its certificate is not trusted. Give --ca FILE, which vouches for it."
        )
    return RetriableError(f"{act} got no answer ({type(error).__name__}): is it up, and the URL right?")


def _json(answer: httpx.Response, act: str) -> Any:
    if not answer.content:
        return None
    try:
        return answer.json()
    except ValueError as error:
        raise ConnectError(f"{act} answered no JSON: is it the URL of a Kafka Connect REST API?") from error


def _error(answer: httpx.Response, act: str) -> ConnectError:
    try:
        reason = str(answer.json().get("message"))
    except (ValueError, AttributeError):
        reason = answer.reason_phrase
    text = f"{act} answered {answer.status_code}: {reason[:_LONGEST_REASON]}"
    if answer.status_code in (401, 403):
        return _Forbidden(f"{text}. Give a login with --login and --password-file.")
    if answer.status_code == 404:
        return NotFoundError(text)
    # 409: a rebalance is in progress. 500 is also the status of offsets that a connector refuses: not to be retried.
    if answer.status_code == 409 or answer.status_code in (429, 502, 503, 504) or _is_passing(answer, reason):
        return RetriableError(text)
    if answer.status_code == 405:
        return BadRequestError(f"{text}. Offsets are altered since Kafka Connect 3.6.")
    return BadRequestError(text) if answer.status_code == 400 else ConnectError(text)


def _is_passing(answer: httpx.Response, reason: str) -> bool:
    """Whether a 500 may be temporary: a request that timed out, or was forwarded to a worker that has just ended."""
    if answer.status_code != 500:
        return False
    words = reason.lower()
    return any(word in words for word in ("timed out", "timeout", "io error", "forward", "rebalance", "leader"))


def _path(name: str, rest: str = "") -> str:
    return f"/connectors/{quote(name, safe='')}{rest}"


def _connector(name: str, answer: Mapping[str, Any]) -> ConnectorThere:
    info, status = answer.get("info") or {}, answer.get("status") or {}
    config = {key: value for key, value in (info.get("config") or {}).items() if value is not None and key != "name"}
    kind = str(info.get("type") or status.get("type") or "unknown").lower()
    tasks = tuple(str(task.get("state")) for task in status.get("tasks") or ())
    return ConnectorThere(name, kind, config, str((status.get("connector") or {}).get("state", "UNKNOWN")), tasks)


@contextmanager
def open_api(url: str, login: tuple[str, str] | None = None, tls: Tls | None = None) -> Iterator[ConnectApi]:
    """Open the REST API of a Connect cluster for a block.

    ``login``: user and password. Raise ConfigError for an invalid address, or one that contains credentials.
    """
    parts = urlsplit(url)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError("--from", _hidden(url), "write http://HOST:8083 or https://HOST:8083")
    if parts.username or parts.password:
        remedy = "use --login and --password-file: command lines are seen by others"
        raise ConfigError("--from", _hidden(url), remedy)
    bare = f"[{host}]" if ":" in host else host
    address = urlunsplit((parts.scheme, bare if port is None else f"{bare}:{port}", parts.path.rstrip("/"), "", ""))
    verify = (tls or Tls()).context() if parts.scheme == "https" else True
    # Ignores proxies of the environment, which are for external hosts. Redirects, which are not followed, would send
    # the credentials elsewhere.
    with httpx.Client(base_url=address, auth=login, verify=verify, timeout=_SECONDS, trust_env=False) as client:
        yield ConnectApi(client, address)


def _hidden(url: str) -> str:
    before, sign, after = url.rpartition("@")
    return f"…{sign}{after}" if before else after

"""Client of a Kafka Connect cluster's REST API."""

from __future__ import annotations

import base64
import binascii
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote

import httpx

from connect_core.api.offsets import canonical
from connect_core.errors import BadRequestError, ConnectError, NotFoundError, RetriableError

__all__ = ["ConnectApi", "ConnectorThere", "OffsetEntries", "offset_map"]

_SECONDS = 30.0
_OFFSETS_SECONDS = 120.0
"""Connect responds to requests for offsets once it has read its topic to the end, or fenced its producers."""
_RETRY_SECONDS = 90.0
"""Longer than a rebalance, or the start of a worker, takes."""
_FIRST_SECONDS = 10.0
"""How long a cluster that has never responded is asked: its address may be wrong."""
_LEAST_SECONDS = 2.0
_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.25, 5.0
_LONGEST_REASON = 300

OffsetEntries = list[dict[str, Any]]
"""Connect's ``{"partition": {…}, "offset": {…}}``."""


class _Forbidden(ConnectError):
    """The login has no right to this; for topics, or the cluster does not track them (403)."""


@dataclass(frozen=True, slots=True)
class ConnectorThere:
    """A connector of a Connect cluster: its configuration, references unresolved, its state and its tasks' states.

    ``configured``: how many tasks it is to have; ``None`` where only its status was asked for.
    """

    name: str
    type: str
    config: Mapping[str, str]
    state: str
    tasks: tuple[str, ...] = ()
    configured: int | None = None

    @property
    def is_to_stop(self) -> bool:
        """Whether it is stopped and is to have no tasks; some may still be ending."""
        return self.state == "STOPPED" and self.configured == 0

    @property
    def is_stopped(self) -> bool:
        """Whether it is stopped and has no tasks left."""
        return self.state == "STOPPED" and not self.tasks


@dataclass(slots=True)
class _Timeouts:
    """How much time calls are given, in proportion: half as much after each that was given up.

    So a cluster that ends in the middle of a thousand calls costs minutes, not the time limit of each.
    """

    share: float = 1.0
    has_responded: bool = False

    def retrying(self, seconds: float) -> float:
        """Return how long a call is repeated."""
        return self.share * (seconds if self.has_responded else min(seconds, _FIRST_SECONDS))

    def waiting(self, seconds: float) -> float:
        """Return how long a response may take."""
        return max(_LEAST_SECONDS, self.share * seconds)

    def lose(self) -> None:
        """Halve the time of the calls that follow."""
        self.share /= 2


@dataclass(frozen=True)
class ConnectApi:
    """One Connect cluster; each call is repeated while it rebalances or does not answer, for 90 s at most.

    For 10 s if it has never responded, and for half as long after each call that was given up.

    Calls raise NotFoundError for an unknown connector, BadRequestError if refused, RetriableError if the cluster
    does not answer in time, ConnectError for all other errors.
    """

    client: httpx.Client
    address: str
    """Without credentials, as it is printed and stored."""
    retry_seconds: float = _RETRY_SECONDS
    until: float = math.inf
    """No call is repeated after this time of ``time.monotonic``."""
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    _timeouts: _Timeouts = field(default_factory=_Timeouts, repr=False, compare=False)

    def connectors(self) -> list[ConnectorThere]:
        """Return all connectors, by one call."""
        found = self._call("GET", "/connectors?expand=info&expand=status")
        if not isinstance(found, dict):
            raise ConnectError(
                f"{self.address} does not know expand=info: a Kafka Connect of 2.3 or newer is needed, or another URL"
            )
        return [self._connector(name, one) for name, one in sorted(found.items())]

    def connector(self, name: str) -> ConnectorThere:
        """Return one connector."""
        info = self._call("GET", _path(name))
        return self._connector(name, {"info": info, "status": self._call("GET", _path(name, "/status"))})

    def status(self, name: str) -> ConnectorThere:
        """Return one connector without its configuration, by one call."""
        return self._connector(name, {"status": self._call("GET", _path(name, "/status"))})

    def _connector(self, name: str, answer: Any) -> ConnectorThere:
        try:
            return _connector(name, answer)
        except (AttributeError, TypeError) as error:
            raise ConnectError(f"{self.address} describes {name} differently from Kafka Connect") from error

    def plugins(self) -> list[dict[str, str]]:
        """Return the cluster's plugins with class, type and version."""
        return cast("list[dict[str, str]]", self._call("GET", "/connector-plugins?connectorsOnly=false"))

    def offsets(self, name: str) -> OffsetEntries:
        """Return a connector's committed offsets, for a sink those of its consumer group. It may be running."""
        try:
            found = self._call("GET", _path(name, "/offsets"), seconds=_OFFSETS_SECONDS)
        except NotFoundError as error:
            self.connector(name)
            remedy = "for an older one, give its offset.storage.topic: connect import --offsets-topic TOPIC"
            raise BadRequestError(f"{error}. Reading offsets requires Kafka Connect 3.5; {remedy}") from error
        entries = found.get("offsets") or [] if isinstance(found, dict) else []
        if not isinstance(entries, list) or not all(_is_entry(one) for one in entries):
            raise ConnectError(f"{self.address} returns offsets of {name} in a different form from Kafka Connect")
        return cast("OffsetEntries", entries)

    def topics(self, name: str) -> tuple[str, ...]:
        """Return the topics that a connector has used; none if the cluster does not track them."""
        try:
            found = self._call("GET", _path(name, "/topics"))
        except (BadRequestError, NotFoundError, _Forbidden):
            return ()
        used = found.get(name) if isinstance(found, dict) else None
        topics = used.get("topics") if isinstance(used, dict) else None
        return tuple(sorted(str(one) for one in topics)) if isinstance(topics, list) else ()

    def settings_of(self, plugin: str) -> frozenset[str] | None:
        """Return the names of a plugin's settings; ``None`` if the cluster cannot list them (before Kafka 3.2)."""
        try:
            found = self._call("GET", f"/connector-plugins/{quote(plugin, safe='')}/config")
        except ConnectError:
            return None
        listed = found if isinstance(found, list) else ()
        return frozenset(str(one.get("name")) for one in listed if isinstance(one, dict))

    def alter_offsets(self, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Alter offsets of a stopped connector; a null offset forgets a partition. Idempotent."""
        self._call("PATCH", _path(name, "/offsets"), {"offsets": list(entries)}, _OFFSETS_SECONDS)

    def stop(self, name: str) -> None:
        """Request the state STOPPED; its tasks end later."""
        try:
            self._call("PUT", _path(name, "/stop"))
        except NotFoundError as error:
            self.connector(name)
            raise BadRequestError(
                f"{error}. Stopping requires Kafka Connect 3.5. With an older one pause {name} there, run connect "
                f"import --offsets-topic TOPIC --only {name}, delete it there, then run connect resume {name}."
            ) from error

    def resume(self, name: str) -> None:
        """Request the state RUNNING."""
        self._call("PUT", _path(name, "/resume"))

    def pause(self, name: str) -> None:
        """Request the state PAUSED."""
        self._call("PUT", _path(name, "/pause"))

    def _call(self, method: str, path: str, body: Any = None, seconds: float = _SECONDS) -> Any:
        began, pause = time.monotonic(), _PAUSE_SECONDS
        while True:
            try:
                return self._called_once(method, path, body, self._timeouts.waiting(seconds))
            except RetriableError:
                end = min(began + self._timeouts.retrying(self.retry_seconds), self.until)
                if time.monotonic() + pause > end:
                    self._timeouts.lose()
                    raise
            self.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _called_once(self, method: str, path: str, body: Any, seconds: float) -> Any:
        act = f"{method} {self.address}{path}"
        try:
            answer = self.client.request(method, path, json=body, timeout=seconds)
        except httpx.HTTPError as error:
            raise _unanswered(act, error) from None
        self._timeouts.has_responded = True
        if answer.is_success:
            return _json(answer, act)
        raise _error(answer, act)


def offset_map(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return offsets by the canonical JSON of their partition; null offsets are left out."""
    return {canonical(one["partition"]): one["offset"] for one in entries if one.get("offset") is not None}


def _unanswered(act: str, error: httpx.HTTPError) -> ConnectError:
    """Return an error without the client's own text, which may contain an address with credentials."""
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return ConnectError(f"{act} was not sent: its certificate is not trusted. Give its CA certificate (--ca FILE).")
    return RetriableError(f"{act} got no response ({type(error).__name__}): is it running, and is the URL right?")


def _json(answer: httpx.Response, act: str) -> Any:
    if not answer.content:
        return None
    try:
        return answer.json()
    except (ValueError, RecursionError) as error:
        raise ConnectError(f"{act} did not return JSON: is it the URL of a Kafka Connect REST API?") from error


def _error(answer: httpx.Response, act: str) -> ConnectError:
    reason = _reason(answer)
    text = f"{act} answered {answer.status_code}: {reason[:_LONGEST_REASON]}"
    if answer.is_redirect:
        return ConnectError(f"{text}. Redirects are not followed: give the address that it leads to{_target(answer)}.")
    if answer.status_code in (401, 403):
        return _Forbidden(f"{text}. Use a login with this permission (--login and --password-file).")
    if answer.status_code == 404:
        return NotFoundError(text)
    # 409: a rebalance is in progress. 500 is also the status of offsets that a connector refuses: not to be retried.
    if answer.status_code == 409 or answer.status_code in (429, 502, 503, 504) or _is_transient(answer, reason):
        return RetriableError(text)
    if answer.status_code == 405:
        return BadRequestError(f"{text}. Altering offsets requires Kafka Connect 3.6.")
    return BadRequestError(text) if answer.status_code == 400 else ConnectError(text)


def _target(answer: httpx.Response) -> str:
    """Return the scheme and host of a redirect, without the login that its address may contain."""
    try:
        url = answer.request.url.join(answer.headers["location"])
    except (KeyError, httpx.InvalidURL):
        return ""
    return f" ({url.scheme}://{url.netloc.decode()})"


def _reason(answer: httpx.Response) -> str:
    try:
        reason = str(answer.json().get("message"))
    except (ValueError, AttributeError, RecursionError):
        reason = answer.reason_phrase
    # Some proxies repeat what they refuse, and errors are logged.
    return "its message contains the login" if any(one in reason for one in _secrets(answer.request)) else reason


def _secrets(request: httpx.Request) -> list[str]:
    """Return the forms in which a request contains the password."""
    login = request.headers.get("authorization", "").partition(" ")[2]
    try:
        password = base64.b64decode(login).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        password = ""
    return [one for one in (login, password) if one]


def _is_entry(one: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(one.get("partition"), dict):
        return False
    return isinstance(one.get("offset"), dict | None)


def _is_transient(answer: httpx.Response, reason: str) -> bool:
    """Whether a 500 may be temporary: a request that timed out, or was forwarded to a worker that has just ended."""
    if answer.status_code != 500:
        return False
    words = reason.lower()
    return any(word in words for word in ("timed out", "timeout", "io error", "forward", "rebalance", "leader"))


def _path(name: str, rest: str = "") -> str:
    return f"/connectors/{quote(name, safe='')}{rest}"


def _connector(name: str, answer: Mapping[str, Any]) -> ConnectorThere:
    """Raise AttributeError or TypeError for JSON of another shape."""
    info, status = answer.get("info") or {}, answer.get("status") or {}
    given = (info.get("config") or {}).items()
    config = {key: str(value) for key, value in given if value is not None and key != "name"}
    kind = str(info.get("type") or status.get("type") or "unknown").lower()
    tasks = tuple(str(task.get("state")) for task in status.get("tasks") or ())
    state = str((status.get("connector") or {}).get("state", "UNKNOWN"))
    return ConnectorThere(name, kind, config, state, tasks, len(info["tasks"]) if "tasks" in info else None)

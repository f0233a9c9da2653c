"""HTTP client for Airflow: the service's login, at most four requests at a time, and how long it has not answered."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from connect_core.errors import ConfigError, ConnectError, NotFoundError, RetriableError

__all__ = ["REQUESTS_AT_ONCE", "AirflowClient", "ServiceIdentity", "Silence"]

REQUESTS_AT_ONCE = 4
"""Airflow's API server hangs for good once more requests are in flight than its pool has connections (5 + 10)."""

_GATE = threading.BoundedSemaphore(REQUESTS_AT_ONCE)
"""One per process, shared by the watcher and every caller of the REST API."""

_TIMEOUT = httpx.Timeout(20.0, connect=5.0)
_TURN_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ServiceIdentity:
    """Airflow's URL, and the user as whom connect-core logs in."""

    url: str
    user: str
    password_file: Path

    def password(self) -> str:
        """Read the password each time, as it may have been changed. Raises ConfigError."""
        try:
            return self.password_file.read_text().strip()
        except OSError as error:
            raise ConfigError(
                "airflow.password.file", self.password_file, f"it cannot be read ({error.strerror}): correct the path"
            ) from error


@dataclass(frozen=True, slots=True)
class Silence:
    """Airflow does not answer: since when, and how the last request failed."""

    since: datetime
    reason: str

    @property
    def seconds(self) -> float:
        """How long it has lasted."""
        return (datetime.now(UTC) - self.since).total_seconds()


class AirflowClient:
    """Sends requests with the service identity; fetches a new token when one is refused.

    Calls block; they raise RetriableError where Airflow does not answer.
    """

    def __init__(self, identity: ServiceIdentity) -> None:
        self._identity = identity
        self._client = httpx.Client(base_url=identity.url.rstrip("/"), timeout=_TIMEOUT)
        self._token = ""
        self._silence: Silence | None = None
        self._answered_at: datetime | None = None

    @property
    def silence(self) -> Silence | None:
        """Since when no request has been answered; ``None`` when the last one was."""
        return self._silence

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def call(self, method: str, path: str, fine: tuple[int, ...] = (), **options: Any) -> Any:
        """Return the JSON of Airflow's response. Raises ConnectError."""
        answer = self.answer(method, path, fine, options)
        return answer.json() if answer.content else None

    def answer(self, method: str, path: str, fine: tuple[int, ...], options: Mapping[str, Any]) -> httpx.Response:
        """Return the response; statuses in ``fine`` do not raise. Raises ConnectError."""
        began = datetime.now(UTC)
        try:
            with _turn():
                answer = self._send_again_if_refused(method, path, options)
        except httpx.TransportError as error:
            self._note_silence(began, f"{type(error).__name__}: {error}".rstrip(": "))
            raise RetriableError(
                f"Airflow at {self._identity.url} does not respond ({error}): start it, or correct airflow.url"
            ) from error
        self._silence, self._answered_at = None, datetime.now(UTC)
        if answer.is_error and answer.status_code not in fine:
            raise _refused(answer)
        return answer

    def _note_silence(self, began: datetime, reason: str) -> None:
        known = self._silence
        self._silence = Silence(known.since if known else self._answered_at or began, reason)

    def _send_again_if_refused(self, method: str, path: str, options: Mapping[str, Any]) -> httpx.Response:
        answer = self._send(method, path, options)
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            self._token = ""
            answer = self._send(method, path, options)
        return answer

    def _send(self, method: str, path: str, options: Mapping[str, Any]) -> httpx.Response:
        if not self._token:
            self._token = self._fetch_token()
        headers = {"Authorization": f"Bearer {self._token}"}
        return self._client.request(method, f"/api/v2{path}", headers=headers, **options)

    def _fetch_token(self) -> str:
        body = {"username": self._identity.user, "password": self._identity.password()}
        answer = self._client.post("/auth/token", json=body)
        if answer.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            raise ConfigError(
                "airflow.user", self._identity.user, "Airflow rejected it: correct the user or airflow.password.file"
            )
        if answer.is_error:
            raise _refused(answer)
        return str(answer.json()["access_token"])


@contextmanager
def _turn() -> Iterator[None]:
    """Wait for one of the few slots. Raises RetriableError when none becomes free in time."""
    if not _GATE.acquire(timeout=_TURN_SECONDS):
        raise RetriableError(
            f"{REQUESTS_AT_ONCE} requests to Airflow have been under way for {_TURN_SECONDS:.0f} s: "
            "check that its API server responds"
        )
    try:
        yield
    finally:
        _GATE.release()


def _refused(answer: httpx.Response) -> ConnectError:
    request = answer.request
    text = f"Airflow answered {answer.status_code} to {request.method} {request.url.path}: {answer.text[:300]}"
    if answer.status_code == httpx.codes.NOT_FOUND:
        return NotFoundError(text)
    if answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR or answer.status_code in (409, 429):
        return RetriableError(text)
    return ConnectError(f"{text}. Check the permissions of the service's user (airflow.user)")

"""Airflow's REST API, as far as connect-core needs it; calls block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from connect_core.dag.naming import TAG
from connect_core.errors import ConfigError, ConnectError, NotFoundError, RetriableError

__all__ = ["AirflowApi", "DagRun", "ServiceIdentity"]

_PAGE = 100
_TIMEOUT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class ServiceIdentity:
    """Who connect-core is to Airflow, and where Airflow is."""

    url: str
    user: str
    password_file: Path

    def password(self) -> str:
        """Read the password, which may have been changed. Raises ConfigError."""
        try:
            return self.password_file.read_text().strip()
        except OSError as error:
            raise ConfigError(
                "airflow.password.file", self.password_file, f"it cannot be read ({error.strerror}): correct the path"
            ) from error


@dataclass(frozen=True, slots=True)
class DagRun:
    """One run of a DAG, as Airflow tells it."""

    dag_id: str
    run_id: str
    run_type: str
    state: str
    seconds_since_end: float | None


class AirflowApi:
    """A client with the service identity; its token is fetched again when refused."""

    def __init__(self, identity: ServiceIdentity) -> None:
        self._identity = identity
        self._client = httpx.Client(base_url=identity.url.rstrip("/"), timeout=_TIMEOUT_SECONDS)
        self._token = ""

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def paused_dags(self) -> frozenset[str]:
        """Return the ids of the connectors' DAGs that are paused."""
        query = {"tags": [TAG], "paused": True}
        return frozenset(dag["dag_id"] for dag in self._pages("/dags", "dags", query))

    def queued_runs(self) -> tuple[DagRun, ...]:
        """Return the runs of all DAGs that are due and may not start yet."""
        query = {"state": ["queued"], "run_after_lte": datetime.now(UTC).isoformat()}
        return tuple(_dag_run(run) for run in self._pages("/dags/~/dagRuns", "dag_runs", query))

    def latest_runs(self, dag_id: str, limit: int = 1) -> tuple[DagRun, ...]:
        """Return the newest runs of a DAG. Raises NotFoundError."""
        query = {"order_by": ["-run_after"], "limit": limit}
        found = self._call("GET", f"/dags/{_part(dag_id)}/dagRuns", params=query)
        return tuple(_dag_run(run) for run in found["dag_runs"])

    def parsed_at(self, dag_id: str) -> str | None:
        """Return when the DAG was last found in its file; ``None`` if there is no such DAG."""
        try:
            dag = self._call("GET", f"/dags/{_part(dag_id)}")
        except NotFoundError:
            return None
        return None if dag["is_stale"] else str(dag["last_parsed_time"])

    def reparse(self, dag_id: str) -> None:
        """Ask for the DAG's file to be parsed now. Raises NotFoundError."""
        token = self._call("GET", f"/dags/{_part(dag_id)}")["file_token"]
        # 409: the same was asked for already.
        self._call("PUT", f"/parseDagFile/{_part(token)}", fine=(409,))

    def set_paused(self, dag_id: str, is_paused: bool) -> None:
        """Pause or unpause. Raises NotFoundError."""
        self._call("PATCH", f"/dags/{_part(dag_id)}", json={"is_paused": is_paused})

    def trigger(self, dag_id: str) -> str:
        """Start a manual run and return its id. Raises NotFoundError."""
        return str(self._call("POST", f"/dags/{_part(dag_id)}/dagRuns", json={"logical_date": None})["dag_run_id"])

    def clear(self, dag_id: str, run_id: str) -> None:
        """Let a run's tasks be tried again. Raises NotFoundError."""
        body = {"dry_run": False, "only_failed": False}
        self._call("POST", f"/dags/{_part(dag_id)}/dagRuns/{_part(run_id)}/clear", json=body)

    def delete_dag(self, dag_id: str) -> bool:
        """Delete a DAG with its history; false while a task of it runs."""
        path = f"/dags/{_part(dag_id)}"
        return self._answer("DELETE", path, (404, 409), {}).status_code != httpx.codes.CONFLICT

    def _pages(self, path: str, entry: str, query: Mapping[str, Any]) -> Iterator[Any]:
        offset = 0
        while True:
            page = self._call("GET", path, params={**query, "limit": _PAGE, "offset": offset})
            yield from page[entry]
            offset += _PAGE
            if offset >= page["total_entries"]:
                return

    def call(self, method: str, path: str, fine: tuple[int, ...] = (), **options: Any) -> Any:
        """Return the JSON Airflow answers. Raises ConnectError."""
        return self._call(method, path, fine, **options)

    def _call(self, method: str, path: str, fine: tuple[int, ...] = (), **options: Any) -> Any:
        answer = self._answer(method, path, fine, options)
        return answer.json() if answer.content else None

    def _answer(self, method: str, path: str, fine: tuple[int, ...], options: Mapping[str, Any]) -> httpx.Response:
        try:
            answer = self._send(method, path, options)
            if answer.status_code == httpx.codes.UNAUTHORIZED:
                self._token = ""
                answer = self._send(method, path, options)
        except httpx.TransportError as error:
            raise RetriableError(
                f"Airflow at {self._identity.url} does not answer ({error}): start it, or correct airflow.url"
            ) from error
        if answer.is_error and answer.status_code not in fine:
            raise _refused(answer)
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
                "airflow.user", self._identity.user, "Airflow refused it: correct the user or airflow.password.file"
            )
        if answer.is_error:
            raise _refused(answer)
        return str(answer.json()["access_token"])


def _refused(answer: httpx.Response) -> ConnectError:
    request = answer.request
    text = f"Airflow answered {answer.status_code} to {request.method} {request.url.path}: {answer.text[:300]}"
    if answer.status_code == httpx.codes.NOT_FOUND:
        return NotFoundError(text)
    if answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR or answer.status_code in (409, 429):
        return RetriableError(text)
    return ConnectError(f"{text}. Check the rights of the service's user (airflow.user)")


def _dag_run(run: Mapping[str, Any]) -> DagRun:
    ended = run["end_date"]
    since = (datetime.now(UTC) - datetime.fromisoformat(ended)).total_seconds() if ended else None
    return DagRun(run["dag_id"], run["dag_run_id"], run["run_type"], run["state"], since)


def _part(text: str) -> str:
    return quote(text, safe="")

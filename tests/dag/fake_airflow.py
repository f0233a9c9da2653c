"""An HTTP server that answers as Airflow's API does where connect-core asks it, and counts what it is asked.

Left out: rights but that to delete runs, pages but of runs, filters by date but of a run's end, imports, pools, and any
run of its own: a test says which runs there are. A parse finds what ``stored`` holds at that moment. It can be silent:
connections are taken and nothing is ever answered, as by a stopped process.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from connect_core.dag.naming import HOUSEKEEPING_DAG_ID, dag_id_of

__all__ = ["FakeAirflow", "fake_airflow"]


@dataclass
class FakeAirflow:
    """What Airflow knows, and what was asked of it."""

    url: str = ""
    stored: set[str] = field(default_factory=set)
    """Connectors whose DAGs the next parse of the file finds."""
    dags: set[str] = field(default_factory=lambda: {HOUSEKEEPING_DAG_ID})
    paused: set[str] = field(default_factory=set)
    running: set[str] = field(default_factory=set)
    undeletable: set[str] = field(default_factory=set)
    """DAGs whose runs the service may not delete."""
    runs: list[dict[str, Any]] = field(default_factory=list)
    backfills: list[dict[str, Any]] = field(default_factory=list)
    """Those asked for; a DAG's second one is refused, as no test lets one end."""
    options: dict[str, str] = field(default_factory=dict)
    """Of its configuration, as far as it is exposed."""
    asked: Counter[str] = field(default_factory=Counter)
    most_at_once: int = 0
    seconds: float = 0.0
    is_silent: bool = False
    woken: threading.Event = field(default_factory=threading.Event)
    _at_once: int = 0
    _parses: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self, kind: str) -> None:
        """Count a request that begins; be slow, or silent until woken."""
        with self._lock:
            self.asked[kind] += 1
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        if self.is_silent:
            self.woken.wait(60)
        time.sleep(self.seconds)

    def leave(self) -> None:
        """Count a request that ends."""
        with self._lock:
            self._at_once -= 1

    def answer(self, method: str, path: list[str], query: dict[str, list[str]], body: Any) -> tuple[int, Any]:
        """Return status and JSON."""
        match method, path:
            case "POST", ["auth", "token"]:
                return 201, {"access_token": "token"}
            case "GET" | "PATCH", ["dags"]:
                return 200, self._list(method, query, body)
            case "POST", ["backfills"] | ["dags", "~", "dagRuns", "list"]:
                return self._backfill(body) if path == ["backfills"] else (200, self._list_runs(body))
            case "PATCH", ["dags", "~", "dagRuns"]:
                return self._delete_runs(body["actions"][0]["entities"])
            case "PUT", ["parseDagFile", _]:
                self._parse()
                return 201, None
            case "GET", ["config", *_, key]:
                return self._option(key)
            case _, ["dags", dag_id, *rest] if dag_id in self.dags:
                return self._of_dag(method, dag_id, rest)
        return 404, {"detail": "not found"}

    def _list(self, method: str, query: dict[str, list[str]], body: Any) -> Any:
        wanted = set(query.get("dag_id_pattern", [""])[0].split("|")) - {""}
        found = sorted(one for one in self.dags - {HOUSEKEEPING_DAG_ID} if not wanted or one in wanted)
        if method == "PATCH":
            self.paused = self.paused | set(found) if body["is_paused"] else self.paused - set(found)
        elif query.get("paused"):
            found = [one for one in found if one in self.paused]
        return {"dags": [{"dag_id": one} for one in found], "total_entries": len(found)}

    def _list_runs(self, body: Any) -> Any:
        last = datetime.fromisoformat(body.get("end_date_lte", "9999-12-31T00:00:00+00:00"))
        found = [
            one
            for one in self.runs
            if one["dag_id"] in body["dag_ids"]
            and one["state"] in body.get("states", [one["state"]])
            and ("end_date_lte" not in body or (one["end_date"] and datetime.fromisoformat(one["end_date"]) <= last))
        ]
        if body.get("order_by") == "end_date":
            found.reverse()
        page = found[body.get("page_offset", 0) :][: body.get("page_limit", 100)]
        return {"dag_runs": page, "total_entries": len(found)}

    def _delete_runs(self, entities: list[dict[str, str]]) -> tuple[int, Any]:
        if any(one["dag_id"] in self.undeletable for one in entities):
            return 403, {"detail": "Forbidden"}
        wanted = {(one["dag_id"], one["dag_run_id"]) for one in entities}
        # As Airflow: what is queued can be deleted, what runs cannot.
        fixed = {(one["dag_id"], one["dag_run_id"]) for one in self.runs if one["state"] == "running"} & wanted
        gone = wanted - fixed
        self.runs = [one for one in self.runs if (one["dag_id"], one["dag_run_id"]) not in gone]
        errors = [{"error": f"{run} cannot be deleted in running state", "status_code": 409} for _, run in fixed]
        return 200, {
            "create": None,
            "update": None,
            "delete": {"success": [str(one) for one in gone], "errors": errors},
        }

    def _backfill(self, body: dict[str, Any]) -> tuple[int, Any]:
        if body["dag_id"] not in self.dags:
            return 404, {"detail": f"Could not find dag {body['dag_id']}"}
        if datetime.fromisoformat(body["from_date"]) > datetime.now(UTC):
            return 422, {"detail": "Backfill cannot be executed for future dates."}
        if any(one["dag_id"] == body["dag_id"] for one in self.backfills):
            return 409, {"detail": f"There is already a running backfill for dag {body['dag_id']}"}
        self.backfills.append(body)
        return 200, {"id": len(self.backfills), **body}

    def _option(self, key: str) -> tuple[int, Any]:
        if key not in self.options:
            return 403, {"detail": "not exposed"}
        return 200, {"sections": [{"name": "database", "options": [{"key": key, "value": self.options[key]}]}]}

    def _of_dag(self, method: str, dag_id: str, rest: list[str]) -> tuple[int, Any]:
        if method == "DELETE" and dag_id in self.running:
            return 409, {}
        if method == "DELETE":
            self.dags.discard(dag_id)
            return 204, None
        if rest == ["dagRuns"]:
            return 200, {"dag_run_id": f"run of {dag_id}"} if method == "POST" else {"dag_runs": []}
        return 200, {"dag_id": dag_id, "is_stale": False, "file_token": "file", "last_parsed_time": str(self._parses)}

    def _parse(self) -> None:
        self._parses += 1
        self.dags |= set(map(dag_id_of, self.stored))

    def add_run(self, connector: str, state: str, seconds_since_end: float | None = None) -> None:
        """Let a connector have had a run; the newest first."""
        ended = None if seconds_since_end is None else datetime.fromtimestamp(time.time() - seconds_since_end, UTC)
        told = {"dag_id": dag_id_of(connector), "dag_run_id": str(len(self.runs)), "run_type": "scheduled"}
        self.runs.append({**told, "state": state, "end_date": ended.isoformat() if ended else None})


@contextmanager
def fake_airflow() -> Iterator[FakeAirflow]:
    """Serve on a free port of loopback."""
    airflow = FakeAirflow()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body in one packet: the second of two would wait for an acknowledgement.
        wbufsize = -1

        def _serve(self) -> None:
            address = urlsplit(self.path)
            path = address.path.removeprefix("/api/v2").strip("/").split("/")
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            airflow.enter(f"{self.command} {path[0] if len(path) == 1 else '/'.join((path[0], *path[2:]))}")
            try:
                status, told = airflow.answer(self.command, path, parse_qs(address.query), body)
            finally:
                airflow.leave()
            text = b"" if told is None else json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    airflow.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield airflow
    finally:
        airflow.woken.set()
        server.shutdown()
        server.server_close()
        thread.join()

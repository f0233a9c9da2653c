"""A server of an attacker's, and configurations by which somebody may try to have it called."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.rest.conftest import Client

__all__ = ["DELTA", "FILES", "ICEBERG", "LAKE", "Rogue", "refused", "rest", "rogue_running"]

ICEBERG = {
    "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
    "topics": "t",
    "iceberg.tables": "db.t",
    "iceberg.tables.auto-create-enabled": "true",
}


FILES = {"connector.class": "FileSystemSink", "topics": "t"}
DELTA = {"connector.class": "DeltaSink", "topics": "t", "path": "s3://bucket/lake"}
LAKE = {**ICEBERG, "iceberg.catalog.uri": "sqlite:///lake.db", "iceberg.catalog.warehouse": "s3://bucket/lake"}


@dataclass
class Rogue:
    """A server of the attacker's: answers each request so, and keeps what it was sent."""

    url: str
    answers: list[tuple[int, dict[str, str], Any]] = field(default_factory=list)
    seen: list[tuple[str, str]] = field(default_factory=list)
    """Path and headers of each request."""


@contextmanager
def rogue_running() -> Iterator[Rogue]:
    """Run a server that answers as it is told."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            running.seen.append((self.path, str(self.headers)))
            status, headers, content = running.answers[min(len(running.seen), len(running.answers)) - 1]
            body = json.dumps(content).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_PUT = do_POST = do_HEAD = do_DELETE = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running = Rogue(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()


def refused(call: Client, config: dict[str, str], *texts: str) -> str:
    answer = call("POST", "/connectors", {"name": "thief", "config": config})
    assert (answer.status, [one for one in texts if one not in answer.text]) == (400, []), answer.text
    assert call("GET", "/connectors").json == []
    return answer.text


def rest(rogue: Rogue) -> dict[str, str]:
    return {**ICEBERG, "iceberg.catalog.type": "rest", "iceberg.catalog.uri": rogue.url}

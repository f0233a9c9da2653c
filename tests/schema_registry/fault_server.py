"""A server that answers as it is told, for what a healthy registry does not do.

Leaves out: schemas, compatibility, ids, TLS, HTTP/2, keep-alive across faults.
"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Answer", "FaultServer", "fault_server", "refusal", "schema"]


@dataclass(frozen=True)
class Answer:
    """A status, a body and headers; ``seconds`` pass before each of ``pieces`` of the body, ``cut`` ends it early."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    pieces: int = 1
    cut: bool = False


def schema(**answer: Any) -> Answer:
    return Answer(body=json.dumps({"schema": '"int"', **answer}).encode())


def refusal(status: int, code: int, message: str = "no", **headers: str) -> Answer:
    return Answer(status, json.dumps({"error_code": code, "message": message}).encode(), headers)


@dataclass
class FaultServer:
    """``answers``: path → what is answered, the last one again and again. ``requests``: method, path and headers."""

    url: str
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    requests: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def count(self, path: str) -> int:
        return sum(found == path for _, found, _ in self.requests)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_: Any) -> None:
        """Whoever hung up did so on purpose."""


def _handler(server: Callable[[], FaultServer], lock: threading.Lock) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Else each answer waits for the other side's delayed acknowledgement.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            faults = server()
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with lock:
                faults.requests.append((self.command, self.path, dict(self.headers)))
                faults.bodies.append(body)
                place = faults.counts[self.path]
                faults.counts[self.path] += 1
            listed = faults.answers.get(self.path) or [refusal(404, 40403, "nothing here")]
            self._send(listed[min(place, len(listed) - 1)])

        do_POST = do_HEAD = do_GET

        def _send(self, answer: Answer) -> None:
            time.sleep(answer.seconds)
            self.send_response(answer.status)
            length = len(answer.body) + (1 if answer.cut else 0)
            for name, value in {"Content-Length": str(length), **answer.headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            if self.command == "HEAD":
                return
            size = max(len(answer.body) // answer.pieces, 1)
            for start in range(0, len(answer.body), size):
                self.wfile.write(answer.body[start : start + size])
                if answer.pieces > 1:
                    time.sleep(answer.seconds)
            self.close_connection = answer.cut

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    return Handler


@contextmanager
def fault_server() -> Iterator[FaultServer]:
    """Run it for the block."""
    found: list[FaultServer] = []
    server = _Server(("127.0.0.1", 0), _handler(lambda: found[0], threading.Lock()))
    found.append(FaultServer(f"http://127.0.0.1:{server.server_address[1]}"))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield found[0]
    finally:
        server.shutdown()
        server.server_close()

"""An HTTP proxy before a store that fails requests in the ways stores and networks do."""

from __future__ import annotations

import http.client
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

Matches = Callable[[str, str, bool], bool]
"""Whether a request is meant, given its method, its path with the query, and whether it copies."""

REQUESTS: dict[str, Matches] = {
    "put": lambda method, path, copies: method == "PUT" and "?" not in path and not copies,
    "copy": lambda method, path, copies: method == "PUT" and copies,
    "get": lambda method, path, copies: method == "GET" and "?" not in path,
    "list": lambda method, path, copies: method == "GET" and "list-type=2" in path,
    "delete": lambda method, path, copies: method == "DELETE" and "?" not in path,
    "begin": lambda method, path, copies: method == "POST" and "uploads" in path,
    "part": lambda method, path, copies: method == "PUT" and "partNumber" in path,
    "complete": lambda method, path, copies: method == "POST" and "uploadId" in path,
    "abort": lambda method, path, copies: method == "DELETE" and "uploadId" in path,
}
_LATE_SECONDS = 3.0
ERROR = '<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{text}</Message></Error>'


@dataclass
class Fault:
    """What happens to the next ``count`` requests that match.

    kind: ``answer`` with an error, ``lost`` (the same after the store has done it), ``hang``, ``reset`` in the middle
    of the request, ``cut`` in the middle of the answer, ``late`` (silence, and the store does it when nobody waits).
    """

    matches: Matches
    kind: str
    count: int = 1
    status: int = 500
    code: str = "InternalError"
    seen: int = 0
    forwarded_late: int = 0

    @property
    def is_over(self) -> bool:
        """Whether it has met as many requests as it shall."""
        return self.seen >= self.count


@dataclass
class FaultyStore:
    """Forwards to a store; ``fault`` is the one thing that goes wrong."""

    upstream: str
    fault: Fault | None = None
    without: frozenset[str] = frozenset()
    """Headers that do not arrive, in lower case: as at a store that does not know them."""
    url: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fail(self, request: str, kind: str, **more: object) -> Fault:
        """Let requests fail → the fault, which counts them."""
        self.fault = Fault(REQUESTS[request], kind, **more)  # type: ignore[arg-type]
        return self.fault

    def hit(self, method: str, path: str, copies: bool) -> Fault | None:
        """Return what happens to a request."""
        with self._lock:
            fault = self.fault
            if fault is None or fault.seen >= fault.count or not fault.matches(method, path, copies):
                return None
            fault.seen += 1
            return fault


@contextmanager
def faulty(upstream: str) -> Iterator[FaultyStore]:
    """Run a proxy before a store."""
    store = FaultyStore(upstream)

    class Handler(_Handler):
        proxy = store

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    store.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one packet, sent at once.
    wbufsize = -1
    disable_nagle_algorithm = True
    proxy: FaultyStore

    def handle_expect_100(self) -> bool:
        """Ask for the body at once: a client waits for this for a second."""
        done = super().handle_expect_100()
        self.wfile.flush()
        return done

    def do_GET(self) -> None:
        fault = self.proxy.hit(self.command, self.path, "x-amz-copy-source" in self.headers)
        if fault is not None and fault.kind == "reset":
            self.rfile.read(int(self.headers.get("Content-Length") or 0) // 2)
            self._reset()
            return
        body = self._body()
        if fault is not None and fault.kind == "hang":
            time.sleep(1.5)
            self._reset()
            return
        if fault is not None and fault.kind == "answer":
            self._answer(fault.status, [], ERROR.format(code=fault.code, text="as the test wants").encode())
            return
        if fault is not None and fault.kind == "late":
            self._reset()
            time.sleep(_LATE_SECONDS)
            self._forwarded(body)
            fault.forwarded_late += 1
            return
        status, headers, content = self._forwarded(body)
        if fault is not None and fault.kind == "lost":
            self._answer(500, [], ERROR.format(code="InternalError", text="after it was done").encode())
        elif fault is not None and fault.kind == "cut":
            self._answer(status, headers, content, len(content) // 2)
            self._reset()
        else:
            self._answer(status, headers, content)

    do_PUT = do_POST = do_DELETE = do_HEAD = do_GET

    def _body(self) -> bytes:
        """Return what was sent; AWS's client for C++ sends parts in chunks."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            """A trailer follows the last chunk."""
        return body

    def _forwarded(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        address = urlsplit(self.proxy.upstream)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)
        try:
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in self.proxy.without | {"expect", "connection", "transfer-encoding"}:
                    connection.putheader(name, value)
            if "Transfer-Encoding" in self.headers:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes, shown: int | None = None) -> None:
        self.send_response_only(status)
        length = str(len(content))
        for name, value in headers:
            if name.lower() == "content-length" and self.command == "HEAD":
                length = value
            elif name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[:shown])

    def _reset(self) -> None:
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

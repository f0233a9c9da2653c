"""The Connect cluster in memory behind a port, with a login or without."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from tests.migration.fake_connect import FakeConnect

__all__ = ["ServedConnect", "served_connect"]


@dataclass
class ServedConnect:
    """Where a cluster is; ``headers``: those of each request."""

    url: str
    there: FakeConnect
    headers: list[Mapping[str, str]] = field(default_factory=list)


@contextmanager
def served_connect(
    there: FakeConnect, login: str | None = None, *, is_required: bool = False
) -> Iterator[ServedConnect]:
    """Serve a cluster on 127.0.0.1 for a block.

    ``login``: the one ``USER:PASSWORD`` that is accepted; the refusal of another repeats what it was given.
    """
    accepted = "" if login is None else f"Basic {base64.b64encode(login.encode()).decode()}"

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            given = self.headers.get("Authorization")
            served.headers.append(dict(self.headers))
            if (given is not None and given != accepted) or (given is None and is_required):
                found = httpx.Response(401, json={"message": f"no such login: {given}"})
            else:
                found = there._handle(httpx.Request(self.command, f"http://x{self.path}", content=body))
            self.send_response(found.status_code)
            self.send_header("Content-Length", str(len(found.content)))
            self.end_headers()
            self.wfile.write(found.content)

        do_GET = do_PUT = do_PATCH = answer

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served = ServedConnect(f"http://127.0.0.1:{server.server_port}", there)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

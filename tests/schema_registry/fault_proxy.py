"""An HTTP proxy before a real registry, which fails as it is told. Leaves out: TLS, keep-alive, chunked bodies."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from tests.integration.ports import free_port

__all__ = ["Fault", "FaultProxy", "fault_proxy"]


@dataclass(frozen=True)
class Fault:
    """What becomes of requests whose path has ``of``: a status with a registry's code, or no answer at all.

    ``times``: of how many requests, ``None`` all of them.
    """

    status: int = 0
    code: int = 0
    of: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int | None = None


@dataclass
class FaultProxy:
    """``fault``: the present one, to be set at any time. ``failed``: how many requests it met. ``paths``: of all."""

    target: str
    port: int
    fault: Fault | None = None
    failed: int = 0
    paths: list[str] = field(default_factory=list)
    _server: ThreadingHTTPServer | None = None
    _healthy: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def break_down(self, fault: Fault) -> None:
        """Fail from now on."""
        self._healthy.clear()
        self.fault, self.failed = fault, 0

    def recover(self) -> None:
        """Pass everything on from now on; who still waits for an answer gets none."""
        self.fault = None
        self._healthy.set()

    def up(self) -> None:
        """Listen."""
        if self._server is None:
            self._server = _Server(("127.0.0.1", self.port), _handler(self))
            threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def down(self) -> None:
        """Refuse connections."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def meets(self, path: str) -> Fault | None:
        """Return the fault that a request meets."""
        self.paths.append(path)
        fault = self.fault
        if fault is None or fault.of not in path or (fault.times is not None and self.failed >= fault.times):
            return None
        self.failed += 1
        return fault

    def wait(self) -> None:
        """Wait as a server that hangs does."""
        self._healthy.wait(600)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, *_: object) -> None:
        """Whoever hung up did so on purpose."""


def _handler(proxy: FaultProxy) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fault = proxy.meets(self.path)
            if fault is None:
                headers = {name: self.headers[name] for name in ("Accept", "Content-Type") if name in self.headers}
                answer = httpx.request(
                    self.command, proxy.target + self.path, content=body, headers=headers, timeout=60
                )
                self._send(answer.status_code, answer.content, {})
            elif fault.status:
                told = {"error_code": fault.code or fault.status, "message": "as the test wants it"}
                self._send(fault.status, json.dumps(told).encode(), fault.headers)
            else:
                proxy.wait()

        do_POST = do_GET

        def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    return Handler


@contextmanager
def fault_proxy(target: str) -> Iterator[FaultProxy]:
    """Run it for the block. ``target``: the registry's address."""
    proxy = FaultProxy(target, free_port())
    proxy.up()
    try:
        yield proxy
    finally:
        proxy.recover()
        proxy.down()

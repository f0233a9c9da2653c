"""What somebody who is not known can make a running server hold: bytes, connections, time."""

from __future__ import annotations

import http.client
import http.server
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import psutil
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from connect_core.rest.connections import ConnectionLimits
from connect_core.rest.gateway import Gateway
from connect_core.rest.server import RestServer, serve_in_thread
from connect_core.settings import Listener

pytestmark = pytest.mark.slow

MEBIBYTE = 1 << 20
LOOPBACK = Listener("http", "127.0.0.1", 0)
SHORT = ConnectionLimits(connections=4, head_seconds=1.0, body_seconds=1.0, answer_seconds=1.5)


@dataclass(slots=True)
class Airflow:
    """A server that answers 401 without reading a body, as the API mounted in Airflow does; one token is known."""

    url: str = ""
    received: int = 0


@pytest.fixture
def airflow() -> Iterator[Airflow]:
    made = Airflow()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            while "known" in self.headers.get("Authorization", "") and (part := self.rfile.read1(MEBIBYTE)):
                made.received += len(part)
            self.close_connection = True
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        made.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield made
        server.shutdown()


@pytest.fixture
def gateway(airflow: Airflow) -> Iterator[RestServer]:
    server = serve_in_thread(Gateway(airflow.url), LOOPBACK)
    yield server
    server.stop()


def flood(port: int, head: str, megabytes: int) -> tuple[bytes, int]:
    """Send a body of zeros after the head → the answer's first line, and how many bytes were taken."""
    block, taken = b"0" * MEBIBYTE, 0
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head.encode())
        try:
            for _ in range(megabytes):
                connection.sendall(block)
                taken += len(block)
            return connection.recv(4096).split(b"\r\n")[0], taken
        except OSError:
            return b"", taken


@pytest.mark.parametrize(
    "request_head",
    [
        "POST /health HTTP/1.1\r\nHost: x\r\n",
        "POST /connectors HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer rubbish\r\n",
    ],
)
def test_unknown_senders_body_is_not_kept(gateway: RestServer, airflow: Airflow, request_head: str) -> None:
    process = psutil.Process(os.getpid())
    before = process.memory_info().rss
    peak, over = [before], threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            peak.append(process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    flood(gateway.port, f"{request_head}Content-Length: {400 * MEBIBYTE}\r\n\r\n", 400)
    over.set()
    watcher.join()
    assert max(peak) - before < 100 * MEBIBYTE


def test_body_beyond_the_limit_is_refused(gateway: RestServer, airflow: Airflow) -> None:
    head = "POST /connectors HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer known\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connect(gateway) as connection:
        connection.sendall(head.encode())
        send_until_refused(connection, b"100000\r\n" + b"0" * MEBIBYTE + b"\r\n", 20)
        assert connection.recv(4096).startswith(b"HTTP/1.1 413")
    assert 0 < airflow.received < 20 * MEBIBYTE


def connect(server: RestServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def send_until_refused(connection: socket.socket, block: bytes, times: int) -> bool:
    """Send a block again and again → whether the server closed the connection meanwhile."""
    try:
        for _ in range(times):
            connection.sendall(block)
    except OSError:
        return True
    return False


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["path"] == "/large":
        await PlainTextResponse(b"x" * 64 * MEBIBYTE)(scope, receive, send)
    elif scope["path"] == "/busy":
        # The server's loop stands still, and takes several connections at once afterwards.
        time.sleep(0.2)
        await PlainTextResponse("busy")(scope, receive, send)
    elif scope["path"] == "/read":
        while (await receive()).get("more_body"):
            pass
        await PlainTextResponse("read")(scope, receive, send)
    else:
        await PlainTextResponse("hello")(scope, receive, send)


@pytest.fixture
def short() -> Iterator[RestServer]:
    app: ASGIApp = hello
    server = serve_in_thread(app, LOOPBACK, SHORT)
    yield server
    server.stop()


def is_served(server: RestServer) -> bool:
    with connect(server) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        return connection.recv(4096).startswith(b"HTTP/1.1 200")


def test_endless_head_is_refused(short: RestServer) -> None:
    with connect(short) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        assert send_until_refused(connection, b"x" * MEBIBYTE, 64)


def test_endless_trailers_are_refused(short: RestServer) -> None:
    with connect(short) as connection:
        connection.sendall(b"POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ")
        assert send_until_refused(connection, b"x" * MEBIBYTE, 64)


@pytest.mark.parametrize("sent", [b"", b"GET / HTT", b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx"])
def test_request_that_does_not_go_on_is_ended(short: RestServer, sent: bytes) -> None:
    with connect(short) as connection:
        connection.sendall(sent)
        answer = connection.recv(4096)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 408")


def test_answer_that_is_not_read_is_dropped(short: RestServer) -> None:
    with connect(short) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(SHORT.answer_seconds + 1.5)
        assert received(connection) < 64 * MEBIBYTE


def received(connection: socket.socket) -> int:
    """Return how many bytes come before the connection ends."""
    count = 0
    try:
        while part := connection.recv(MEBIBYTE):
            count += len(part)
    except ConnectionResetError:
        pass
    return count


def test_idle_connections_do_not_keep_others_out() -> None:
    server = serve_in_thread(hello, LOOPBACK, ConnectionLimits(connections=4))
    try:
        held = [connect(server) for _ in range(12)]
        assert is_served(server)
        assert server.server.server_state.connections is not None
        assert len(server.server.server_state.connections) <= 4
        for one in held:
            one.close()
    finally:
        server.stop()


def test_newest_of_many_connections_taken_at_once_is_served() -> None:
    server = serve_in_thread(hello, LOOPBACK, ConnectionLimits(connections=4))
    try:
        for _ in range(5):
            with connect(server) as busy:
                busy.sendall(b"GET /busy HTTP/1.1\r\nHost: x\r\n\r\n")
                time.sleep(0.05)
                held = [connect(server) for _ in range(12)]
                assert is_served(server)
            for one in held:
                one.close()
    finally:
        server.stop()


def test_connection_that_is_kept_for_some_seconds_is_served(short: RestServer) -> None:
    """By default httpx, among others, keeps one for five seconds: a server that closes it then is met half way."""
    with closing(http.client.HTTPConnection("127.0.0.1", short.port, timeout=20)) as connection:
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"hello"
        kept = connection.sock
        time.sleep(5.5)
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"hello"
        assert connection.sock is kept


def test_connection_serves_many_requests(short: RestServer) -> None:
    with connect(short) as connection:
        for _ in range(3):
            connection.sendall(b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
            assert connection.recv(4096).startswith(b"HTTP/1.1 200")
            time.sleep(0.6)

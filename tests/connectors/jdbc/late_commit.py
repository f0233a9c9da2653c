"""A network that keeps a COMMIT for itself: the client sees its connection end, the server gets the COMMIT later."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import TracebackType

import sqlalchemy as sa

from tests.connectors.jdbc.servers import Server


class LateCommit:
    """Forwards to a database server; once armed, holds the next COMMIT back until ``release``."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._armed = threading.Event()
        self._held: list[tuple[socket.socket, bytes]] = []
        self.held = threading.Event()
        self._carried_out = threading.Event()
        self.port = int(self._listener.getsockname()[1])

    def arm(self) -> None:
        """Hold the next COMMIT back."""
        self._armed.set()

    def release(self) -> None:
        """Let the server have what was held, and wait for its answer: it is carried out by then."""
        server, data = self._held[-1]
        server.sendall(data)
        assert self._carried_out.wait(30), "the server ended the transaction before its COMMIT came"

    def __enter__(self) -> LateCommit:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        for server, _ in self._held:
            server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
                threading.Thread(target=self._requests, args=(client, server), daemon=True).start()
                threading.Thread(target=self._answers, args=(client, server), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        is_writing = False
        with suppress(OSError):
            while data := client.recv(1 << 16):
                # Drivers send others, such as after a SET.
                is_writing |= b"connect_offsets" in data
                if is_writing and data.rstrip(b"\0").endswith(b"COMMIT") and self._armed.is_set():
                    self._armed.clear()
                    self._held.append((server, data))
                    client.shutdown(socket.SHUT_RDWR)
                    client.close()
                    self.held.set()
                    return
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    def _answers(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 16):
                if any(server is one for one, _ in self._held):
                    self._carried_out.set()
                    return
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


@contextmanager
def late_commits(server: Server) -> Iterator[tuple[Server, LateCommit]]:
    """Yield the server as it is reached through such a network, and the network."""
    url = sa.make_url(server.config["connection.url"].removeprefix("jdbc:"))
    assert url.host is not None
    assert url.port is not None
    with LateCommit(url.host, url.port) as network:
        address = "jdbc:" + url.set(host="127.0.0.1", port=network.port).render_as_string(hide_password=False)
        yield replace(server, config={**server.config, "connection.url": address}), network

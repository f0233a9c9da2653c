"""A TCP proxy before one broker that can lose a request or its answer, and go dark."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from types import TracebackType

END_TXN = 26
"""The API key of a commit or abort."""


class BrokerProxy:
    """Forwards to one broker and pretends to be it: addresses in answers are rewritten.

    ``lose_answer`` and ``lose_request`` arm it: at the next request of an API
    key, everything goes dark (after, or before, the broker has seen it) until
    ``heal``. New connections are refused meanwhile.
    """

    def __init__(self, broker: str) -> None:
        host, _, port = broker.rpartition(":")
        self._broker = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.bootstrap = f"127.0.0.1:{self.port}"
        self._lock = threading.Lock()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._armed: tuple[int, bool] | None = None
        self._swallowed = threading.Event()
        self.dark = threading.Event()
        self._deaf = threading.Event()

    def lose_answer(self, api_key: int = END_TXN) -> None:
        """Let the broker have the next request of this kind, and the client no answer."""
        self._armed = (api_key, True)

    def lose_request(self, api_key: int = END_TXN) -> None:
        """Swallow the next request of this kind."""
        self._armed = (api_key, False)

    def heal(self) -> None:
        """Forward again."""
        self._armed = None
        self._swallowed.clear()
        self.dark.clear()
        self._deaf.clear()

    def deafen(self) -> None:
        """Keep the connections, and drop all answers from now on, as if the broker's process stood still."""
        self._deaf.set()

    def cut(self) -> None:
        """Go dark now: reset all connections, refuse new ones."""
        self.dark.set()
        with self._lock:
            for pair in self._pairs:
                for end in pair:
                    _reset(end)
            self._pairs.clear()

    def __enter__(self) -> BrokerProxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.dark.is_set():
                _reset(client)
                continue
            broker = socket.create_connection(self._broker)
            with self._lock:
                self._pairs.append((client, broker))
            threading.Thread(target=self._requests, args=(client, broker), daemon=True).start()
            threading.Thread(target=self._answers, args=(broker, client), daemon=True).start()

    def _requests(self, client: socket.socket, broker: socket.socket) -> None:
        with suppress(OSError):
            while frame := _frame(client):
                (api_key,) = struct.unpack_from(">h", frame, 4)
                armed = self._armed
                if armed and armed[0] == api_key:
                    self.dark.set()
                    if armed[1]:
                        broker.sendall(frame)
                        self._swallowed.wait(10)
                    self.cut()
                    return
                broker.sendall(frame)
        _reset(broker)

    def _answers(self, broker: socket.socket, client: socket.socket) -> None:
        host = self._broker[0].encode()
        theirs, ours = host + struct.pack(">i", self._broker[1]), host + struct.pack(">i", self.port)
        with suppress(OSError):
            while frame := _frame(broker):
                if self.dark.is_set():
                    self._swallowed.set()
                    return
                if not self._deaf.is_set():
                    client.sendall(frame.replace(theirs, ours))
        if not self.dark.is_set():
            _reset(client)


def _frame(source: socket.socket) -> bytes:
    head = _exactly(source, 4)
    return head + _exactly(source, struct.unpack(">i", head)[0]) if head else b""


def _exactly(source: socket.socket, count: int) -> bytes:
    parts = b""
    while len(parts) < count:
        part = source.recv(count - len(parts))
        if not part:
            return b""
        parts += part
    return parts


def _reset(end: socket.socket) -> None:
    with suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end.close()

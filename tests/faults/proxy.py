"""TCP proxies that lose the reply to a commit: the request arrives, its answer never does."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable

_END_TXN = 26
"""Kafka's API key of EndTxn, by which a transaction is committed or aborted."""


class Proxy:
    """Forwards connections to ``127.0.0.1:target``; armed, it cuts one at the reply to a commit."""

    def __init__(self, target: Callable[[], int], watch: Callable[[], Watch]) -> None:
        self._target = target
        self._watch = watch
        self._server = socket.create_server(("127.0.0.1", 0))
        self._armed = 0
        self._lock = threading.Lock()
        self.lost = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        """Where clients connect to."""
        return int(self._server.getsockname()[1])

    def lose_replies(self, count: int) -> None:
        """Lose the replies to the next ``count`` commits."""
        with self._lock:
            self._armed += count

    @property
    def is_armed(self) -> bool:
        """Whether a reply is still to be lost."""
        return self._armed > 0

    def take(self) -> bool:
        """Use up one loss, if any is left."""
        with self._lock:
            taken = self._armed > 0
            self._armed -= taken
            self.lost += taken
            return taken

    def _accept(self) -> None:
        while True:
            client, _ = self._server.accept()
            with contextlib.suppress(OSError):
                server = socket.create_connection(("127.0.0.1", self._target()), 5)
                server.settimeout(None)
                watch = self._watch()
                pair = (client, server)
                threading.Thread(target=self._pass, args=(pair, watch.sent, False), daemon=True).start()
                threading.Thread(target=self._pass, args=(pair[::-1], watch.answered, True), daemon=True).start()
                continue
            client.close()

    def _pass(self, pair: tuple[socket.socket, socket.socket], look: Callable[[bytes], bool], is_answer: bool) -> None:
        source, sink = pair
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if look(data) and is_answer and self.take():
                    break
                sink.sendall(data)
        for end in pair:
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class Watch:
    """Looks at one connection's bytes in both directions."""

    def sent(self, data: bytes) -> bool:
        """Look at what the client sent; the answer does not matter."""
        raise NotImplementedError

    def answered(self, data: bytes) -> bool:
        """Return whether this is the answer to a commit."""
        raise NotImplementedError


class KafkaWatch(Watch):
    """Knows EndTxn requests by their API key and their answers by the correlation id."""

    def __init__(self) -> None:
        self._requests, self._answers = b"", b""
        self._commits: set[int] = set()

    def sent(self, data: bytes) -> bool:
        """Remember the correlation ids of EndTxn."""
        self._requests += data
        while frame := self._frame("_requests"):
            api, _, correlation = struct.unpack(">hhi", frame[:8])
            if api == _END_TXN:
                self._commits.add(correlation)
        return False

    def answered(self, data: bytes) -> bool:
        """Return whether an answer to EndTxn is in these bytes."""
        self._answers += data
        found = False
        while frame := self._frame("_answers"):
            found |= struct.unpack(">i", frame[:4])[0] in self._commits
        return found

    def _frame(self, which: str) -> bytes:
        waiting: bytes = getattr(self, which)
        if len(waiting) < 4 or len(waiting) < 4 + (size := struct.unpack(">i", waiting[:4])[0]):
            return b""
        setattr(self, which, waiting[4 + size :])
        return waiting[4 : 4 + size]


class PostgresWatch(Watch):
    """Knows a commit by its statement; the next bytes from the server are its answer."""

    def __init__(self) -> None:
        self._is_committing = False

    def sent(self, data: bytes) -> bool:
        """Note whether a COMMIT is under way."""
        self._is_committing = b"COMMIT" in data
        return False

    def answered(self, data: bytes) -> bool:
        """Return whether these bytes answer a COMMIT."""
        return self._is_committing

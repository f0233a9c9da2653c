"""TCP proxies before the servers: they lose the reply to a commit, hold bytes back, slow them down, or cut."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum

_END_TXN = 26
"""Kafka's API key of EndTxn, by which a transaction is committed or aborted."""


_SLOW_SECONDS = 0.05


class Network(Enum):
    """What the network does to bytes on their way."""

    WHOLE = "passes them on"
    SLOW = "passes them on late"
    DEAF = "passes requests on, and no answer"
    CUT = "passes nothing on"


class Proxy:
    """Forwards connections to ``127.0.0.1:target``; armed, it cuts one at the reply to a commit.

    Bytes held back by a network that is not whole arrive when it is again, as
    TCP would send them again.
    """

    def __init__(self, target: Callable[[], int], watch: Callable[[], Watch]) -> None:
        self._target = target
        self._watch = watch
        self._server = socket.create_server(("127.0.0.1", 0))
        self._armed = 0
        self._network = Network.WHOLE
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self.lost = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        """Where clients connect to."""
        return int(self._server.getsockname()[1])

    @contextmanager
    def network(self, state: Network) -> Iterator[None]:
        """Let the network be so while the block runs."""
        self._network = state
        try:
            yield
        finally:
            self._network = Network.WHOLE

    def reset(self) -> int:
        """End every connection by RST → how many there were."""
        with self._lock:
            ends, self._open = self._open, []
        return sum(_reset(end) for end in ends)

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
                with self._lock:
                    self._open.append(client)
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
                self._hold(is_answer)
                sink.sendall(data)
        for end in pair:
            _reset(end)
        with self._lock:
            self._open = [end for end in self._open if end not in pair]

    def _hold(self, is_answer: bool) -> None:
        if self._network is Network.SLOW:
            time.sleep(_SLOW_SECONDS)
        while self._network is Network.CUT or (self._network is Network.DEAF and is_answer):
            time.sleep(0.02)


def _reset(end: socket.socket) -> bool:
    """End a connection by RST → whether it was open."""
    was_open = end.fileno() != -1
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end.shutdown(socket.SHUT_RDWR)
    end.close()
    return was_open


class Watch:
    """Looks at one connection's bytes in both directions; this one knows no commit."""

    def sent(self, data: bytes) -> bool:
        """Look at what the client sent; the answer does not matter."""
        return False

    def answered(self, data: bytes) -> bool:
        """Return whether this is the answer to a commit."""
        return False


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

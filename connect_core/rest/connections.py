"""Limits of one connection: bytes until a request can be parsed, seconds for each of its parts."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

__all__ = ["BoundedProtocol", "ConnectionLimits"]

_TURNS = itertools.count()
"""Orders connections by idle time: the loop's clock does not advance while it accepts several at once."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits that apply before authentication; seconds are counted from the end of the previous part.

    ``head_bytes`` also limits trailers and any other bytes that are not part of a body.
    """

    connections: int = 256
    head_bytes: int = 64 * 1024
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    answer_seconds: float = 150.0


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 with limits: by itself it waits for a request for ever, and keeps unlimited headers."""

    def __init__(self, *, limits: ConnectionLimits, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._limits = limits
        self._timer: asyncio.TimerHandle | None = None
        self._is_receiving = False
        self._steps = 0
        self._stray_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection; beyond the limit, drop the one that has been idle for longest."""
        super().connection_made(transport)
        self._since = next(_TURNS)
        if len(self.connections) > self._limits.connections:
            idle = [one for one in self.connections if isinstance(one, BoundedProtocol) and one.is_idle]
            min(idle, key=lambda one: one._since)._make_room()
        self._allow(self._limits.head_seconds)

    def _make_room(self) -> None:
        # connection_lost is called later: until then it would be chosen again.
        self.connections.discard(self)
        self.transport.abort()

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._forget_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; refuse a request that sends too many bytes without completing any part."""
        before = self._steps
        super().data_received(data)
        self._stray_bytes = self._stray_bytes + len(data) if self._steps == before else 0
        if self._stray_bytes > self._limits.head_bytes and not self.transport.is_closing():
            self._refuse(431)

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._steps += 1
        self._is_receiving = True
        self._allow(self._limits.head_seconds)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Begin the body and the response."""
        self._steps += 1
        self._allow(self._limits.body_seconds)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._steps += 1
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request; the response may have been complete before the body."""
        self._steps += 1
        self._is_receiving = False
        if self.is_idle:
            self._forget_timer()
        else:
            self._allow(self._limits.answer_seconds)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """End a response; a body that is still arriving, and bytes not read yet, keep their limit."""
        self._since = next(_TURNS)
        if not self._is_receiving and not self.flow.write_paused:
            self._forget_timer()
        super().on_response_complete()

    def resume_writing(self) -> None:
        """Continue once the client has read."""
        super().resume_writing()
        if self.is_idle and not self._is_receiving:
            self._forget_timer()

    def _allow(self, seconds: float) -> None:
        self._forget_timer()
        self._timer = self.loop.call_later(seconds, self._end_late)

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_late(self) -> None:
        if self._is_receiving:
            self._refuse(408)
        else:
            # Aborted, not closed: a client that does not read would keep the response in memory for ever.
            self.transport.abort()

    def _refuse(self, status: int) -> None:
        if self.is_idle or not self.cycle.response_started:
            self.transport.write(STATUS_LINE[status] + b"connection: close\r\ncontent-length: 0\r\n\r\n")
        self.transport.close()
        # Do not wait longer for the client to read it.
        self.loop.call_later(1.0, self.transport.abort)

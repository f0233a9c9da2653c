"""A running host: requests and responses, events, its end."""

from __future__ import annotations

import itertools
import logging
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

from connect_core.errors import ConnectError
from connect_core.java_host.errors import HostEndedError, HostTimeoutError, java_error
from connect_core.java_host.frames import Frame, read_frame, write_frame
from connect_core.java_host.logs import HostLog, java_levels
from connect_core.java_host.process import HostProcess
from connect_core.java_host.settings import HostSettings

__all__ = ["JavaHost", "Lane", "checked"]

_LOG = logging.getLogger(__name__)
_START_SECONDS = 60.0
_END_SECONDS = 3.0
_NOWHERE = 0
_CRASH = re.compile(r"#\s+(SIG[A-Z]+|Internal Error) \(")
"""How the Java process reports a crash of native code."""

EventHandler = Callable[[Mapping[str, Any]], None]


class JavaHost:
    """One Java process; calls may come from any thread. End it with ``close``.

    ``lanes``: how many it has opened so far.
    """

    def __init__(self, process: HostProcess, settings: HostSettings, name: str) -> None:
        self.name = name
        self.settings = settings
        self.process = process
        self.lanes = 0
        self._has_failed = False
        self.log = HostLog(process.output, name)
        self._writing = threading.Lock()
        self._numbers = itertools.count(1)
        self._targets = itertools.count(1)
        self._open: dict[int, Future[Frame]] = {}
        self._handlers: dict[int, EventHandler] = {}
        self._lock = threading.Lock()
        self._ended: ConnectError | None = None
        self._reader = threading.Thread(target=self._read, name=f"responses of {name}", daemon=True)
        self._reader.start()

    @classmethod
    def start(cls, settings: HostSettings, name: str, seconds: float = _START_SECONDS) -> JavaHost:
        """Start a host and wait until it has its plugins. Raise ConnectError."""
        host = cls(HostProcess.start(settings), settings, name)
        plugins = {"worker": settings.search} if settings.known is None else {"plugins": list(settings.known)}
        try:
            host.call("host.hello", {**plugins, "levels": java_levels()}, seconds=seconds)
        except ConnectError:
            host.kill()
            raise
        return host

    @property
    def is_alive(self) -> bool:
        """Whether it still responds."""
        return self._ended is None and not self.process.wait(0)

    def open(self, kind: str, spec: Mapping[str, Any], on_event: EventHandler | None = None) -> Lane:
        """Create an object of a plugin in the host → the lane for its calls. Raises as ``call``."""
        self.lanes = target = next(self._targets)
        if on_event is not None:
            self._handlers[target] = on_event
        lane = Lane(self, target)
        lane.call("host.open", {"kind": kind, **spec})
        return lane

    def call(
        self,
        op: str,
        header: Mapping[str, Any] | None = None,
        buffers: Sequence[Any] = (),
        *,
        target: int = _NOWHERE,
        seconds: float | None = None,
    ) -> Frame:
        """Send a request and return the response.

        Raise what the plugin threw (``java_error``), HostEndedError, and HostTimeoutError if no response came in time.
        """
        return checked(self.receive(self.send(op, header, buffers, target=target), op, seconds))

    def send(
        self, op: str, header: Mapping[str, Any] | None = None, buffers: Sequence[Any] = (), *, target: int = _NOWHERE
    ) -> Future[Frame]:
        """Send a request → the future of its response. Raises HostEndedError."""
        number = next(self._numbers)
        answer: Future[Frame] = Future()
        with self._lock:
            if self._ended is not None:
                raise self._ended
            self._open[number] = answer
        try:
            with self._writing:
                write_frame(
                    self.process.requests, {"id": number, "op": op, "target": target, **(header or {})}, buffers
                )
        except OSError:
            # The reader sets the reason in the future.
            self._reader.join(_END_SECONDS)
        return answer

    def receive(self, answer: Future[Frame], op: str, seconds: float | None = None) -> Frame:
        """Wait for a response, which contains what the plugin threw. Raise HostEndedError, HostTimeoutError."""
        try:
            return answer.result(seconds)
        except FutureTimeout:
            raise HostTimeoutError(f"{self.name} did not respond to {op} within {seconds:g} s") from None

    def is_reusable(self) -> bool:
        """Return whether it is as good as new: no plugin has thrown, left threads behind or filled the heap."""
        if self._has_failed or not self.is_alive:
            return False
        try:
            return bool(self.call("host.reusable", seconds=_END_SECONDS).header["reusable"])
        except ConnectError:
            return False

    def threads(self, seconds: float = 2.0) -> str:
        """Return the stack of each thread of the process; empty if it does not respond."""
        try:
            return str(self.call("host.threads", seconds=seconds).header["threads"])
        except ConnectError:
            return ""

    def close(self, seconds: float = _END_SECONDS) -> None:
        """Let the plugins stop, then end the process. May be called again."""
        self._end(HostEndedError(f"{self.name} is closed"))
        self.process.finish(seconds)

    def kill(self) -> None:
        """End the process at once."""
        self._end(HostEndedError(f"{self.name} was terminated"))
        self.process.kill()
        self.process.finish(0)

    def _read(self) -> None:
        answers = self.process.answers
        try:
            while True:
                self._take(read_frame(answers))
        except (EOFError, OSError):
            self._end(self._what_happened())
        finally:
            os.close(answers)

    def _take(self, frame: Frame) -> None:
        if "event" in frame.header:
            handler = self._handlers.get(frame.header["target"])
            if handler is not None:
                handler(frame.header)
            return
        self._has_failed = self._has_failed or "error" in frame.header
        with self._lock:
            answer = self._open.pop(frame.header["id"], None)
        if answer is not None:
            answer.set_result(frame)

    def _what_happened(self) -> ConnectError:
        """Return why the process has ended, with its last output."""
        if self._ended is not None:
            return self._ended
        self.process.wait(_END_SECONDS)
        lines = self.log.last_lines()
        told = _told(lines)
        error = HostEndedError(f"The Java process of {self.name} ended ({self.process.ending()}){told}")
        if lines:
            error.add_note("\n".join(lines))
        return error

    def _end(self, error: ConnectError) -> None:
        with self._lock:
            self._ended = self._ended or error
            waiting, self._open = list(self._open.values()), {}
        for answer in waiting:
            answer.set_exception(self._ended)


def checked(frame: Frame) -> Frame:
    """Return a response. Raise what the plugin threw, if anything."""
    if "error" in frame.header:
        raise java_error(frame.header["error"])
    return frame


def _told(lines: Sequence[str]) -> str:
    """Return the cause in the last lines, with its remedy if there is one."""
    for line in reversed(lines):
        if "OutOfMemoryError" in line:
            return f": {line}. Raise java.plugin.heap"
        if "System.exit was called" in line:
            return f": {line}"
        if "UnsupportedClassVersionError" in line:
            return f": {line}. Use a newer Java"
        if _CRASH.match(line):
            return f": native code crashed, {line.strip('# ')}"
    return f": {lines[-1]}" if lines else ""


class Lane:
    """One object of a plugin in a host; its calls are run there one after the other."""

    def __init__(self, host: JavaHost, target: int) -> None:
        self.host = host
        self.target = target

    def call(
        self,
        op: str,
        header: Mapping[str, Any] | None = None,
        buffers: Sequence[Any] = (),
        seconds: float | None = None,
    ) -> Frame:
        """Send a request and return the response. Raises as ``JavaHost.call``."""
        return self.host.call(op, header, buffers, target=self.target, seconds=seconds)

    def ask(self, op: str, header: Mapping[str, Any], buffers: Sequence[Any]) -> Frame:
        """Send a request and return the response, which contains what the plugin threw."""
        return self.host.receive(self.send(op, header, buffers), op)

    def send(self, op: str, header: Mapping[str, Any] | None = None, buffers: Sequence[Any] = ()) -> Future[Frame]:
        """Send a request → the future of its response."""
        return self.host.send(op, header, buffers, target=self.target)

    def close(self, seconds: float | None = None) -> None:
        """Stop the object. Raises as ``call``."""
        self.host._handlers.pop(self.target, None)
        self.call("host.close", seconds=seconds)

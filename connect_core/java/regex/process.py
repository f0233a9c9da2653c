"""A process that matches regular expressions without a time bound, and is killed when one takes too long."""

from __future__ import annotations

import json
import os
import pkgutil
import select
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import IO, Any, cast

from connect_core.errors import IllegalArgumentError

__all__ = ["ask"]

_SECONDS = 60.0
"""Longest wait for a response or the start on a busy machine; the process itself ends after 2 s of CPU time."""


@dataclass(slots=True)
class _Matcher:
    """A child process, started by the first request; it handles one request at a time."""

    owner: int = 0
    child: subprocess.Popen[bytes] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the response. Raise IllegalArgumentError if there is none in time."""
        with self.lock:
            child = self._running()
            try:
                cast(IO[bytes], child.stdin).write(json.dumps(question).encode() + b"\n")
                line = _line(child)
            except BrokenPipeError:
                line = b""
            if not line:
                self._end(child)
                shown = question["pattern"][:100]
                raise IllegalArgumentError(
                    f"The regular expression {shown} takes too long or too much memory: write it without nested "
                    "repetition, lookaround and back references"
                )
            return cast(dict[str, Any], json.loads(line))

    def _running(self) -> subprocess.Popen[bytes]:
        # After a fork the child process belongs to the parent.
        if self.child is None or self.owner != os.getpid() or self.child.poll() is not None:
            program = pkgutil.get_data(__package__, "matcher.py") or b""
            command = [sys.executable, "-I", "-S", "-c", program.decode()]
            self.child = subprocess.Popen(
                command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self.owner = os.getpid()
            if not _line(self.child):
                self._end(self.child)
                raise IllegalArgumentError("The process that matches regular expressions does not start")
        return self.child

    def _end(self, child: subprocess.Popen[bytes]) -> None:
        child.kill()
        child.wait()
        self.child = None


def _line(child: subprocess.Popen[bytes]) -> bytes:
    """Return the next line of the child; empty if it does not arrive in time, or the child has ended."""
    output = cast(IO[bytes], child.stdout).fileno()
    poll = select.poll()
    poll.register(output, select.POLLIN)
    found, until = b"", time.monotonic() + _SECONDS
    while not found.endswith(b"\n"):
        ready = poll.poll(max(0.0, until - time.monotonic()) * 1000)
        part = os.read(output, 1 << 16) if ready else b""
        if not part:
            return b""
        found += part
    return found


_MATCHER = _Matcher()


def _unlocked() -> None:
    # A thread of the parent may have held the lock while it forked.
    _MATCHER.lock = threading.Lock()


os.register_at_fork(after_in_child=_unlocked)


def ask(act: str, pattern: str, **more: Any) -> dict[str, Any]:
    """Let the process describe, match or check a pattern → its response.

    Raise IllegalArgumentError when it takes more than 2 s of CPU time or 512 MiB.
    """
    return _MATCHER.ask({"act": act, "pattern": pattern, **more})

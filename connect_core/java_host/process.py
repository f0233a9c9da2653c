"""The operating system's side of a host: its pipes, its process, its end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
from dataclasses import dataclass, field

from connect_core.errors import ConnectError
from connect_core.java_host.settings import HostSettings, environment

__all__ = ["HostProcess"]

_PIPE_BYTES = 1 << 20


@dataclass(slots=True)
class HostProcess:
    """A Java process and this side's ends of its pipes; it ends when ``requests`` is closed everywhere.

    It leads its own session: signals of the terminal to this process do not reach it, and the processes it starts end
    with it.
    """

    pid: int
    requests: int
    answers: int
    output: int
    _handle: int = field(default=-1)
    _child: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._handle = os.pidfd_open(self.pid)

    @classmethod
    def start(cls, settings: HostSettings) -> HostProcess:
        """Start a host. Raise ConnectError if Java or Connect's jars are missing."""
        requests_read, requests = _pipe()
        answers, answers_write = _pipe()
        output, output_write = os.pipe()
        try:
            child = subprocess.Popen(
                settings.command(answers_write),
                stdin=requests_read,
                stdout=output_write,
                stderr=output_write,
                pass_fds=(answers_write,),
                env=environment(),
                start_new_session=True,
            )
        except (OSError, ConnectError) as error:
            for one in (requests, answers, output):
                os.close(one)
            if isinstance(error, ConnectError):
                raise
            raise ConnectError(f"Java cannot be started: {error.strerror}") from error
        finally:
            for one in (requests_read, answers_write, output_write):
                os.close(one)
        return cls(child.pid, requests, answers, output, _child=child)

    def wait(self, seconds: float) -> bool:
        """Wait for the process to end → whether it has ended."""
        ended = self._handle < 0 or self._is_readable(seconds)
        if ended and self._child is not None:
            self._child.wait()
        return ended

    def _is_readable(self, seconds: float) -> bool:
        # Not select(), which accepts no descriptor above 1,023.
        poller = select.poll()
        poller.register(self._handle, select.POLLIN)
        return bool(poller.poll(round(seconds * 1000)))

    def ending(self) -> str:
        """Return how an ended process has ended, as far as known."""
        code = None if self._child is None else self._child.returncode
        if code is None:
            return "it no longer exists"
        if code < 0:
            return f"ended by {signal.Signals(-code).name}"
        return f"exit code {code}"

    def finish(self, seconds: float) -> None:
        """Let the process end by itself, else kill it; the processes it has started end with it."""
        self._close_requests()
        self.wait(seconds)
        self.kill()
        self._release()

    def kill(self) -> None:
        """Kill the process and those it has started, at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self.wait(10)

    def _close_requests(self) -> None:
        if self.requests >= 0:
            os.close(self.requests)
            self.requests = -1

    def _release(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _pipe() -> tuple[int, int]:
    read, write = os.pipe()
    with contextlib.suppress(OSError):
        # A user's pipes have a total limit; smaller ones work as well.
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return read, write

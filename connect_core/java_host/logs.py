"""Passes a host's log lines and output to the Python loggers of the same names."""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import orjson

__all__ = ["HostLog", "java_levels"]

_LOG = logging.getLogger(__name__)
_MARK = b"\x1e"
_KEPT_LINES = 40
_LONGEST_LINE = 1 << 20

_INFO = logging.INFO
_QUIET = {
    # These loggers list every plugin and every setting at each start.
    "org.apache.kafka.common.config": logging.WARNING,
    "org.apache.kafka.connect.runtime.isolation": logging.WARNING,
}


class HostLog:
    """Reads a host's output to its end, in a separate thread, and remembers the last lines it printed.

    ``name``: what the host is used for, for lines without a logger. ``clean`` removes secrets from every line.
    """

    def __init__(self, descriptor: int, name: str, clean: Callable[[str], str] = str) -> None:
        self.clean = clean
        self.name = name
        self._descriptor = descriptor
        self._printed: deque[str] = deque(maxlen=_KEPT_LINES)
        self._thread = threading.Thread(target=self._read, name=f"log of {name}", daemon=True)
        self._thread.start()

    def last_lines(self, seconds: float = 1.0) -> list[str]:
        """Return the last lines that were printed; complete if the host has ended."""
        self._thread.join(seconds)
        return list(self._printed)

    def _read(self) -> None:
        try:
            # Closed with the thread, not earlier: another file could have the same descriptor by then.
            with os.fdopen(self._descriptor, "rb") as output:
                while line := output.readline(_LONGEST_LINE):
                    self._take(line)
        except (OSError, ValueError):
            return

    def _take(self, line: bytes) -> None:
        if not line.startswith(_MARK):
            # By Java itself, or by a process that a plugin has started.
            self._take_printed(self.clean(line.decode(errors="replace").rstrip()))
            return
        try:
            told = orjson.loads(line[1:])
        except ValueError:
            return
        message = self._message(told)
        if "logger" not in told:
            self._take_printed(message.rstrip())
            return
        logger = logging.getLogger(told["logger"])
        if logger.isEnabledFor(told["level"]):
            trace = f"\n{self.clean(told['trace'])}" if "trace" in told else ""
            logger.log(told["level"], "%s: %s", self.name, f"{message}{trace}")

    def _take_printed(self, text: str) -> None:
        self._printed.append(text)
        _LOG.info("%s printed: %s", self.name, text)

    def _message(self, told: Mapping[str, Any]) -> str:
        """Return a message without secrets, and only then cut: a part of a secret would not be recognized."""
        text = self.clean(str(told["message"]))
        longest = told["longest"]
        if "margin" in told:
            # The sender's cut may have left part of a secret at the end.
            longest = min(longest, max(0, len(text) - told["margin"]))
        return text if len(text) <= longest else f"{text[:longest]}..."


def java_levels() -> dict[str, int]:
    """Return a host's initial log levels: those of this process's loggers; Java's root at INFO unless set."""
    root = logging.getLogger().level
    levels = {"root": max(root, _INFO) if root else _INFO, **_QUIET}
    for name, one in list(logging.root.manager.loggerDict.items()):
        if isinstance(one, logging.Logger) and one.level:
            levels[name] = one.level
    return levels

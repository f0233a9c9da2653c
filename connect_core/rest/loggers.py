"""Levels of this process's loggers, with Connect's names (KIP-495, KIP-976)."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from types import MappingProxyType

from typing_extensions import TypedDict

from connect_core.errors import NotFoundError

__all__ = ["LoggerLevel", "Loggers"]

_ROOT = "root"
_LEVELS = MappingProxyType(
    {
        "ALL": 1,
        "TRACE": 5,
        "DEBUG": logging.DEBUG,
        "INFO": logging.INFO,
        "WARN": logging.WARNING,
        "ERROR": logging.ERROR,
        "FATAL": logging.CRITICAL,
        "OFF": logging.CRITICAL + 1,
    }
)


class LoggerLevel(TypedDict):
    """A logger's level, and when it was set here in Unix milliseconds."""

    level: str
    last_modified: int | None


@dataclass(slots=True)
class Loggers:
    """Shows and sets levels, and keeps when each was set."""

    _set_at: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def show_all(self) -> dict[str, LoggerLevel]:
        """Return every logger with its level, by name."""
        return {name: self._shown(name) for name in sorted({_ROOT, *_names()})}

    def show(self, name: str) -> LoggerLevel:
        """Return one logger with its level. Raise NotFoundError."""
        if name != _ROOT and name not in _names():
            raise NotFoundError(f"Logger {name} not found.")
        return self._shown(name)

    def set_level(self, name: str, level: str) -> list[str]:
        """Set the level of a logger and its descendants → the names of those that changed.

        Raise NotFoundError for an unknown level, as Connect does.
        """
        number = _LEVELS.get(level.strip().upper())
        if number is None:
            raise NotFoundError(f"invalid log level '{level}'.")
        with self._lock:
            _logger(name)
            beneath = _names() if name == _ROOT else [one for one in _names() if one.startswith(f"{name}.")]
            changed = [one for one in sorted({name, *beneath}) if _logger(one).level != number]
            for one in changed:
                _logger(one).setLevel(number)
                self._set_at[one] = int(time.time() * 1000)
        return changed

    def _shown(self, name: str) -> LoggerLevel:
        return {"level": _word(_logger(name).getEffectiveLevel()), "last_modified": self._set_at.get(name)}


def _names() -> list[str]:
    known = logging.root.manager.loggerDict
    return [name for name, one in list(known.items()) if isinstance(one, logging.Logger)]


def _logger(name: str) -> logging.Logger:
    return logging.getLogger() if name == _ROOT else logging.getLogger(name)


def _word(level: int) -> str:
    known = [word for word, number in _LEVELS.items() if number <= level]
    return known[-1] if known else "ALL"

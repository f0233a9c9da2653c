"""How long the engine waits for a task's code."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Timeouts"]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Times in seconds.

    ``hook_seconds``: a call of a hook, ``poll`` excepted (``hook.timeout.ms``);
    ``retry_seconds``: how long records are put again before the attempt ends;
    ``flush_seconds``: between two calls of ``pre_commit`` (``offset.flush.interval.ms``);
    ``stop_seconds``: ``stop``, and a poll to return after it (``task.shutdown.graceful.timeout.ms``).
    """

    hook_seconds: float = 300.0
    retry_seconds: float = 300.0
    flush_seconds: float = 60.0
    stop_seconds: float = 5.0

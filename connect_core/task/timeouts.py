"""How long the engine waits for a plugin's code."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Timeouts"]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Times in seconds.

    ``hook_seconds``: for a call of a hook, except ``poll`` (``hook.timeout.ms``);
    ``retry_seconds``: for how long records are put again before the attempt fails;
    ``flush_seconds``: between two calls of ``pre_commit`` (``offset.flush.interval.ms``);
    ``stop_seconds``: for ``stop``, and for a poll to return after it (``task.shutdown.graceful.timeout.ms``).
    """

    hook_seconds: float = 300.0
    retry_seconds: float = 300.0
    flush_seconds: float = 60.0
    stop_seconds: float = 5.0

"""Child processes a service cannot do without: if one dies, the whole service is restarted."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field

import psutil

from connect_core.dev.processes import ProcessId

__all__ = ["ChildProcesses"]

_SECONDS_BETWEEN_LOOKS = 1.0


@dataclass(slots=True)
class ChildProcesses:
    """The children of one service whose titles begin with ``title``, as last seen.

    Airflow's LocalExecutor forks its workers when it starts. If one is killed, the task it was handed stays
    ``queued`` for ever; if it was idle, the lock is lost with which all others wait for tasks.
    """

    title: str
    _leader: ProcessId | None = None
    _members: set[ProcessId] = field(default_factory=set)
    _looked: float = float("-inf")

    def has_lost(self, leader: ProcessId, now: float) -> bool:
        """Return whether a child seen before is gone while the service itself is alive."""
        if leader != self._leader:
            self._leader, self._members = leader, set()
        elif now - self._looked < _SECONDS_BETWEEN_LOOKS:
            return False
        self._looked = now
        present = self._children(leader)
        is_lost = bool(self._members - present) and leader.is_alive()
        self._members = present
        return is_lost

    def _children(self, leader: ProcessId) -> set[ProcessId]:
        found = set()
        with contextlib.suppress(psutil.Error, OSError):
            for child in psutil.Process(leader.pid).children():
                found.add(ProcessId.of(child.pid) if self._is_member(child) else None)
        return {member for member in found if member is not None}

    def _is_member(self, child: psutil.Process) -> bool:
        known = ProcessId.of(child.pid) in self._members
        with contextlib.suppress(psutil.Error, OSError):
            # The title changes with the present task, and is not yet set right after the fork.
            return known or " ".join(child.cmdline()).startswith(self.title)
        return known

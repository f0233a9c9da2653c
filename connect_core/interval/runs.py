"""What a scheduler requests of a run of a connector, and the outcome it receives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

__all__ = ["RunIdentity", "RunOutcome", "RunRequest", "RunStatus"]


class RunStatus(Enum):
    """How a run ended; errors worth a retry are raised instead."""

    DRAINED = "drained"
    """Everything up to the bound, or up to ``run.max.ms``, is committed."""
    IDLE = "idle"
    """There was nothing to do."""
    SKIPPED = "skipped"
    """Another holder has the connector; nothing was touched."""
    STOPPED = "stopped"
    """The connector was paused, stopped, deleted or the run interrupted; finished work is committed."""
    FAILED = "failed"
    """A fatal error, recorded on the connector: only a restart or a new config helps."""


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """The process that runs intervals: the scheduler's run and the driver's ``host:port``."""

    run_id: str = ""
    worker: str = ""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One run of one connector; ids only.

    ``continuous`` runs go on while there is data; others end at the bound that
    was current when they began. ``asked``: a user wants the run (manual, or a
    repeated try), so it is tried although the connector has failed.
    ``last_try``: no automatic retry follows a retriable error. ``since``: for a
    backfill, which exports the time from then to ``bound_time`` again. ``begun_at``:
    when the scheduler began the run, including failed tries: a scheduler may repeat
    a run, and what it did before was reported then.
    """

    connector: str
    run_id: str
    continuous: bool = False
    asked: bool = False
    last_try: bool = True
    bound_time: datetime | None = None
    since: datetime | None = None
    begun_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended.

    ``wait``: call again when there is data, without ending the run. ``outlets``
    are the URIs of what was written (``kafka://…``, ``file:///…``), ``finished`` the
    bounds, counts and files of what was committed, as JSON.
    """

    status: RunStatus
    reason: str = ""
    wait: bool = False
    intervals: int = 0
    records: int = 0
    outlets: tuple[str, ...] = ()
    finished: Mapping[str, Any] = field(default_factory=dict)

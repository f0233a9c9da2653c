"""Chooses the next step of a switch from the state of both sides alone, so that a killed command can be repeated."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from connect_core.errors import IllegalWorkerStateError
from connect_core.interval.values import TargetState
from connect_core.migration.connect_api import ConnectorThere
from connect_core.store.origins import OriginRow

__all__ = ["TOLD_STATES", "Sides", "Step", "next_step"]


_LEFTOVER_SECONDS = 60.0
"""Longer than Connect lets tasks end (``task.shutdown.graceful.timeout.ms``) and a lost worker keep its own."""
TOLD_STATES = frozenset(("RUNNING", "PAUSED", "STOPPED", "FAILED"))
"""States that tell whether it is to run; others, as UNASSIGNED in a rebalance, may be those of a stopped one."""
_ACTIVE = ("RUNNING", "PAUSED", "FAILED", "RESTARTING")
"""States of a connector that is not stopped; UNASSIGNED may be a stopped one while its worker starts."""


class Step(Enum):
    """The steps; the values are printed when a step is done."""

    BEGIN = "recorded its state"
    STOP_THERE = "stopped there"
    TAKE_OFFSETS = "stored its offsets here"
    START_HERE = "started here"
    STOP_HERE = "stopped here"
    GIVE_OFFSETS = "wrote its offsets there"
    START_THERE = "started there"
    END = "recorded that it has moved"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Sides:
    """The state of a connector on both sides at one moment.

    ``is_working``: a run here may still be active. ``origin``: which side has the newest offsets, and the state of a
    switch in progress.
    """

    name: str
    there: ConnectorThere
    target: TargetState
    is_working: bool
    origin: OriginRow

    @property
    def is_stopped_there(self) -> bool:
        """Whether it is stopped and no task of it is active in the cluster.

        A worker that is killed may leave a task's status behind, which stays as long as the connector is stopped.
        """
        has_had_time = self.origin.is_here or (self.origin.age or 0.0) > _LEFTOVER_SECONDS
        is_leftover = self.origin.state is not None and self.there.is_to_stop and has_had_time
        return self.there.is_stopped or is_leftover

    @property
    def is_stopped_here(self) -> bool:
        """Whether it is stopped and no run of it is active here."""
        return self.target is TargetState.STOPPED and not self.is_working


def next_step(sides: Sides, *, is_back: bool) -> Step:
    """Return the next step, ``DONE`` if there is none. Raise IllegalWorkerStateError if both sides run.

    Only the side with the newest offsets may run. A side is started only while the other is stopped, and
    only once the offsets are known to be stored there.
    """
    _ensure_one_side(sides)
    origin = sides.origin
    if origin.state is None:
        return Step.DONE if origin.is_here is not is_back else Step.BEGIN
    if is_back:
        return _back(sides, origin.state)
    return _forward(sides, origin.state)


def _forward(sides: Sides, state: str) -> Step:
    if not sides.is_stopped_there:
        return Step.STOP_THERE
    if not sides.origin.is_here:
        return Step.TAKE_OFFSETS
    return Step.END if _is_in_state(sides.target, state) else Step.START_HERE


def _back(sides: Sides, state: str) -> Step:
    if sides.origin.is_here:
        return Step.GIVE_OFFSETS if sides.is_stopped_here else Step.STOP_HERE
    # FAILED counts as started: it may have failed before the switch too.
    return Step.END if sides.there.state in (state, "FAILED") else Step.START_THERE


def _is_in_state(target: TargetState, state: str) -> bool:
    return {"RUNNING": TargetState.STARTED, "PAUSED": TargetState.PAUSED}.get(state, TargetState.STOPPED) is target


def _ensure_one_side(sides: Sides) -> None:
    name, url = sides.name, sides.origin.url
    if sides.origin.is_here and sides.there.state in _ACTIVE:
        raise IllegalWorkerStateError(
            f"{name} was switched and has its newest offsets here, and at {url} it is {sides.there.state} again: "
            f"records may be moved twice. Stop it there (PUT {url}/connectors/{name}/stop), then run this again."
        )
    if not sides.origin.is_here and sides.target is not TargetState.STOPPED:
        raise IllegalWorkerStateError(
            f"{name} has its newest offsets at {url} and is {sides.target.value} here: records may be moved twice. "
            f"Stop it here (connect stop {name}), then run this again."
        )

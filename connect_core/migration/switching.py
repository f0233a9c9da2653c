"""Moves one connector from a Connect cluster here, or back; no record is lost, and both sides never run at once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from connect_core.api.offsets import parse
from connect_core.errors import BadRequestError, ConnectError, NotFoundError, RetriableError
from connect_core.herder import lifecycle
from connect_core.herder import offsets as herder_offsets
from connect_core.herder.context import Herder
from connect_core.interval.values import TargetState
from connect_core.migration.changes_there import ensure_known_config
from connect_core.migration.connect_api import ConnectApi, ConnectorThere, offset_map
from connect_core.migration.iceberg_control import has_uncommitted_files
from connect_core.migration.steps import TOLD_STATES, Sides, Step, next_step
from connect_core.store import audit, connectors, origins, statuses
from connect_core.store.audit import Act
from connect_core.store.origins import OriginRow

__all__ = ["Switch", "WaitError"]

_POLL_SECONDS = 0.5
_FENCE_SECONDS = 60.0
_MOST_STEPS = 20
"""A switch takes seven; more are needed only if others act on the connector meanwhile."""

_TAKING_OVER = (Step.BEGIN, Step.STOP_THERE, Step.TAKE_OFFSETS)
"""Until the offsets are here, what is changed in the cluster counts there."""

Reached = Callable[[Step], None]


class WaitError(RetriableError):
    """Something did not end in time; ``what`` was waited for. The same switch goes on waiting."""

    def __init__(self, message: str, what: str) -> None:
        """Take the message, and what was waited for, as in "its tasks there to end"."""
        super().__init__(message)
        self.what = what


@dataclass(frozen=True)
class Switch:
    """A switch of one connector; ``run`` may be called again after a failure or the death of its process.

    ``seconds``: how long tasks there, or a run here, may take to end. ``until``: no step begins after this time of
    ``time.monotonic``. ``sleep`` is called between polls.
    """

    herder: Herder
    api: ConnectApi
    name: str
    is_back: bool = False
    seconds: float = 360.0
    until: float = math.inf
    sleep: Callable[[float], None] = time.sleep

    def run(self, reached: Reached = lambda step: None) -> list[Step]:
        """Carry out the remaining steps, in order, and return them; ``reached`` is called after each.

        Raise NotFoundError if one side has no such connector, IllegalWorkerStateError if both run,
        another command switches it, or its configuration there has changed; WaitError if one does not end in
        time, ConnectError.
        """
        with origins.alone(self.herder.database, self.name):
            return self._run(reached)

    def _run(self, reached: Reached) -> list[Step]:
        done: list[Step] = []
        while (step := next_step(sides := self.sides(), is_back=self.is_back)) is not Step.DONE:
            if time.monotonic() >= self.until:
                break
            if len(done) == _MOST_STEPS:
                raise ConnectError(
                    f"Another user or program is starting and stopping {self.name}: wait until that ends, then run "
                    "this again."
                )
            if step in _TAKING_OVER and not self.is_back:
                ensure_known_config(self.herder, sides)
            self._acts()[step]()
            done.append(step)
            reached(step)
        return done

    def sides(self) -> Sides:
        """Return the present state of the connector on both sides."""
        there = self._there()
        with self.herder.database.read() as connection:
            state = connectors.find(connection, self.name)
            facts = statuses.load_facts(connection, [self.name])
            origin = origins.find(connection, self.name)
        if state is None or not facts:
            raise NotFoundError(f"{self.name} is not here: connect import --from {self.api.address} --only {self.name}")
        lease = facts[0].lease_age
        if origin is None:
            raise NotFoundError(
                f"{self.name} was not imported: connect import --from {self.api.address} --only {self.name}"
            )
        return Sides(self.name, there, state.target_state, lease is not None and lease < 0, origin)

    @property
    def _acting(self) -> Herder:
        """The herder for what only the switch itself may do while it is in progress."""
        return replace(self.herder, is_switching=True)

    def _there(self) -> ConnectorThere:
        try:
            return self.api.connector(self.name)
        except NotFoundError as error:
            raise NotFoundError(
                f"{self.name} does not exist at {self.api.address}: create it there, STOPPED, or give another address "
                "(--from)"
            ) from error

    def _acts(self) -> Mapping[Step, Callable[[], None]]:
        return {
            Step.BEGIN: self._begin,
            Step.STOP_THERE: self._stop_there,
            Step.TAKE_OFFSETS: self._take_offsets,
            Step.START_HERE: self._start_here,
            Step.STOP_HERE: self._stop_here,
            Step.GIVE_OFFSETS: self._give_offsets,
            Step.START_THERE: self._start_there,
            Step.END: self._end,
        }

    def _begin(self) -> None:
        """Record the present state: a connector that was paused or stopped will be so afterwards."""
        if not self.is_back:
            self._await("a worker there to take it and tell its state", lambda sides: sides.there.state in TOLD_STATES)
        sides = self.sides()
        here = {TargetState.STARTED: "RUNNING", TargetState.PAUSED: "PAUSED"}.get(sides.target, "STOPPED")
        there = sides.there.state if sides.there.state in ("PAUSED", "STOPPED") else "RUNNING"
        begun = replace(sides.origin, url=self.api.address, state=here if self.is_back else there)
        with self.herder.database.write() as connection:
            origins.record(connection, self.name, begun)
            audit.record(connection, Act(self.herder.actor, "begin switch", self.name, None, self._facts(begun)))

    def _stop_there(self) -> None:
        there = self.sides().there
        if not there.is_to_stop:
            if there.state == "PAUSED" and there.tasks:
                # A stop would make its coordinator begin again to wait for its next commit.
                self._await("its paused tasks there to commit their files", lambda _: not self._is_uncommitted_there())
            # What is recorded last is when its tasks began to end; the command may be killed in between.
            self._record(self._origin())
            self.api.stop(self.name)
            self._record(self._origin())
        self._await("its tasks there to end", lambda sides: sides.is_stopped_there)

    def _is_uncommitted_there(self) -> bool:
        return has_uncommitted_files(self.herder, self.name, self._there().config)

    def _commit_there(self) -> None:
        """Let a sink commit what it has written already; paused, it reads nothing more."""
        while self._is_uncommitted_there():
            # A stopped connector that is paused gets no tasks.
            self.api.resume(self.name)
            self._await("its tasks there to start", lambda sides: {*sides.there.tasks} == {"RUNNING"})
            self.api.pause(self.name)
            self._await("it to be paused there", lambda sides: sides.there.state == "PAUSED")
            self._stop_there()

    def _take_offsets(self) -> None:
        """Store the final offsets here, and check that those in the cluster have not changed."""
        self._commit_there()
        final = self._final_offsets()
        here = offset_map(herder_offsets.get(self.herder, self.name))
        if changes := _changes(here, final):
            herder_offsets.alter(self._acting, self.name, changes)
        self._ensure_equal(offset_map(herder_offsets.get(self.herder, self.name)), final)
        # Workers that share connectors out again show other states of a stopped connector for some seconds.
        self._await("it to be stopped there", lambda sides: sides.is_stopped_there)
        # Behind the wait: had it been started and stopped again in it, these would have moved.
        self._ensure_equal(final, offset_map(self.api.offsets(self.name)))
        self._record(replace(self._origin(), is_here=True))

    def _final_offsets(self) -> dict[str, Any]:
        """Return the cluster's offsets once no task can move them any more.

        Writing them back unchanged makes Connect fence the producers of tasks that have not ended, and refuse
        if a sink's consumer group still has members.
        """
        end = time.monotonic() + min(self.seconds, _FENCE_SECONDS)
        while True:
            entries = self.api.offsets(self.name)
            try:
                if entries:
                    self.api.alter_offsets(self.name, entries)
            except BadRequestError as error:
                raise BadRequestError(
                    f"{error} It is stopped there and here: connect switch {self.name} --back starts it there again."
                ) from error
            except ConnectError:
                if time.monotonic() > end:
                    raise
                self.sleep(_POLL_SECONDS)
                continue
            final = offset_map(self.api.offsets(self.name))
            if final == offset_map(entries):
                return final

    def _start_here(self) -> None:
        acts = {"RUNNING": lifecycle.resume, "PAUSED": lifecycle.pause}
        acts.get(self._origin().state or "", lifecycle.stop)(self._acting, self.name)

    def _stop_here(self) -> None:
        lifecycle.stop(self.herder, self.name)
        self._await("its run here to end", lambda sides: sides.is_stopped_here)

    def _give_offsets(self) -> None:
        """End and fence unfinished work here, then write the offsets to the cluster and check that they are stored."""
        self.herder.rewrite_offsets(self.herder, self.name, {})
        final = offset_map(herder_offsets.get(self.herder, self.name))
        if changes := _changes(offset_map(self.api.offsets(self.name)), final):
            self.api.alter_offsets(self.name, changes)
        self._ensure_equal(offset_map(self.api.offsets(self.name)), final)
        self._record(replace(self._origin(), is_here=False))

    def _start_there(self) -> None:
        state = self._origin().state
        if state == "PAUSED":
            # Pausing a stopped connector assigns its tasks first.
            self.api.pause(self.name)
        elif state == "RUNNING":
            self.api.resume(self.name)
        self._await(f"it to be {state} there", lambda sides: sides.there.state in (state, "FAILED"))

    def _end(self) -> None:
        origin = self._origin()
        with self.herder.database.write() as connection:
            origins.record(connection, self.name, replace(origin, state=None))
            audit.record(connection, Act(self.herder.actor, "switch", self.name, None, self._facts(origin)))

    def _facts(self, origin: OriginRow) -> dict[str, Any]:
        return {"side": "there" if self.is_back else "here", "url": origin.url, "state": origin.state}

    def _origin(self) -> OriginRow:
        with self.herder.database.read() as connection:
            found = origins.find(connection, self.name)
        if found is None:
            raise NotFoundError(f"{self.name} was deleted here meanwhile")
        return found

    def _record(self, origin: OriginRow) -> None:
        with self.herder.database.write() as connection:
            origins.record(connection, self.name, origin)

    def _await(self, what: str, is_over: Callable[[Sides], bool]) -> None:
        end = time.monotonic() + self.seconds
        while not is_over(self.sides()):
            if time.monotonic() > end:
                undo = f"connect switch {self.name}{'' if self.is_back else ' --back'}"
                raise WaitError(
                    f"Timed out after {self.seconds:g} s waiting for {what} ({self.name}): run this again, or undo it "
                    f"by {undo}",
                    what,
                )
            self.sleep(_POLL_SECONDS)

    def _ensure_equal(self, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
        differing = sorted(key for key in {*found, *wanted} if found.get(key) != wanted.get(key))
        if differing:
            raise ConnectError(
                f"Offsets of {self.name} differ after they were stored, at {len(differing)} partitions such as "
                f"{differing[0]}: {found.get(differing[0])} instead of {wanted.get(differing[0])}. Run this again."
            )


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the entries that change ``old`` to ``new``; null forgets a partition."""
    keys = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    return [{"partition": parse(key), "offset": new.get(key)} for key in keys]

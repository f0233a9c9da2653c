"""The scheduler: runs processes step by step, and crashes, pauses, delays, repeats and revives them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from connect_core.interval.values import TargetState, TaskPlan
from tests.simulator.attempts import task_attempt
from tests.simulator.backfills import HOURS
from tests.simulator.chances import AROUND, DISASTERS, MESSAGES, METADATA_LOST, METADATA_RESTORED, PLOTTED, Decisions
from tests.simulator.endings import check_end, has_drained
from tests.simulator.history import History
from tests.simulator.operators import operator
from tests.simulator.processes import Process
from tests.simulator.runs import backfiller, driver

__all__ = ["Schedule"]

_LIMIT = 1200
_FINAL_RUNS = 6
_WAKES = (True, True, True, False)


@dataclass(slots=True)
class Schedule:
    """One history being run; a violation is raised as it happens."""

    history: History
    decisions: Decisions
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often each fault hit each point, where it changed anything."""
    processes: list[Process] = field(default_factory=list)
    delayed: list[Callable[[], Any]] = field(default_factory=list)
    tasks_of_epoch: dict[int, int] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    steps: int = 0
    intervals: int = 4
    is_final: bool = False
    overtaking: Process | None = None
    """Who goes on in place of the one that was overtaken."""
    current: Process = field(init=False)

    def __post_init__(self) -> None:
        self.history.is_live = self._is_live
        self.history.database.delayed = self.delayed

    def add(self, name: str, kind: Callable[[Any, Any], Any], argument: Any = None) -> Process:
        """Add a process that begins when it is its turn."""
        process = Process(name, kind(self, name if argument is None else argument))
        self.processes.append(process)
        return process

    def spawn(self, name: str, kind: Callable[[Any, TaskPlan], Any], plan: TaskPlan) -> Process:
        """Add a task of the current process."""
        process = Process(name, kind(self, plan), self.current, plan)
        process.point = "K3"
        self.processes.append(process)
        return process

    def note(self, text: str) -> None:
        """Keep a line for people; cheap, and only the last are wanted."""
        if len(self.log) < 400:
            self.log.append(f"{self.steps} {text}")

    def run(self) -> None:
        """Run to the end of all processes, then without faults until all is drained. Raises Violation."""
        process: Process | None = None
        while self.steps < _LIMIT:
            process = self._next(process)
            if process is None:
                if not self._wake():
                    break
                continue
            self._step(process)
            if self.overtaking is not None:
                process, self.overtaking = self.overtaking, None
        self._finish()

    def _step(self, process: Process) -> None:
        if process.wait is not None:
            process.point = "K5"
        is_pending = bool(self.delayed) or self.history.surroundings.is_pending(process.point)
        number = self.decisions.deviates(process.point, lambda: self._possible(process), is_pending)
        fault = PLOTTED[number - 1] if number else None
        if fault in MESSAGES:
            self._send(process, fault)
        elif fault is None or self._apply(process, fault):
            self._send(process, None)

    def _send(self, process: Process, fault: str | None) -> None:
        self.steps += 1
        self.current = process
        if not process.is_begun or process.wait is not None:
            # It has no act that a fault could hit.
            fault = None
        if fault is not None:
            self._see(process, fault)
        try:
            point = process.gen.send(fault)
            process.is_begun = True
        except StopIteration as end:
            process.is_done, process.result = True, end.value
        else:
            process.wait = None if isinstance(point, str) else point
            process.point = point if isinstance(point, str) else "K4"
        self.history.check()

    def _next(self, last: Process | None) -> Process | None:
        """Go on with the last one, else with its tasks, else with the next that was not begun."""
        if last is not None and self._is_runnable(last):
            return last
        ready = [one for one in self.processes if self._is_runnable(one)]
        if not ready:
            return None
        return next((one for one in ready if one.parent is not None), ready[0])

    def _is_runnable(self, process: Process) -> bool:
        if process.is_done or process.is_paused:
            return False
        return process.wait is None or process.wait()

    def _is_live(self, holder: str) -> bool:
        return any(one.name == holder and not (one.is_done or one.is_paused) for one in self.processes)

    def _sleeping(self) -> list[Process]:
        return [one for one in self.processes if one.is_paused and not one.is_done]

    def _wake(self) -> bool:
        """Let one go on that sleeps, where nobody else can → whether there is one."""
        sleeping = self._sleeping()
        if not sleeping or not _WAKES[self.decisions.choose(len(_WAKES))]:
            return False
        self._revive(sleeping[0])
        return True

    def _see(self, process: Process, fault: str) -> None:
        self.seen[process.point, fault] += 1
        self.note(f"{process.name} {process.point}: {fault}")

    # -- deviations

    def _possible(self, process: Process) -> set[str]:
        """Return the faults that would change anything now."""
        found = {"crash", "zombie", *self.history.surroundings.disturbances(self.delayed)}
        if process.is_begun and process.wait is None:
            found.update(MESSAGES)
        if process.plan is not None:
            found.add("duplicate")
        if any(one.is_paused and not one.is_done for one in self.processes):
            found.add("revived")
        if any(one is not process and self._is_runnable(one) for one in self.processes):
            found.add("overtaken")
        return found

    def _apply(self, process: Process, fault: str) -> bool:
        """Do what a fault does beside the step → whether the process still takes it."""
        if fault in (*AROUND, *DISASTERS):
            if fault in self.history.surroundings.disturbances(self.delayed):
                self._see(process, fault)
                self.history.surroundings.disturb(fault, self.delayed)
                if fault in (METADATA_LOST, METADATA_RESTORED):
                    self._disconnect()
            return not process.is_done
        acts = {
            "crash": self._crash,
            "zombie": self._pause,
            "overtaken": self._overtake,
            "revived": self._revive,
            "duplicate": self._duplicate,
        }
        acts[fault](process)
        return not process.is_done and not process.is_paused

    def _disconnect(self) -> None:
        """Let all die that were at work with the metadata database: it was away."""
        for process in self.processes:
            process.is_done = process.is_done or (process.is_begun and not process.is_paused)

    def _crash(self, process: Process) -> None:
        # Not closed: what dies cleans up nothing, least of all its open transaction.
        self._see(process, "crash")
        process.is_done, process.result = True, None

    def _pause(self, process: Process) -> None:
        """Let a process sleep as if it were dead; revived later, it is a zombie."""
        self._see(process, "zombie")
        process.is_paused, process.paused_at = True, process.point
        parent = process.parent
        if parent is not None and not parent.is_paused and self.decisions.choose(2):
            # The whole machine sleeps, the driver with its tasks.
            parent.is_paused, parent.paused_at = True, process.point

    def _overtake(self, process: Process) -> None:
        others = [one for one in self.processes if one is not process and self._is_runnable(one)]
        if others:
            self._see(process, "overtaken")
            other = others[self.decisions.choose(len(others))]
            self._send(other, None)
            self.overtaking = other if self.decisions.choose(2) else None

    def _revive(self, process: Process) -> None:
        """Let one that sleeps take its next step, and perhaps go on with it."""
        sleeping = self._sleeping()
        if sleeping:
            one = sleeping[self.decisions.choose(len(sleeping))]
            self.seen[one.paused_at, "revived"] += 1
            self.note(f"{one.name} {one.paused_at}: revived")
            one.is_paused = False
            if self._is_runnable(one):
                self._send(one, None)
                self.overtaking = one if self.decisions.choose(2) else None

    def _duplicate(self, process: Process) -> None:
        """Run a task a second time, as Spark does for a lost or slow one."""
        if process.plan is not None and process.parent is not None:
            self._see(process, "duplicate")
            again = Process(process.name + "'", task_attempt(self, process.plan), process.parent, process.plan)
            again.point = "K3"
            self.processes.append(again)

    # -- the end

    def _finish(self) -> None:
        history = self.history
        history.surroundings.calm(self.delayed)
        for process in self.processes:
            process.is_done = True
        self.is_final, self.intervals = True, 8
        if history.sql.deleted:
            history.sql.create()
        history.sql.set_target_state(TargetState.STARTED)
        if history.policy == "fail":
            # Where losses are to fail, somebody has to say that it may go on.
            history.policy = "skip"
            history.sql.configure()
        if history.has_lost_offsets:
            self.add("final-operator", operator, "alter all")
        self._drain_all()
        history.broker.expire()
        for number in sorted({*HOURS} if history.has_backfills else ()):
            self._exhaust(self.add(f"final-again-{number}", backfiller, number))
        check_end(history)

    def _drain_all(self) -> None:
        history = self.history
        if history.reset == "latest":
            # What arrives from here on is to be read, wherever reading began.
            self._drain(_FINAL_RUNS)
            history.is_begun = True
            history.surroundings.arrive()
        for attempt in range(_FINAL_RUNS):
            self._drain(attempt)
            if has_drained(history):
                break

    def _drain(self, attempt: int) -> None:
        self._exhaust(self.add(f"final-{attempt}", driver))

    def _exhaust(self, process: Process | None) -> None:
        """Run to the end of a process, and of all that it starts."""
        limit = self.steps + 2000
        while self.steps < limit and (process := self._next(process)) is not None:
            self._send(process, None)

    # -- what processes ask

    def is_through(self) -> bool:
        """Whether a driver may end: nothing can happen any more, and all is read."""
        return self.is_final and has_drained(self.history)

    def bound(self, plan: TaskPlan, file: str) -> int:
        """Return how far a source partition may be read."""
        assert plan.source is not None
        end = self.history.available[file]
        return end if plan.source.upper is None else min(end, plan.source.upper[file]["at"])

    def assigned(self, plan: TaskPlan) -> int:
        """Return how many tasks the plan assigned."""
        return self.tasks_of_epoch[plan.key.epoch]

"""The seeded scheduler: runs processes step by step, and crashes, pauses, delays, repeats and revives them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from connect_core.errors import ConnectError
from connect_core.interval.values import TargetState, TaskPlan
from tests.simulator.history import History
from tests.simulator.processes import Process, check_end, driver, operator, sweeper, task_attempt
from tests.simulator.truth import Violation

__all__ = ["FAULTS", "OPERATIONS", "Chances", "Schedule", "Scripted", "scenario"]

FAULTS = ("overtaken", "crash", "zombie", "lost reply", "lost request", "delay", "duplicate", "revive", "around")
"""What a deviation from the plain order does; by number, for scripts."""

OPERATIONS = ("pause", "restart", "tasks", "alter", "alter all", "reset", "delete", "delete all")
_AROUND = ("expire", "arrive late", "compact", "foreign", "retain", "recreate")
_LIMIT = 1200


@dataclass(slots=True)
class Chances:
    """Deviations by a seed: each step deviates with the probability of its history."""

    random: random.Random
    probability: float

    def deviates(self, step: int) -> int:
        """Return 0 for the plain order, else the number of a fault plus one."""
        return 0 if self.random.random() >= self.probability else self.random.randrange(1, len(FAULTS) + 1)

    def choose(self, step: int, count: int) -> int:
        """Return one of ``count`` possibilities."""
        return self.random.randrange(count)


@dataclass(slots=True)
class Scripted:
    """Deviations by hand: at which step what, and which of several."""

    deviations: Mapping[int, tuple[int, int]]

    def deviates(self, step: int) -> int:
        return self.deviations.get(step, (0, 0))[0]

    def choose(self, step: int, count: int) -> int:
        return self.deviations.get(step, (0, 0))[1] % count


@dataclass(slots=True)
class Schedule:
    """One history being run; a violation is raised as it happens."""

    history: History
    chances: Chances | Scripted
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often each fault hit each point."""
    processes: list[Process] = field(default_factory=list)
    delayed: list[Callable[[], Any]] = field(default_factory=list)
    deals: dict[int, int] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    steps: int = 0
    intervals: int = 4
    is_final: bool = False
    current: Process = field(init=False)

    def __post_init__(self) -> None:
        self.history.is_live = self._is_live

    def add(self, name: str, kind: Callable[[Any, str], Any], argument: str | None = None) -> Process:
        """Add a process that begins when it is its turn."""
        process = Process(name, kind(self, argument or name))
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
                if not self._unblock():
                    break
                continue
            self._step(process)
        self._finish()

    def _step(self, process: Process) -> None:
        fault: str | None = None
        number = 0 if self.is_final else self.chances.deviates(self.steps)
        if number:
            fault = FAULTS[number - 1]
            if not self._apply(process, fault):
                return
            fault = fault if fault in ("lost reply", "lost request", "delay") else None
        self._send(process, fault)

    def _send(self, process: Process, fault: str | None) -> None:
        self.steps += 1
        self.current = process
        if fault is not None:
            self.seen[process.point, fault] += 1
            self.note(f"{process.name} {process.point}: {fault}")
        try:
            # A process that has not begun, or waits, has no act that a fault could hit.
            point = process.gen.send(fault if process.is_begun and process.wait is None else None)
            process.is_begun = True
        except StopIteration as end:
            process.is_done, process.result = True, end.value
        else:
            process.wait = None if isinstance(point, str) else point
            if isinstance(point, str):
                process.point = point
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

    def _unblock(self) -> bool:
        """Let time pass where nobody can go on: late requests arrive, transactions time out."""
        history = self.history
        while self.delayed:
            self._arrive()
        while history.broker.late:
            history.broker.arrive()
        if history.broker.open:
            history.broker.expire()
        return False

    # -- deviations

    def _apply(self, process: Process, fault: str) -> bool:
        """Do what a fault does beside the step → whether the process still takes it."""
        step, point = self.steps, process.point
        if fault in ("lost reply", "lost request", "delay"):
            return True
        self.note(f"{process.name} {point}: {fault}")
        if fault == "crash":
            self.seen[point, fault] += 1
            process.gen.close()
            process.is_done, process.result = True, None
            return False
        if fault == "zombie":
            self.seen[point, fault] += 1
            process.is_paused, process.paused_at = True, point
            return False
        if fault == "overtaken":
            others = [one for one in self.processes if one is not process and self._is_runnable(one)]
            if others:
                self.seen[point, fault] += 1
                self._send(others[self.chances.choose(step, len(others))], None)
        elif fault == "revive":
            self._revive(step)
        elif fault == "duplicate":
            self._duplicate(process)
        else:
            self._around(step)
        return not process.is_done and not process.is_paused

    def _revive(self, step: int) -> None:
        sleeping = [one for one in self.processes if one.is_paused and not one.is_done]
        if sleeping:
            one = sleeping[self.chances.choose(step, len(sleeping))]
            self.seen[one.paused_at, "revived"] += 1
            one.is_paused = False
            self._send(one, None)

    def _duplicate(self, process: Process) -> None:
        """Run a task a second time, as Spark does for a lost or slow one."""
        if process.plan is not None and process.parent is not None:
            self.seen[process.point, "duplicate"] += 1
            again = Process(process.name + "'", task_attempt(self, process.plan), process.parent, process.plan)
            again.point = "K3"
            self.processes.append(again)

    def _around(self, step: int) -> None:
        history, broker = self.history, self.history.broker
        what = _AROUND[self.chances.choose(step, len(_AROUND))]
        if what == "expire":
            broker.expire()
        elif what == "arrive late":
            self._arrive()
            if broker.late:
                broker.arrive()
        elif what == "compact":
            broker.compact()
        elif history.kind != "source":
            self._disturb_topic(what)

    def _disturb_topic(self, what: str) -> None:
        history = self.history
        if what == "foreign":
            history.open_foreign()
        elif what == "retain":
            history.retain()
        elif history.policy == "skip":
            history.recreate_topic()

    def _arrive(self) -> None:
        """Carry out the oldest act whose sender has given up waiting."""
        if self.delayed:
            act = self.delayed.pop(0)
            try:
                act()
            except ConnectError as error:
                self.note(f"late act refused: {error}")

    # -- the end

    def _finish(self) -> None:
        self._unblock()
        for process in self.processes:
            process.gen.close()
            process.is_done = True
        history = self.history
        self.is_final, self.intervals = True, 8
        if history.sql.deleted:
            history.sql.create()
        history.sql.aim(TargetState.STARTED)
        history.close_foreign()
        for attempt in range(4):
            self.add(f"final-{attempt}", driver)
            process: Process | None = None
            limit = self.steps + 2000
            while self.steps < limit and (process := self._next(process)) is not None:
                self._send(process, None)
        history.broker.expire()
        check_end(history)

    # -- what tasks ask

    def bound(self, plan: TaskPlan, file: str) -> int:
        """Return how far a source partition may be read."""
        assert plan.source is not None
        end = self.history.available[file]
        return end if plan.source.upper is None else min(end, plan.source.upper[file]["at"])

    def dealt(self, plan: TaskPlan) -> int:
        """Return how many tasks the plan dealt."""
        return self.deals[plan.key.epoch]


def scenario(kind: str, choose: Callable[[Sequence[Any]], Any], chances: Chances | Scripted) -> Schedule:
    """Return a history of one kind, with drivers, operators and arriving data in some order."""
    history = History(kind, tasks_max=choose((1, 2)))
    history.has_bound = choose((True, True, False))
    schedule = Schedule(history, chances)
    schedule.add("one", driver)
    schedule.add("arrive", partial(_arriving))
    for number in range(choose((1, 2))):
        schedule.add(f"op-{number}", operator, choose(OPERATIONS))
        schedule.add(f"next-{number}", driver)
        schedule.add(f"arrive-{number}", partial(_arriving))
    if kind == "files":
        schedule.add("sweeper", sweeper)
    return schedule


def _arriving(world: Any, _: str) -> Any:
    yield "K10"
    world.history.arrive()


def seeded(seed: int, kind: str) -> Schedule:
    """Return the history of a seed."""
    randomness = random.Random(seed * 7919 + len(kind))
    chances = Chances(randomness, randomness.choice((0.03, 0.07, 0.15)))
    return scenario(kind, randomness.choice, chances)


__all__ += ["Violation", "seeded"]

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

OPERATIONS = ("pause", "restart", "tasks", "tasks", "alter", "alter all", "reset", "delete", "delete all")
_ZOMBIE, _REVIVE = FAULTS.index("zombie") + 1, FAULTS.index("revive") + 1
_AROUND = ("expire", "arrive late", "compact", "foreign", "retain", "recreate")
_LIMIT = 1200


@dataclass(slots=True)
class Chances:
    """Deviations by a seed: each step deviates with the probability of its history."""

    random: random.Random
    probability: float
    focus: str = "K0"
    """The point that this history hits most."""

    def deviates(self, step: int, point: str, sleeping: int) -> int:
        """Return 0 for the plain order, else the number of a fault plus one."""
        chance = self.random.random()
        if sleeping and chance < 0.06:
            return _REVIVE
        if point == self.focus and chance < 0.3:
            return self.random.choice((_ZOMBIE, _ZOMBIE, self.random.randrange(1, len(FAULTS) + 1)))
        return 0 if chance >= self.probability else self.random.randrange(1, len(FAULTS) + 1)

    def wakes(self, step: int) -> bool:
        """Whether one who sleeps goes on, once nobody else can."""
        return self.random.random() < 0.8

    def choose(self, step: int, count: int) -> int:
        """Return one of ``count`` possibilities."""
        return self.random.randrange(count)


@dataclass(slots=True)
class Scripted:
    """Deviations by hand: at which step what, and which of several."""

    deviations: Mapping[int, tuple[int, int]]

    def deviates(self, step: int, point: str, sleeping: int) -> int:
        return self.deviations.get(step, (0, 0))[0]

    def wakes(self, step: int) -> bool:
        return step % 2 == 0

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
    overtaking: Process | None = None
    """Who goes on in place of the one that was overtaken."""
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
                if not self._wake():
                    break
                continue
            self._step(process)
            if self.overtaking is not None:
                process, self.overtaking = self.overtaking, None
        self._finish()

    def _step(self, process: Process) -> None:
        fault: str | None = None
        number = 0 if self.is_final else self.chances.deviates(self.steps, process.point, len(self._sleeping()))
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

    def _sleeping(self) -> list[Process]:
        return [one for one in self.processes if one.is_paused and not one.is_done]

    def _wake(self) -> bool:
        """Let one go on that sleeps, where nobody else can → whether there is one."""
        if not self._sleeping() or not self.chances.wakes(self.steps):
            return False
        self._revive(self.steps)
        return True

    def _unblock(self) -> None:
        """Let time pass: late requests arrive, transactions time out."""
        history = self.history
        while self.delayed:
            self._arrive()
        while history.broker.late:
            history.broker.arrive()
        if history.broker.open:
            history.broker.expire()

    # -- deviations

    def _apply(self, process: Process, fault: str) -> bool:
        """Do what a fault does beside the step → whether the process still takes it."""
        if fault in ("lost reply", "lost request", "delay"):
            return True
        self.note(f"{process.name} {process.point}: {fault}")
        acts = {
            "crash": self._crash,
            "zombie": self._pause,
            "overtaken": self._overtake,
            "revive": lambda _: self._revive(self.steps),
            "duplicate": self._duplicate,
            "around": lambda _: self._around(self.steps),
        }
        acts[fault](process)
        return not process.is_done and not process.is_paused

    def _crash(self, process: Process) -> None:
        self.seen[process.point, "crash"] += 1
        process.gen.close()
        process.is_done, process.result = True, None

    def _pause(self, process: Process) -> None:
        """Let a process sleep as if it were dead; revived later, it is a zombie."""
        self.seen[process.point, "zombie"] += 1
        process.is_paused, process.paused_at = True, process.point
        if process.parent is not None and self.steps % 2:
            # The whole machine sleeps, the driver with its tasks.
            process.parent.is_paused, process.parent.paused_at = True, process.parent.point

    def _overtake(self, process: Process) -> None:
        step = self.steps
        others = [one for one in self.processes if one is not process and self._is_runnable(one)]
        if others:
            self.seen[process.point, "overtaken"] += 1
            other = others[self.chances.choose(step, len(others))]
            self._send(other, None)
            self.overtaking = other if step % 2 else None

    def _revive(self, step: int) -> None:
        sleeping = self._sleeping()
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
    focus = f"K{randomness.randrange(11)}"
    chances = Chances(randomness, randomness.choice((0.02, 0.05, 0.12)), focus)
    return scenario(kind, randomness.choice, chances)


__all__ += ["Violation", "seeded"]

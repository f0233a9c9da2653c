"""What a driver does around the intervals of a run."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from connect_core.api.sink import IntervalKey
from connect_core.effects.worker import ConnectorWorker
from connect_core.errors import NotFoundError
from connect_core.interval import effects as fx
from connect_core.interval.runs import RunRequest
from connect_core.interval.values import ConnectorType, IntervalRow, IntervalState, Plan
from connect_core.plan.run import Run
from connect_core.run import driver as driver_module
from connect_core.run.driver import Driver
from connect_core.settings import WorkerMode, WorkerSettings
from connect_core.store import Database, leases, migrate
from connect_core.store.attempts import TaskProgress
from tests.integration.deployment import eventually
from tests.simulator.world import World


@dataclass
class Worker:
    """Performs the effects of a run's end, and remembers them."""

    unfinished: IntervalRow | None = None
    trouble: Exception | None = None
    is_loaded: bool = True
    done: list[fx.Effect[Any]] = field(default_factory=list)

    def handlers(self) -> Mapping[type[fx.Effect[Any]], Callable[[Any], Any]]:
        return {
            fx.LoadUnfinished: lambda effect: self.unfinished,
            fx.ReleaseLease: self.done.append,
            fx.SweepTarget: self._sweep,
        }

    def _sweep(self, effect: fx.SweepTarget) -> None:
        self.done.append(effect)
        if self.trouble is not None:
            raise self.trouble


@pytest.mark.parametrize("trouble", [None, OSError("disk")])
def test_sink_is_cleared_of_staged_files_before_it_is_given_back(trouble: Exception | None) -> None:
    world, worker = World(ConnectorType.SINK), Worker(trouble=trouble)
    with Driver(worker).holding(world.run()):  # type: ignore[arg-type]
        assert worker.done == []
    assert [type(effect) for effect in worker.done] == [fx.SweepTarget, fx.ReleaseLease]


@dataclass
class RenewingWorker(Worker):
    """Tells of each renewal; giving the lease back takes some time."""

    renewals: int = 0
    fails_at: int = 0
    renewals_when_given_back: tuple[int, int] = (0, 0)

    def handlers(self) -> Mapping[type[fx.Effect[Any]], Callable[[Any], Any]]:
        return {**super().handlers(), fx.ReleaseLease: self._give_back}

    def renew_lease(self, holder: str, seconds: float) -> None:
        self.renewals += 1
        if self.renewals == self.fails_at:
            raise AttributeError("nobody foresaw this")

    def _give_back(self, effect: fx.ReleaseLease) -> None:
        before = self.renewals
        time.sleep(0.2)
        self.renewals_when_given_back = (before, self.renewals)


def test_a_lease_is_not_renewed_while_it_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_module, "_LEASE_SECONDS", 0.04)
    world, worker = World(ConnectorType.SINK), RenewingWorker()
    with Driver(worker).holding(world.run()):  # type: ignore[arg-type]
        time.sleep(0.2)
    before, after = worker.renewals_when_given_back
    assert before == after > 2


def test_a_lease_is_renewed_after_an_error_nobody_foresaw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_module, "_LEASE_SECONDS", 0.04)
    world, worker = World(ConnectorType.SINK), RenewingWorker(fails_at=1)
    with Driver(worker).holding(world.run()):  # type: ignore[arg-type]
        eventually(lambda: worker.renewals, lambda renewals: renewals > 3, 10)


@dataclass
class WatchedWorker(Worker):
    """Counts heartbeats; its brokers answer when ``brokers`` is set."""

    brokers: threading.Event = field(default_factory=threading.Event)
    reports: list[TaskProgress] = field(default_factory=list)
    beats: list[Sequence[TaskProgress]] = field(default_factory=list)
    asked: int = 0

    def beat(self, plan: Plan, epoch: int, progress: Sequence[TaskProgress] = ()) -> None:
        self.beats.append(tuple(progress))

    def progress(self, plan: Plan) -> list[TaskProgress]:
        self.brokers.wait(10)
        return list(self.reports)

    def is_unwanted(self, state: object) -> bool:
        return False

    def ask_tasks_to_stop(self, plan: Plan) -> None:
        self.asked += 1


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Driver, WatchedWorker, Run]]:
    monkeypatch.setattr(driver_module, "_WATCH_SECONDS", 0.02)
    worker, run = WatchedWorker(), replace(World(ConnectorType.SINK).run(), epoch=7)
    yield Driver(worker), worker, run  # type: ignore[arg-type]
    worker.brokers.set()


def test_driver_shows_life_while_the_brokers_are_silent(watched: tuple[Driver, WatchedWorker, Run]) -> None:
    driver, worker, run = watched
    with driver.watching(run, SimpleNamespace()):  # type: ignore[arg-type]
        eventually(lambda: len(worker.beats), lambda count: count > 3, 10)
        worker.brokers.set()
    assert set(worker.beats) == {()}


def test_progress_is_recorded_once_and_tasks_are_asked_to_stop(watched: tuple[Driver, WatchedWorker, Run]) -> None:
    driver, worker, run = watched
    worker.brokers.set()
    worker.reports = [TaskProgress(0, 5, {"t-0": 5})]
    driver.stopping.set()
    with driver.watching(run, SimpleNamespace()):  # type: ignore[arg-type]
        eventually(lambda: worker.asked, lambda count: count > 3, 10)
    assert [beat for beat in worker.beats if beat] == [(TaskProgress(0, 5, {"t-0": 5}),)]


def test_what_an_unfinished_interval_has_staged_is_kept() -> None:
    world = World(ConnectorType.SINK)
    row = IntervalRow(IntervalKey(world.state.name, 0, 7, 1), IntervalState.FAILED, 1, "")
    worker = Worker(row)
    with Driver(worker).holding(world.run()):  # type: ignore[arg-type]
        pass
    assert worker.done[0] == fx.SweepTarget(world.state.name, (row.key,))


def test_source_has_nothing_staged() -> None:
    world, worker = World(ConnectorType.SOURCE), Worker()
    with Driver(worker).holding(world.run()):  # type: ignore[arg-type]
        pass
    assert [type(effect) for effect in worker.done] == [fx.ReleaseLease]


def test_run_that_ended_before_it_loaded_the_connector_gives_it_back() -> None:
    """So does that of a failed connector which nobody asked for."""
    world = World(ConnectorType.SINK)
    worker = Worker(is_loaded=False)
    driver = Driver(worker)  # type: ignore[arg-type]
    with driver.holding(world.run()):
        pass
    assert [type(effect) for effect in worker.done] == [fx.ReleaseLease]


def test_lease_is_three_calls_from_begin(tmp_path: Path) -> None:
    json = "org.apache.kafka.connect.json.JsonConverter"
    properties = {"bootstrap.servers": "127.0.0.1:9", "key.converter": json, "value.converter": json}
    offsets = {"offset.storage.file.filename": str(tmp_path / "connect.offsets")}
    settings = WorkerSettings.from_properties({**properties, **offsets}, {}, WorkerMode.STANDALONE)
    url = f"sqlite:///{tmp_path / 'metadata.db'}"
    migrate(url)
    database = Database(url)
    driver = Driver(ConnectorWorker(settings, database, "nobody"))
    calls: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is leases.take.__code__:
            calls.append(frame.f_code.co_name)
            caller = frame.f_back
            while caller is not None and caller.f_code is not Driver.begin.__code__:
                calls.append(caller.f_code.co_name)
                caller = caller.f_back

    sys.setprofile(note)
    try:
        with pytest.raises(NotFoundError):
            driver.begin(RunRequest("nobody", "run"))
    finally:
        sys.setprofile(None)
        database.close()
    assert calls[::-1] == ["perform", "_write", "take"]

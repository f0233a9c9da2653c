"""What a driver does around the intervals of a run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from connect_core.api.sink import IntervalKey
from connect_core.effects.worker import ConnectorWorker
from connect_core.errors import NotFoundError
from connect_core.interval import effects as fx
from connect_core.interval.runs import RunRequest
from connect_core.interval.values import ConnectorType, IntervalRow, IntervalState
from connect_core.run import driver as driver_module
from connect_core.run.driver import Driver
from connect_core.settings import WorkerMode, WorkerSettings
from connect_core.store import Database, leases, migrate
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
    renewals_when_given_back: tuple[int, int] = (0, 0)

    def handlers(self) -> Mapping[type[fx.Effect[Any]], Callable[[Any], Any]]:
        return {**super().handlers(), fx.ReleaseLease: self._give_back}

    def renew_lease(self, holder: str, seconds: float) -> None:
        self.renewals += 1

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

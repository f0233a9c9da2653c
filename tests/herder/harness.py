"""A herder over a fresh database, with a scheduler that plans as a driver would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from connect_core.api.sink import IntervalKey
from connect_core.configs import ConfigProviders
from connect_core.effects.store import StoreEffects
from connect_core.errors import NotFoundError, RetriableError
from connect_core.herder import connectors
from connect_core.herder.connectors import NewConnector
from connect_core.herder.context import Herder
from connect_core.herder.rewriting import rewrite_in_database
from connect_core.interval.effects import (
    CommitInterval,
    Effect,
    InsertInterval,
    LoadConnector,
    LoadUnfinished,
    RaiseEpoch,
    RecordAssignment,
    RecordAttempt,
    RestartInterval,
    TakeLease,
)
from connect_core.interval.runs import RunIdentity
from connect_core.interval.values import ConnectorType, IntervalRow, IntervalState, TargetState, TaskResult
from connect_core.settings import WorkerMode, WorkerSettings
from connect_core.store import Database

SOURCE = {"connector.class": "FileStreamSource", "tasks.max": "1", "file": "/tmp/a.txt", "topic": "lines"}
SINK = {"connector.class": "FileStreamSink", "tasks.max": "1", "file": "/tmp/b.txt", "topics": "lines"}


def worker(**more: str) -> WorkerSettings:
    properties = {
        "bootstrap.servers": "127.0.0.1:9",
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "offset.storage.file.filename": "/tmp/connect.offsets",
        "connect.validate.live": "false",
        **more,
    }
    return WorkerSettings.from_properties(properties, {}, WorkerMode.STANDALONE)


@dataclass(slots=True)
class Plans:
    """A scheduler that notes what it is asked, and plans at once if ``is_planning``."""

    database: Database
    is_planning: bool = False
    is_down: bool = False
    calls: list[tuple[str, str]] = field(default_factory=list)

    def deploy(self, connector: str) -> None:
        self._note("deploy", connector)

    def remove(self, connector: str) -> None:
        self._note("remove", connector)

    def pause(self, connector: str) -> None:
        self._note("pause", connector)

    def resume(self, connector: str) -> None:
        self._note("resume", connector)

    def trigger(self, connector: str) -> str:
        self._note("trigger", connector)
        return "manual-1"

    def retry(self, connector: str) -> None:
        self._note("retry", connector)

    def backfill(self, connector: str, first: datetime, last: datetime) -> None:
        self._note(f"backfill {first.isoformat()} {last.isoformat()}", connector)

    def _note(self, act: str, connector: str) -> None:
        if self.is_down:
            raise RetriableError("the scheduler is down")
        self.calls.append((act, connector))
        if self.is_planning:
            self.plan(connector)

    def plan(self, connector: str) -> None:
        """Do what a driver does until it has assigned tasks."""
        driver = Driver(self.database, connector)
        try:
            driver.plan()
        except NotFoundError:
            return


@dataclass(slots=True)
class Driver:
    """A driver of one connector that moves no data."""

    database: Database
    connector: str
    epoch: int = 0

    def do(self, effect: Effect[Any]) -> Any:
        handlers = StoreEffects(self.database, RunIdentity("run-1", "driver:4040")).handlers()
        return handlers[type(effect)](effect)

    def plan(self) -> bool:
        """Assign the connector's tasks; false where it is not wanted to run."""
        state = self.do(TakeLease(self.connector, "driver", 60))
        if state.target_state is not TargetState.STARTED:
            return False
        tasks = int(state.config["tasks.max"]) if state.type is ConnectorType.SINK else 1
        self.do(RecordAssignment(self.connector, "driver", (dict(state.config),) * tasks, state.config_version))
        return True

    def begin(self, tasks: int = 1) -> IntervalKey:
        """Begin an interval, or another attempt of the unfinished one."""
        assert self.plan()
        self.epoch = self.do(RaiseEpoch(self.connector, "driver"))
        unfinished: IntervalRow | None = self.do(LoadUnfinished(self.connector))
        if unfinished is not None:
            again: IntervalRow = self.do(RestartInterval(unfinished.key, self.epoch, "assignment", tasks))
            return again.key
        state = self.do(LoadConnector(self.connector))
        key = IntervalKey(self.connector, state.incarnation, state.sequence + 1, self.epoch)
        self.do(
            InsertInterval(IntervalRow(key, IntervalState.PLANNED, state.config_version, "assignment", tasks=tasks))
        )
        return key

    def fail(self, key: IntervalKey, results: Sequence[TaskResult]) -> None:
        self.do(RecordAttempt(key, self.epoch, tuple(results), IntervalState.FAILED))

    def commit(self, key: IntervalKey, results: Sequence[TaskResult] = (), **moved: Any) -> None:
        self.do(CommitInterval(key, self.epoch, tuple(results), **moved))


class Harness:
    """A herder and what stands around it."""

    def __init__(self, database: Database, settings: WorkerSettings | None = None) -> None:
        self.database = database
        self.scheduler = Plans(database)
        providers = ConfigProviders()
        self.herder = Herder(database, settings or worker(), self.scheduler, rewrite_in_database, providers, "jo")

    def create(self, name: str = "a", config: dict[str, str] | None = None, initial_state: str | None = None) -> None:
        connectors.create(self.herder, NewConnector(name, dict(config or SOURCE), initial_state))

    def driver(self, name: str = "a") -> Driver:
        return Driver(self.database, name)

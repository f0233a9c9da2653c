"""A sink connector run for run: the real store on SQLite, the real protocol and committers; only Kafka is a dict."""

from __future__ import annotations

import itertools
import sqlite3
import tempfile
import uuid
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from connect_core.api.connector import WorkerLimits
from connect_core.api.data import STRING_SCHEMA
from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import IntervalContext, SinkConnector
from connect_core.commit.interval import Committed, commit_interval
from connect_core.connectors.file.sink import FileStreamSinkConnector
from connect_core.effects.connectors import ConnectorEffects, DriverContext
from connect_core.effects.perform import perform
from connect_core.effects.store import StoreEffects
from connect_core.interval import effects as fx
from connect_core.interval.values import (
    ConnectorType,
    Counts,
    IntervalSettings,
    PartitionEnds,
    Plan,
    TargetState,
    TaskOutcome,
    TaskPlan,
    TaskResult,
)
from connect_core.plan.interval import Planned, plan_interval
from connect_core.plan.run import Run, begin_run, end_run
from connect_core.store import Database, connectors, migrate, offsets
from connect_core.store.connectors import NewConfig
from connect_core.store.interval_history import list_intervals
from tests.connectors.contexts import SinkSide

NAME = "copy"
_IDS = itertools.count()


class Killed(BaseException):
    """Ends a driver where it stands."""


@dataclass
class Topics:
    """The topics of one cluster: name → its id and the values of its one partition."""

    ids: dict[str, str] = field(default_factory=dict)
    values: dict[str, list[str]] = field(default_factory=dict)
    earliest: dict[str, int] = field(default_factory=dict)
    group: dict[TopicPartition, int] = field(default_factory=dict)

    def create(self, name: str, *values: str) -> None:
        self.ids[name], self.values[name] = f"id-{next(_IDS)}", list(values)

    def produce(self, *values: str, topic: str = "t") -> None:
        self.values[topic] += values

    def ends(self, effect: fx.ReadPartitionEnds) -> dict[TopicPartition, PartitionEnds]:
        return {
            TopicPartition(name, 0): PartitionEnds(
                self.ids[name], self.earliest.get(name, 0), len(self.values[name]), len(self.values[name])
            )
            for name in effect.topics
            if name in self.ids
        }


def topics_of(*values: str) -> Topics:
    topics = Topics()
    topics.create("t", *values)
    return topics


@cache
def _empty_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "empty.db")
        migrate(f"sqlite:///{place}")
        return place.read_bytes()


def new_database(folder: Path) -> Path:
    place = folder / f"{uuid.uuid4().hex[:8]}.db"
    place.write_bytes(_empty_database())
    return place


@dataclass
class Sink:
    """One connector of one deployment, over files below ``root``."""

    root: Path
    topics: Topics
    place: Path
    """Of the metadata database."""
    config: Mapping[str, str]
    connector: type[SinkConnector] = FileStreamSinkConnector
    deployment: str = "here"
    settings: Mapping[str, Any] = field(default_factory=dict)
    before: Callable[[fx.Effect[Any]], None] = lambda effect: None
    """Called before each effect: it may raise."""
    database: Database = field(init=False)

    def __post_init__(self) -> None:
        self.database = Database(f"sqlite:///{self.place}")

    def backed_up(self) -> Path:
        """Return a copy of the metadata database."""
        copy = self.place.with_name(f"{uuid.uuid4().hex[:8]}.db")
        with closing(sqlite3.connect(self.place)) as existing, closing(sqlite3.connect(copy)) as other:
            existing.backup(other)
        return copy

    def restore(self, copy: Path) -> None:
        """Go on with a copy of the metadata database."""
        self.database.close()
        self.place = copy
        self.database = Database(f"sqlite:///{copy}")

    def create(self) -> None:
        with self.database.write() as connection:
            connectors.create(connection, NAME, self._new(), TargetState.STARTED)

    def configure(self, **config: str) -> None:
        self.config = {**self.config, **config}
        with self.database.write() as connection:
            connectors.replace_config(connection, connectors.get(connection, NAME), self._new())

    def aim(self, target: TargetState) -> None:
        with self.database.write() as connection:
            connectors.set_target_state(connection, NAME, target)

    def delete(self) -> None:
        with self.database.write() as connection:
            connectors.delete(connection, NAME)

    def _new(self) -> NewConfig:
        return NewConfig(ConnectorType.SINK, self.config)

    @property
    def limits(self) -> WorkerLimits:
        return WorkerLimits((self.root,), standalone=True)

    @property
    def interval_settings(self) -> IntervalSettings:
        topics = tuple(self.config.get("topics", "t").split(","))
        tasks = int(self.config.get("tasks.max", "1"))
        return IntervalSettings(tasks, topics=topics, consumer_group=f"connect-{NAME}", **self.settings)

    def handlers(self) -> dict[type[fx.Effect[Any]], Callable[[Any], Any]]:
        context = DriverContext(NAME, self.limits, self.deployment)
        table: dict[type[fx.Effect[Any]], Callable[[Any], Any]] = {
            **StoreEffects(self.database).handlers(),
            **ConnectorEffects(self.connector(), context, self.config).handlers(),
            fx.ReadPartitionEnds: self.topics.ends,
            fx.ReadGroupOffsets: lambda e: {p: o for p, o in self.topics.group.items() if p in e.partitions},
            fx.CommitGroupOffsets: lambda e: self.topics.group.update(e.positions),
            fx.ForgetGroup: lambda e: self.topics.group.clear(),
        }

        def watched(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
            def handle(effect: fx.Effect[Any]) -> Any:
                self.before(effect)
                return handler(effect)

            return handle

        return {kind: watched(handler) for kind, handler in table.items()}

    def run_of(self, holder: str) -> Run:
        """Return a run that has taken the connector."""
        state = perform(begin_run(NAME, holder, 60), self.handlers())
        assert state is not None, "another holder's lease is valid"
        return self.driven(state, holder)

    def driven(self, state: Any, holder: str = "") -> Run:
        return Run(NAME, holder, self.deployment, {}, state, self.interval_settings, lambda s: self.interval_settings,
                   lambda: uuid.uuid4().hex[:12], lambda deployment, name, task: f"{name}-{task}")  # fmt: skip

    def execute(self, plan: TaskPlan) -> TaskResult:
        """Execute a task as Spark would."""
        task = self.connector().task_class()()
        interval = IntervalContext(plan.key, plan.ranges, plan.columns, plan.attempt_id)
        task.initialize(SinkSide(self.limits, self.config, interval))
        task.start(self.config)
        positions = {}
        for part in plan.ranges:
            values = self.topics.values[part.topic][part.start : part.end]
            some = [
                SinkRecord(part.topic, part.partition, None, None, STRING_SCHEMA, value, kafka_offset=part.start + at)
                for at, value in enumerate(values)
            ]
            task.put(some)
            positions[part.topic_partition] = part.end
        staged = tuple(task.stage(positions))
        task.stop()
        records = Counts(sum(part.end - part.start for part in plan.ranges))
        return TaskResult(plan.task, TaskOutcome.DONE, records, positions=positions, staged=staged)

    def plan(self, run: Run) -> Planned:
        return perform(plan_interval(run), self.handlers())

    def commit(self, planned: Planned, results: list[TaskResult] | None = None) -> Committed:
        plan = planned.plan
        assert plan is not None
        done = [self.execute(task) for task in plan.tasks] if results is None else results
        return perform(commit_interval(planned.run, plan, done), self.handlers())

    def work(self, holder: str = "run h 1", most: int = 20) -> list[str]:
        """Work off what there is, as a run does → what became of each interval."""
        run, told = self.run_of(holder), []
        for _ in range(most):
            planned = self.plan(run)
            run = planned.run
            if planned.plan is None:
                told.append(planned.verdict.name)
                break
            told.append(self.commit(planned).name)
        perform(end_run(run), self.handlers())
        return told

    def die(self, before: type[fx.Effect[Any]], holder: str = "run h 1") -> Plan:
        """Let a driver work and be killed just before an effect, its lease kept → what it had planned."""
        planned = self.plan(self.run_of(holder))
        assert planned.plan is not None

        def kill(effect: fx.Effect[Any]) -> None:
            if isinstance(effect, before):
                raise Killed

        self.before = kill
        try:
            self.commit(planned)
        except Killed:
            return planned.plan
        finally:
            self.before = lambda effect: None
        raise AssertionError(f"no {before.__name__} came")

    def positions(self) -> dict[str, int]:
        with self.database.read() as connection:
            stored = offsets.sink_positions(offsets.load(connection, NAME, ConnectorType.SINK))
        return {str(part): position for part, position in stored.items()}

    def history(self) -> list[tuple[int, str, list[tuple[int, int]]]]:
        """Return sequence, state and bounds of each interval, the first one first."""
        with self.database.read() as connection:
            rows = [past.row for past in list_intervals(connection, NAME, 100)]
        ordered = sorted(rows, key=lambda row: row.key.sequence)
        return [(row.key.sequence, row.state.name, [(r.start, r.end) for r in row.ranges]) for row in ordered]


def lines(place: Path) -> list[str]:
    return place.read_text().split() if place.exists() else []

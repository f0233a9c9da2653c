"""The target is put back to an older state while an interval is unfinished: nothing is lost, and it moves again."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from connect_core.api import IntervalContext, TopicPartition
from connect_core.commit.interval import Committed, commit_interval
from connect_core.connectors.jdbc.sink.connector import JdbcSinkConnector
from connect_core.connectors.jdbc.sink.task import JdbcSinkTask
from connect_core.effects.connectors import ConnectorEffects, DriverContext
from connect_core.effects.perform import Handlers, perform
from connect_core.effects.store import StoreEffects
from connect_core.errors import StaleEpochError
from connect_core.interval import effects as fx
from connect_core.interval.values import (
    ConnectorType,
    Counts,
    IntervalSettings,
    IntervalState,
    PartitionEnds,
    TargetState,
    TaskOutcome,
    TaskPlan,
    TaskResult,
)
from connect_core.plan.interval import Planned, plan_interval
from connect_core.plan.run import Run, begin_run, end_run
from connect_core.store import Database, connectors, migrate
from connect_core.store.connectors import NewConfig
from connect_core.store.interval_history import list_intervals
from tests.connectors.contexts import SinkSide
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sink_runs import deliver, order

NAME = "copy"


@dataclass
class Copy:
    """A sink over a real metadata database and a real target; Kafka is the number of records there are."""

    database: Database
    server: Server
    records: int = 0
    settings: IntervalSettings = field(
        default_factory=lambda: IntervalSettings(1, topics=("orders",), consumer_group="connect-copy")
    )
    target: ConnectorEffects | None = None

    @property
    def config(self) -> dict[str, str]:
        own = {"connector.class": "JdbcSink", "topics": "orders", "auto.create": "true", "connection.backoff.ms": "10"}
        return {**self.server.config, **own}

    def create(self) -> None:
        with self.database.write() as connection:
            connectors.create(connection, NAME, NewConfig(ConnectorType.SINK, self.config), TargetState.STARTED)

    def run(self) -> Run:
        holder, settings = uuid.uuid4().hex, self.settings
        state = perform(begin_run(NAME, holder, 20.0), self.handlers())
        assert state is not None
        return Run(NAME, holder, "test", {}, state, settings, lambda _: settings,
                   lambda: uuid.uuid4().hex[:12], lambda *place: "-".join(map(str, place)))  # fmt: skip

    def handlers(self) -> Handlers:
        if self.target is None:
            context = DriverContext(NAME, self.server.limits)
            self.target = ConnectorEffects(JdbcSinkConnector(), context, self.config)
        kafka: dict[type, Callable[[Any], Any]] = {
            fx.ReadPartitionEnds: self.ends,
            fx.ReadGroupOffsets: lambda effect: {},
            fx.CommitGroupOffsets: lambda effect: None,
        }
        return {**StoreEffects(self.database).handlers(), **self.target.handlers(), **kafka}

    def ends(self, effect: fx.ReadPartitionEnds) -> dict[TopicPartition, PartitionEnds]:
        return {TopicPartition("orders", 0): PartitionEnds("id", 0, self.records, self.records)}

    def plan(self, run: Run) -> Planned:
        return perform(plan_interval(run), self.handlers())

    def drain(self) -> None:
        """Run intervals until nothing is left, in a process of its own."""
        self.target = None
        run = self.run()
        for _ in range(5):
            planned = self.plan(run)
            run = planned.run
            if planned.plan is None:
                perform(end_run(run), self.handlers())
                return
            results = [self.execute(task) for task in planned.plan.tasks]
            done = perform(commit_interval(run, planned.plan, results), self.handlers())
            run = run if done is Committed.COMMITTED else run.unfenced()
        raise AssertionError("it does not come to an end")

    def execute(self, plan: TaskPlan) -> TaskResult:
        task = JdbcSinkTask()
        interval = IntervalContext(plan.key, plan.ranges, plan.columns, plan.attempt_id)
        task.initialize(SinkSide(self.server.limits, self.config, interval))
        task.start(self.config)
        try:
            records = [order(offset, offset) for part in plan.ranges for offset in range(part.start, part.end)]
            deliver(task, records, in_batches=True)
            ends = {part.topic_partition: part.end for part in plan.ranges}
            staged = tuple(task.stage(ends))
            return TaskResult(plan.task, TaskOutcome.DONE, Counts(len(records)), positions=ends, staged=staged)
        except StaleEpochError:
            return TaskResult(plan.task, TaskOutcome.STALE)
        finally:
            task.stop()

    def ids(self) -> list[int]:
        return [row[0] for row in self.server.rows("SELECT id FROM orders ORDER BY 1")]

    def abandoned(self) -> list[str]:
        """Return what the history says of intervals given up."""
        with self.database.read() as connection:
            found = list_intervals(connection, NAME, 100)
        return [str(one.reason) for one in found if one.row.state is IntervalState.ABANDONED]


@pytest.fixture
def copy(server: Server, tmp_path: Path) -> Copy:
    url = f"sqlite:///{tmp_path}/metadata.db"
    migrate(url)
    made = Copy(Database(url), server)
    made.create()
    return made


def crash_with_an_interval_planned(copy: Copy) -> None:
    run = copy.run()
    planned = copy.plan(run)
    assert planned.plan is not None
    perform(end_run(planned.run), copy.handlers())


def test_restored_behind_the_start_of_an_unfinished_interval(copy: Copy) -> None:
    copy.records = 5
    copy.drain()
    backup = copy.server.rows("SELECT kafka_topic, kafka_offset FROM connect_offsets WHERE kafka_topic <> ''")
    assert backup == [("orders", 5)]
    copy.records = 10
    copy.drain()
    copy.records = 15
    crash_with_an_interval_planned(copy)
    copy.server.execute(
        "DELETE FROM orders WHERE id >= 5", "UPDATE connect_offsets SET kafka_offset = 5 WHERE kafka_topic <> ''"
    )
    copy.drain()
    assert copy.ids() == list(range(15))
    assert [reason.partition(";")[0] for reason in copy.abandoned()] == [
        "the target was restored to an earlier state: orders-0 is at 5 there, and the interval begins at 10"
    ]


@pytest.mark.parametrize("lost", ["the position", "all tables"])
def test_restored_to_before_the_connector_began(copy: Copy, lost: str) -> None:
    copy.records = 10
    copy.drain()
    copy.records = 15
    crash_with_an_interval_planned(copy)
    if lost == "the position":
        copy.server.execute("DELETE FROM orders", "DELETE FROM connect_offsets WHERE kafka_topic <> ''")
    else:
        copy.server.execute("DROP TABLE orders", "DROP TABLE connect_offsets", "DROP TABLE connect_offsets_schemas")
    copy.drain()
    assert copy.ids() == list(range(15))
    assert len(copy.abandoned()) == 1


def test_restored_while_a_task_runs(copy: Copy) -> None:
    """The task that runs meets a target without its position: it leaves nothing out, and the next plan goes on."""
    copy.records = 10
    copy.drain()
    copy.records = 15
    run = copy.run()
    planned = copy.plan(run)
    assert planned.plan is not None
    copy.server.execute("DELETE FROM orders", "DELETE FROM connect_offsets")
    assert [copy.execute(task).outcome for task in planned.plan.tasks] == [TaskOutcome.STALE]
    perform(end_run(planned.run), copy.handlers())
    copy.drain()
    assert copy.ids() == list(range(15))

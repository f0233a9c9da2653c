"""A source's offsets topic is changed, changed back, deleted, recreated (row 52): real broker, real store."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from connect_core.api.sink import IntervalKey
from connect_core.effects.kafka import KafkaEffects
from connect_core.effects.perform import Handlers, perform
from connect_core.effects.store import StoreEffects
from connect_core.errors import DataLossError, StaleEpochError
from connect_core.interval import effects as fx
from connect_core.interval.values import (
    ConnectorType,
    IntervalRow,
    IntervalSettings,
    IntervalState,
    SourceBounds,
    SourceOffsets,
    TargetState,
)
from connect_core.kafka.ids import transactional_id
from connect_core.kafka.marker_records import MarkerStamp
from connect_core.kafka.markers import OffsetsTopic, check_start
from connect_core.kafka.writer import OffsetsTarget, TransactionalWriter
from connect_core.plan.abandon import OffsetRequest, abandon
from connect_core.plan.fence import fence_source
from connect_core.plan.run import Run, begin_run, end_run
from connect_core.plan.source import committed_offsets
from connect_core.store import Database, connectors, migrate
from connect_core.store.connectors import NewConfig
from tests.kafka.cluster import Cluster

pytestmark = pytest.mark.servers

NAME = "lines"
FILE, OTHER = '{"filename":"a"}', '{"filename":"b"}'


def at(position: int) -> dict[str, Any]:
    return {"position": position}


@dataclass
class Source:
    """One source connector; each plan takes it again and fences, as a run does that begins."""

    cluster: Cluster
    database: Database
    deployment: str

    def topic(self, name: str | None = None) -> str:
        return self.cluster.create(3, name, cleanup_policy="compact")

    def handlers(self, topic: str) -> Handlers:
        kafka = KafkaEffects(self.cluster.clients(), self.deployment, topic, "status")
        return {**StoreEffects(self.database).handlers(), **kafka.handlers()}

    def run(self, topic: str) -> Run:
        state = perform(begin_run(NAME, "r h x", 20.0), self.handlers(topic))
        assert state is not None
        return Run(NAME, "r h x", self.deployment, {}, state, IntervalSettings(), lambda row: IntervalSettings(),
                   lambda: "x", transactional_id)  # fmt: skip

    def plan(self, topic: str) -> tuple[Run, SourceOffsets, SourceBounds]:
        """Return the fenced run, and where its interval would start."""
        handlers = self.handlers(topic)
        run = perform(fence_source(self.run(topic), 1, "assignment"), handlers)
        offsets, projection = perform(committed_offsets(run), handlers)
        perform(end_run(run), handlers)
        return run, offsets, SourceBounds(offsets, None, {}, projection.position)

    def starts(self, topic: str) -> SourceOffsets:
        return self.plan(topic)[1]

    def move(self, topic: str, offsets: Mapping[str, int]) -> None:
        """Plan an interval, commit these offsets in a task's transaction, and the interval in SQL."""
        run, _, bounds = self.plan(topic)
        key = self.insert(run, bounds)
        self.commit(topic, run.mine, offsets)
        handlers = self.handlers(topic)
        reached, projection = perform(committed_offsets(run, bounds), handlers)
        done = fx.CommitInterval(key, run.mine, (), source_offsets=reached, offsets_position=projection.position)
        handlers[fx.CommitInterval](done)

    def insert(self, run: Run, bounds: SourceBounds) -> IntervalKey:
        with self.database.read() as connection:
            state = connectors.get(connection, NAME)
        key = IntervalKey(NAME, state.incarnation, state.sequence + 1, run.mine)
        row = IntervalRow(key, IntervalState.PLANNED, state.config_version, "assignment", source=bounds, tasks=1)
        StoreEffects(self.database).handlers()[fx.InsertInterval](fx.InsertInterval(row))
        return key

    def commit(self, topic: str, epoch: int, offsets: Mapping[str, int]) -> None:
        with self.writer(topic, epoch) as writer:
            writer.init()
            moved = [({"filename": key.split('"')[3]}, at(position)) for key, position in offsets.items()]
            writer.commit(moved, {key: {"inode": str(position)} for key, position in offsets.items()})

    def writer(self, topic: str, epoch: int) -> TransactionalWriter:
        target = OffsetsTarget(topic, NAME, MarkerStamp(epoch, 1, 1, 0, "x"))
        return TransactionalWriter(self.cluster.clients(), transactional_id(self.deployment, NAME, 0), target)

    def alter(self, topic: str, request: Mapping[str, Mapping[str, Any] | None] | None) -> None:
        self.aim(TargetState.STOPPED)
        run = self.run(topic)
        perform(abandon(run, OffsetRequest(request, "jo")), self.handlers(topic))
        perform(end_run(run), self.handlers(topic))
        self.aim(TargetState.STARTED)

    def aim(self, target: TargetState) -> None:
        with self.database.write() as connection:
            connectors.set_target_state(connection, NAME, target)

    def states(self) -> Mapping[str, Mapping[str, str]]:
        found: Mapping[str, Mapping[str, str]] = self.handlers("-")[fx.LoadOffsetStates](fx.LoadOffsetStates(NAME))
        return found

    def is_complete(self, topic: str) -> dict[str, Any]:
        view = OffsetsTopic(self.cluster.clients(), topic).read(NAME)
        return {key: marker.offset for key, marker in view.markers.items()}


@pytest.fixture
def source(cluster: Cluster, tmp_path: Path) -> Iterator[Source]:
    url = f"sqlite:///{tmp_path}/connect.db"
    migrate(url)
    database = Database(url)
    with database.write() as connection:
        connectors.create(connection, NAME, NewConfig(ConnectorType.SOURCE, {"name": NAME}), TargetState.STARTED)
    yield Source(cluster, database, f"dep-{uuid.uuid4().hex[:8]}")
    database.close()


def test_offsets_go_over_to_another_topic_and_back(source: Source) -> None:
    first, second = source.topic(), source.topic()
    source.move(first, {FILE: 100})
    assert source.starts(second) == {FILE: at(100)}
    assert source.is_complete(second) == {FILE: at(100)}
    assert source.states() == {FILE: {"inode": "100"}}
    source.move(second, {FILE: 200})
    assert source.starts(first) == {FILE: at(200)}
    assert source.is_complete(first) == {FILE: at(200)}


def test_what_only_the_topic_before_knows_goes_over(source: Source) -> None:
    """A driver was killed after its task's commit: SQL has not followed yet, and the topic is changed."""
    first, second = source.topic(), source.topic()
    run, _, bounds = source.plan(first)
    source.insert(run, bounds)
    source.commit(first, run.mine, {FILE: 100})
    assert source.starts(second) == {FILE: at(100)}
    assert source.states() == {FILE: {"inode": "100"}}


def test_forgotten_partitions_do_not_come_back_with_the_topic(source: Source) -> None:
    first, second = source.topic(), source.topic()
    source.move(first, {FILE: 100, OTHER: 7})
    source.move(second, {FILE: 150})
    source.alter(second, {OTHER: None})
    assert source.starts(first) == {FILE: at(150)}
    assert source.is_complete(first) == {FILE: at(150), OTHER: None}


def test_zombie_of_the_topic_before_sees_the_epoch_there(source: Source) -> None:
    """An attempt planned for the first topic begins only after the connector has gone over to the second."""
    first, second = source.topic(), source.topic()
    run, _, bounds = source.plan(first)
    source.plan(second)
    with source.writer(first, run.mine) as writer:
        writer.init()
        view = OffsetsTopic(source.cluster.clients(), first).read(NAME, bounds.position)
        with pytest.raises(StaleEpochError):
            check_start(view, MarkerStamp(run.mine, 1, 1, 0, "x"))


def test_altering_one_offset_after_a_change_leaves_the_others(source: Source) -> None:
    first, second = source.topic(), source.topic()
    source.move(first, {FILE: 100, OTHER: 7})
    source.move(second, {FILE: 200, OTHER: 9})
    source.alter(first, {FILE: at(50)})
    assert source.starts(first) == {FILE: at(50), OTHER: at(9)}
    assert source.starts(second) == {FILE: at(50), OTHER: at(9)}
    assert source.states() == {OTHER: {"inode": "9"}}


def test_reset_after_a_change_forgets_what_the_new_topic_held(source: Source) -> None:
    first, second = source.topic(), source.topic()
    source.move(first, {FILE: 100, OTHER: 7})
    source.move(second, {FILE: 200})
    source.alter(first, None)
    assert source.starts(first) == {}
    assert source.is_complete(first) == {FILE: None, OTHER: None}
    assert source.starts(second) == {}


def test_recreated_topic_is_given_the_offsets_again(source: Source) -> None:
    topic = source.topic()
    source.move(topic, {FILE: 100})
    source.cluster.delete(topic)
    source.topic(topic)
    assert source.starts(topic) == {FILE: at(100)}
    assert source.is_complete(topic) == {FILE: at(100)}


def test_restored_topic_does_not_take_offsets_back(source: Source) -> None:
    """A copy from before the last interval stands under the name: SQL has followed further."""
    topic = source.topic()
    source.move(topic, {FILE: 100})
    kept = source.cluster.read(topic, 3)
    source.move(topic, {FILE: 200})
    source.cluster.delete(topic)
    source.topic(topic)
    for one in kept:
        source.cluster.produce(topic, [one.value()], key=one.key(), headers=one.headers(), partition=one.partition())
    assert source.starts(topic) == {FILE: at(200)}


def test_topic_lost_with_an_unfinished_interval_asks_a_person(source: Source) -> None:
    topic = source.topic()
    source.move(topic, {FILE: 100})
    run, _, bounds = source.plan(topic)
    source.insert(run, bounds)
    source.commit(topic, run.mine, {FILE: 200})
    source.cluster.delete(topic)
    source.topic(topic)
    with pytest.raises(DataLossError, match="was deleted while interval 2 of lines was unfinished"):
        source.plan(topic)
    perform(end_run(run), source.handlers(topic))
    source.alter(topic, {FILE: at(200)})
    assert source.starts(topic) == {FILE: at(200)}


def test_older_database_follows_a_later_topic(source: Source) -> None:
    """The database is of an earlier time than the topic, which was copied under its name meanwhile."""
    topic = source.topic()
    source.move(topic, {FILE: 100})
    source.cluster.delete(topic)
    source.topic(topic)
    source.commit(topic, 50, {FILE: 500})
    run, offsets, _ = source.plan(topic)
    assert (offsets, run.mine) == ({FILE: at(500)}, 51)

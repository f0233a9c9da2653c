"""A source's offsets topic is changed, changed back, deleted, recreated (row 52): real broker, real store."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from connect_core.api.sink import IntervalKey
from connect_core.effects.kafka import KafkaEffects
from connect_core.effects.perform import Handlers, perform
from connect_core.effects.store import StoreEffects
from connect_core.errors import ConfigError, DataLossError, StaleEpochError
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
from connect_core.kafka.connector_claim import ConnectorClaim
from connect_core.kafka.ids import transactional_id
from connect_core.kafka.marker_records import ConnectorOwner, MarkerStamp
from connect_core.kafka.markers import OffsetsTopic, check_start
from connect_core.kafka.transactional_writer import OffsetsTarget, TransactionalWriter
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
    claim: ConnectorClaim | None = None

    def topic(self, name: str | None = None) -> str:
        return self.cluster.create(3, name, cleanup_policy="compact")

    def handlers(self, topic: str) -> Handlers:
        kafka = KafkaEffects(self.cluster.clients(), self.deployment, topic, "status", claim=self.claim)
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

    def alter(
        self, topic: str, wanted: Mapping[str, Mapping[str, Any] | None] | None, is_deleted: bool = False
    ) -> None:
        self.aim(TargetState.STOPPED)
        run = self.run(topic)
        perform(abandon(run, OffsetRequest(wanted, "jo", is_deleted)), self.handlers(topic))
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


@contextmanager
def created(cluster: Cluster, folder: Path) -> Iterator[Source]:
    """Create the connector in a new database, of a deployment of its own."""
    name = uuid.uuid4().hex[:8]
    url = f"sqlite:///{folder}/{name}.db"
    migrate(url)
    with closing(Database(url)) as database:
        with database.write() as connection:
            connectors.create(connection, NAME, NewConfig(ConnectorType.SOURCE, {"name": NAME}), TargetState.STARTED)
        yield Source(cluster, database, f"dep-{name}", claim_of(f"dep-{name}", f"database-{name}"))


def claim_of(group: str, database: str, replaces: str = "") -> ConnectorClaim:
    return ConnectorClaim(ConnectorOwner(group, database), replaces)


@pytest.fixture
def source(cluster: Cluster, tmp_path: Path) -> Iterator[Source]:
    with created(cluster, tmp_path) as source:
        yield source


@pytest.fixture
def other(cluster: Cluster, tmp_path: Path) -> Iterator[Source]:
    """A connector of the same name in another deployment on the same brokers."""
    with created(cluster, tmp_path) as source:
        yield source


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
    with pytest.raises(DataLossError, match=r"was deleted, or .* while interval 2 of lines was unfinished"):
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


def test_one_topic_keeps_a_name_for_one_deployment(source: Source, other: Source) -> None:
    topic = source.topic()
    source.move(topic, {FILE: 100})
    with pytest.raises(ConfigError) as refused:
        other.plan(topic)
    told = str(refused.value)
    assert told.startswith(f"Invalid value lines for configuration name: the offsets topic {topic} keeps")
    assert f"group.id={source.deployment} with the metadata database database-" in told
    assert "Set offsets.storage.topic of this connector to a topic of its own, rename it" in told
    assert "metadata.replaces=database-" in told
    # Nor may an operator move what is another's.
    with pytest.raises(ConfigError, match="another deployment"):
        other.alter(topic, {FILE: at(1)})
    run, offsets, _ = source.plan(topic)
    assert (run.mine, offsets) == (2, {FILE: at(100)}), "the first one was not disturbed"
    other.aim(TargetState.STARTED)
    assert other.starts(other.topic()) == {}


def test_a_deleted_connector_leaves_its_name_and_its_offsets_to_whoever_comes(source: Source, other: Source) -> None:
    topic = source.topic()
    source.move(topic, {FILE: 100})
    source.alter(topic, {}, is_deleted=True)
    assert other.starts(topic) == {FILE: at(100)}
    with pytest.raises(ConfigError, match=other.deployment):
        source.plan(topic)


def test_the_deployment_that_replaces_a_lost_database_takes_its_connectors(source: Source, other: Source) -> None:
    topic = source.topic()
    source.move(topic, {FILE: 100})
    assert source.claim is not None
    assert other.claim is not None
    other.claim = replace(other.claim, replaces=source.claim.owner.database)
    assert other.starts(topic) == {FILE: at(100)}
    with pytest.raises(ConfigError, match=other.deployment):
        source.plan(topic)


def test_a_standalone_worker_with_a_new_database_continues(source: Source, other: Source) -> None:
    topic = source.topic()
    source.claim, other.claim = claim_of("standalone-0", "standalone-0"), claim_of("standalone-1", "standalone-1")
    source.move(topic, {FILE: 200})
    assert other.starts(topic) == {FILE: at(200)}


def test_a_standalone_worker_takes_nothing_of_a_deployment(source: Source, other: Source) -> None:
    topic = source.topic()
    source.move(topic, {FILE: 100})
    other.claim = claim_of("standalone-1", "standalone-1")
    with pytest.raises(ConfigError, match="another deployment"):
        other.plan(topic)


def test_a_database_with_another_group_id_keeps_its_connectors(source: Source) -> None:
    topic = source.topic()
    source.move(topic, {FILE: 100})
    assert source.claim is not None
    source.deployment += "-renamed"
    source.claim = claim_of(source.deployment, source.claim.owner.database)
    assert source.starts(topic) == {FILE: at(100)}


def test_who_lost_a_topic_to_another_deployment_goes_on_in_one_of_its_own(source: Source, other: Source) -> None:
    """Records of versions without owners are anybody's: the first to plan has the name from then on."""
    topic, own = source.topic(), source.topic()
    kept, source.claim = source.claim, None
    source.move(topic, {FILE: 100})
    source.claim = kept
    assert other.starts(topic) == {FILE: at(100)}
    other.move(topic, {FILE: 900})
    with pytest.raises(ConfigError, match=other.deployment):
        source.plan(topic)
    assert source.starts(own) == {FILE: at(100)}, "its own offsets, not what the other has moved since"
    other.move(topic, {FILE: 950})
    source.move(own, {FILE: 200})

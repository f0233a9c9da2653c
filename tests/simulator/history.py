"""One history: a connector, the systems around it, and how each effect is performed on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.errors import RetriableError
from connect_core.interval import effects as fx
from connect_core.interval.sink_positions import sink_wishes
from connect_core.interval.values import (
    ConnectorState,
    ConnectorType,
    IntervalCaps,
    IntervalRow,
    IntervalSettings,
    OffsetProjection,
    PartitionEnds,
    TaskAssignment,
)
from connect_core.kafka import control
from connect_core.kafka.clients import destroy, init_transactions
from connect_core.kafka.ids import control_id, transactional_id
from connect_core.kafka.marker_records import CONTROL_TASK, Marker, MarkerStamp
from connect_core.plan.run import Run
from tests.simulator.backfills import ReplacedFiles, time_bounds
from tests.simulator.broker import OFFSETS, Broker, Topic
from tests.simulator.compared_metadata import ComparedMetadata
from tests.simulator.database import DatabaseTarget
from tests.simulator.disasters import Disasters
from tests.simulator.folder import FolderTarget
from tests.simulator.lines import LinesTarget
from tests.simulator.metadata import NAME, Metadata
from tests.simulator.surroundings import PARTS, Surroundings
from tests.simulator.targets import Acting, FileTarget, answered
from tests.simulator.truth import Truth, Violation, Where, parsed

__all__ = ["FILES", "KINDS", "OFFSETS_TOPIC", "PARTS", "PATH", "STORES", "TARGETS", "History", "record"]

STORES: Mapping[str, type[Metadata]] = {"quick": Metadata, "compared": ComparedMetadata}
"""Metadata databases: a quick one in memory; the same beside the production SQL, compared at every act."""
TARGETS: Mapping[str, Callable[[Shows], Any]] = {
    "model": lambda shows: FileTarget(shows.deliver),
    "replaced": lambda shows: ReplacedFiles(shows.deliver, fill=shows.fill),
    "lines": lambda shows: LinesTarget(shows.deliver, NAME),
    "folder": lambda shows: FolderTarget(shows.deliver, shows.fill, NAME, lambda: shows.history.actor),
}
"""Targets of the kind ``files``: a model with torn files and final names, and one whose files a backfill can replace;
the production code of FileStreamSink, and that of FileSystemSink."""
PATH = "path"
"""The configuration's key of what the target is; each other path is a target of its own."""
OFFSETS_TOPIC = "offsets.storage.topic"
KINDS = ("source", "database", "files", "plain")
FILES = ('{"file":"a"}', '{"file":"b"}')


@dataclass(frozen=True, slots=True)
class Shows:
    """What one target tells of what it shows: to the truth of its history."""

    history: History
    home: str = ""

    def deliver(self, part: TopicPartition, start: int, end: int, epoch: int, identity: str) -> None:
        """Note what became visible; ``identity`` is that of the topic it was read from."""
        self.history.deliver(part, start, end, epoch, Where(identity, self.home))

    def fill(self, part: TopicPartition, start: int, end: int, identity: str) -> None:
        """Note what a backfill made visible."""
        self.history.truth.fill(part, start, end, Where(identity, self.home))


@dataclass(slots=True)
class History:
    """The world of one connector of one kind."""

    kind: str
    policy: str = "skip"
    tasks_max: int = 2
    store: str = "quick"
    """Which metadata database: one of ``STORES``."""
    reset: str = "earliest"
    """``auto.offset.reset``."""
    target: str = "model"
    """Which target has files: one of ``TARGETS``."""
    has_moves: bool = False
    """Whether the configuration names another target now and then."""
    has_backfills: bool = False
    """Whether past hours are exported again; the target is then one whose files can be replaced."""
    is_held_back: bool = False
    """Whether drivers leave alone what is HELD, until a person has acted."""
    is_begun: bool = False
    """Whether each partition has a position by now, so that all of it that arrives is to be read."""
    is_live: Callable[[str], bool] = lambda holder: True
    sql: Metadata = field(init=False)
    broker: Broker = field(init=False)
    truth: Truth = field(init=False)
    database: DatabaseTarget = field(init=False)
    homes: dict[str, Any] = field(default_factory=dict)
    """Path → the files there."""
    config: Mapping[str, str] = field(default_factory=dict)
    """The configuration that whoever acts now has read."""
    actor: object = None
    """Who acts now, if it is a process: one that has clients of its own."""
    available: dict[Any, int] = field(default_factory=dict)
    stable: dict[TopicPartition, int] = field(default_factory=dict)
    earliest: dict[TopicPartition, int] = field(default_factory=dict)
    topic_id: int = 1
    group: dict[TopicPartition, int] = field(default_factory=dict)
    table: Mapping[type[fx.Effect[Any]], Callable[[Any], Any]] = field(init=False)
    attempts: int = 0
    has_bound: bool = True
    elsewhere: dict[tuple[str | None, int], dict[str | TopicPartition, int | None]] = field(default_factory=dict)
    """Offsets topic and epoch → what an operator moved there, where SQL follows another topic."""
    offset_requests: set[int] = field(default_factory=set)
    """Epochs raised by operators."""
    disasters: Disasters = field(init=False)
    surroundings: Surroundings = field(init=False)
    has_lost_offsets: bool = False
    """Whether the offsets topic was lost, and no operator has said since where to go on."""

    def __post_init__(self) -> None:
        kind = ConnectorType.SOURCE if self.kind == "source" else ConnectorType.SINK
        self.sql = STORES[self.store](kind, lambda holder: self.is_live(holder))
        self.truth = Truth(self.sql.losses, repeats=self.kind == "plain")
        self.broker = Broker(self._deliver_record, on_marker=self._on_marker)
        self.database = DatabaseTarget(Shows(self).deliver, self._moved_rows)
        self.disasters, self.surroundings = Disasters(self), Surroundings(self)
        self.home()
        self.sql.on_commit, self.sql.on_finish = self._check_commit, self._on_finish
        self.sql.on_forget, self.sql.on_abandon = self._on_forget, self._check_abandon
        self.sql.on_losses = self._check_losses
        places: tuple[Any, ...] = FILES if self.kind == "source" else PARTS
        self.available = dict.fromkeys(places, 2)
        self.stable, self.earliest = dict.fromkeys(PARTS, 2), dict.fromkeys(PARTS, 0)
        for place in places:
            self.truth.first[place] = {0}
        self.surroundings.note_ends()
        self.table = {**self.sql.handlers(), **self._handlers()}

    def run(self, holder: str) -> Run:
        """Return a run, its lease still to be taken."""
        return Run(NAME, holder, "deployment", {}, self.sql.state, self.settings(), self._settings_of,
                   self._new_attempt, transactional_id)  # fmt: skip

    def settings(self) -> IntervalSettings:
        return IntervalSettings(
            self.tasks_max,
            topics=("t",),
            caps=IntervalCaps(records=3),
            data_loss=self.policy,
            consumer_group="g",
            offset_reset=self.reset,
        )

    def _settings_of(self, state: ConnectorState) -> IntervalSettings:
        return self.settings()

    def _new_attempt(self) -> str:
        self.attempts += 1
        return f"a{self.attempts}"

    def _handlers(self) -> dict[type[fx.Effect[Any]], Callable[[Any], Any]]:
        return {
            fx.WriteEpoch: self._write_epoch,
            fx.WriteOffsets: self._write_offsets,
            fx.FenceProducers: self._fence_producers,
            fx.ReadOffsetsTopic: self._read_topic,
            fx.ReadPartitionEnds: lambda effect: self.ends(),
            fx.ReadGroupOffsets: lambda effect: dict(self.group),
            fx.CommitGroupOffsets: lambda effect: self.group.update(effect.positions),
            fx.ForgetGroup: lambda effect: self.group.clear(),
            fx.TaskConfigs: self._task_configs,
            fx.LatestSourceOffsets: lambda effect: self.upper(),
            fx.CompareTarget: lambda effect: effect.config.get(PATH) == self.config.get(PATH),
            fx.FenceTarget: self._fence_target,
            fx.ReadLastInterval: lambda effect: self.home().last_interval() if self.kind == "files" else None,
            fx.ReadTargetMarker: self._read_marker,
            fx.ReadTimeBounds: lambda effect: time_bounds(effect, self.ends()),
            fx.ReadExistingExports: lambda effect: self.home().existing(effect.ranges),
            fx.CommitTarget: lambda effect: self.committer().commit(effect.key, effect.staged),
            fx.ReplaceTarget: lambda effect: self.home().replace(effect.key, effect.staged, effect.backfill),
            fx.PublishTarget: lambda effect: self.committer(effect.config).publish(effect.key, effect.marker),
            fx.AbandonTarget: self._abandon_target,
            fx.SweepTarget: lambda effect: self.committer(effect.config).sweep(effect.keep),
        }  # fmt: skip

    def committer(self, config: Mapping[str, str] | None = None) -> Any:
        """Return the committer of this kind of sink, by a configuration or the one that was read last."""
        if self.kind == "files":
            return self.home(config)
        return self.database if self.kind == "database" else None

    def home(self, config: Mapping[str, str] | None = None) -> Any:
        """Return the files a configuration names."""
        path = (self.config if config is None else config).get(PATH, "")
        if path not in self.homes:
            is_replaced = self.has_backfills and self.target == "model"
            self.homes[path] = TARGETS["replaced" if is_replaced else self.target](Shows(self, path))
        return self.homes[path]

    def upper(self) -> dict[str, dict[str, int]] | None:
        """Return where the source ends now; ``None`` where it does not tell."""
        return {key: {"at": self.available[key]} for key in FILES} if self.has_bound else None

    def ends(self) -> dict[TopicPartition, PartitionEnds]:
        """Return the ends of the topic that is read."""
        identity = f"id-{self.topic_id}"
        return {part: PartitionEnds(identity, self.earliest[part], self.stable[part], self.available[part])
                for part in PARTS}  # fmt: skip

    # -- what becomes visible

    def deliver(self, part: TopicPartition, start: int, end: int, epoch: int, where: Where) -> None:
        """Note what a target shows."""
        identity = where.identity
        if start < end and identity == f"id-{self.topic_id}" and end > self.stable[part]:
            raise Violation(f"I1 {part} [{start}, {end}) lies behind the last stable offset {self.stable[part]}")
        if self.kind == "plain" and epoch < self.sql.state.epoch:
            # A zombie's put repeats records, and proves nothing.
            return
        self.truth.deliver(part, start, end, epoch, where)

    def _deliver_record(self, value: bytes) -> None:
        self.truth.deliver(*parsed(value))

    def _on_marker(self, record: Any, topic: str) -> None:
        if not (isinstance(record, Marker) and record.stamp.task == CONTROL_TASK):
            return
        moved: dict[str | TopicPartition, int | None] = {
            record.canonical_partition: None if record.offset is None else record.offset["at"]
        }
        followed = self.sql.state.offsets_position
        if followed is None or followed.topic == topic:
            self.truth.move(moved, record.stamp.epoch)
        else:
            # It holds once SQL follows that topic.
            self.elsewhere.setdefault((topic, record.stamp.epoch), {}).update(moved)

    def _moved_rows(self, epoch: int, positions: Mapping[TopicPartition, int | None]) -> None:
        if epoch in self.offset_requests:
            self.truth.move(dict(positions), epoch)
            return
        for part, position in positions.items():
            is_first = self.truth.position.get(part) is None and position in self.truth.first[part]
            if position is None or not (is_first or self.truth.is_recorded(part, position)):
                raise Violation(f"I14 the target passes over {part} to {position}, and nothing says why")
            self.truth.position[part] = position

    def _on_finish(self, effect: fx.FinishIntent, is_reset: bool) -> None:
        topic = None if effect.position is None else effect.position.topic
        if moved_there := self.elsewhere.get((topic, effect.epoch)):
            self.truth.move(moved_there, effect.epoch)
        if self.kind in ("files", "plain"):
            # After a restored backup SQL does not know all that a reset is about.
            moved: dict[Any, Any] = dict.fromkeys(PARTS) if is_reset else dict(sink_wishes(effect.offsets))
            self.truth.move(moved, effect.epoch)
        elif self.has_lost_offsets:
            # What the request does not name goes on where SQL has it: nothing newer is known any more.
            self.truth.move({file: self.sql.offsets.get(file, {}).get("at") for file in FILES}, effect.epoch)
            self.has_lost_offsets = False

    def _on_forget(self, epoch: int) -> None:
        if self.kind in ("files", "plain"):
            self.truth.move(dict.fromkeys(PARTS), epoch)

    def _check_commit(self, row: IntervalRow) -> None:
        """I6: what SQL calls committed is in the target."""
        if self.kind == "files" and self._is_aborted(row):
            raise Violation(f"I6 interval {row.key.sequence} is committed in SQL, its manifest is an abort mark")
        for part in () if row.is_backfill else row.ranges:
            reached = self.truth.position.get(part.topic_partition)
            if part.start < part.end and (reached is None or reached < part.end):
                raise Violation(f"I6 {part} is committed in SQL, the target is at {reached}")
        if row.source is not None:
            for key, offset in self.sql.offsets.items():
                if offset["at"] > self.truth.position.get(key, 0):
                    raise Violation(f"I6 SQL has {key} at {offset}, Kafka at {self.truth.position.get(key)}")

    def _is_aborted(self, row: IntervalRow) -> bool:
        marker = self.home(self.sql.configs.get(row.config_version)).read_marker(row.key)
        return marker is None or marker.aborted or marker.is_foreign

    def _check_abandon(self, row: IntervalRow) -> None:
        """I6: of what SQL calls abandoned nothing is in the target."""
        if self.kind == "files" and not self._is_aborted(row):
            raise Violation(f"I6 interval {row.key.sequence} is abandoned in SQL, the target may commit it")
        reached = self.truth.position if self.kind in ("source", "database") else {}
        starts: dict[Any, int] = {}
        if row.source is not None:
            starts = {file: row.source.start.get(file, {"at": 0})["at"] for file in FILES}
        for part in row.ranges:
            if self.truth.identity.get(part.topic_partition) == part.topic_id:
                starts[part.topic_partition] = part.start
        for place, start in starts.items():
            if reached.get(place, start) > start:
                raise Violation(f"I6 {place} is abandoned at {start} in SQL, the target is at {reached[place]}")

    def _check_losses(self) -> None:
        if self.policy == "fail":
            raise Violation("I14 records are passed over, where interval.data.loss is fail")

    def check(self) -> None:
        """What must hold between any two steps, beside what is checked as it happens."""
        if self.sql.open_intervals > 1:
            raise Violation("I5 two intervals are unfinished")
        if self.kind == "source":
            self._check_states()
        for home in self.homes.values():
            home.look()

    def _check_states(self) -> None:
        offsets = self.sql.offsets
        for key, state in self.sql.states.items():
            if state["at"] != str(offsets[key]["at"]):
                raise Violation(f"I4 the state of {key} is {state}, its offset {offsets[key]}")

    # -- Kafka

    def _write_epoch(self, effect: fx.WriteEpoch) -> Acting:
        def write(producer: control.ControlProducer) -> None:
            producer.write(effect.epoch, MarkerStamp(epoch=effect.epoch))

        return self._control(self.offsets_topic(effect.topic), effect.epoch, write)

    def _write_offsets(self, effect: fx.WriteOffsets) -> Acting:
        def write(producer: control.ControlProducer) -> None:
            producer.write(None, MarkerStamp(epoch=effect.epoch), control.OffsetChanges(effect.offsets, effect.states))

        return self._control(self.offsets_topic(), effect.epoch + 1, write)

    def offsets_topic(self, name: str | None = None) -> Topic:
        """Return the offsets topic of a name, by default that of the configuration that was read last."""
        return Topic(self.broker, name or self.config.get(OFFSETS_TOPIC, OFFSETS))  # type: ignore[arg-type]

    def _control(self, topic: Topic, above: int, write: Callable[[control.ControlProducer], None]) -> Acting:
        with control.ControlProducer(topic, "deployment", NAME) as producer:
            producer.init()
            answered((yield "K0"))
            producer.check(above)
            self.broker.fault = yield "K0"
            try:
                write(producer)
            finally:
                self.broker.fault = None

    def _fence_producers(self, effect: fx.FenceProducers) -> Acting:
        ids = [transactional_id("deployment", NAME, task) for task in range(effect.tasks)]
        for identity in [control_id("deployment", NAME), *ids] if effect.has_control else ids:
            producer: Any = self.broker.producer({"transactional.id": identity})
            init_transactions(producer, 1.0)
            destroy(producer)
            answered((yield "K0"))

    def _read_topic(self, effect: fx.ReadOffsetsTopic) -> Acting:
        """Wait for the last stable offset, as the reader does; in the end give up."""
        topic = self.offsets_topic(effect.topic)
        for _ in range(3):
            try:
                view: OffsetProjection = topic.read(NAME, effect.position).projection()
            except RetriableError:
                answered((yield "K0"))
                continue
            return view
        self.broker.expire()
        return topic.read(NAME, effect.position).projection()

    # -- the connector

    def _task_configs(self, effect: fx.TaskConfigs) -> TaskAssignment:
        return TaskAssignment(
            tuple({"task": str(task)} for task in range(effect.max_tasks)), self.committer() is not None
        )

    def _fence_target(self, effect: fx.FenceTarget) -> Any:
        committer = self.committer(effect.config)
        if committer is None:
            return None
        kept = committer.fence(effect.epoch)
        if self.kind == "database":
            self.truth.fence(effect.epoch)
        return kept

    def _abandon_target(self, effect: fx.AbandonTarget) -> Any:
        committer = self.committer(effect.config)
        return None if committer is None else committer.abandon(effect.key, effect.positions)

    def _read_marker(self, effect: fx.ReadTargetMarker) -> Any:
        committer = self.committer(effect.config)
        return None if committer is None else committer.read_marker(effect.key)

    @property
    def parts(self) -> tuple[TopicPartition, ...]:
        """The partitions that are read; none of a source."""
        return () if self.kind == "source" else PARTS


def record(place: str, start: int, end: int, epoch: int) -> bytes:
    """Return a data record of a simulated source."""
    return json.dumps([place, start, end, epoch]).encode()

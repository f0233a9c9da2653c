"""An hourly export run for run, step by step, so that a driver may die, or sleep and wake up, before any act."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import CommitMarker, IntervalContext, IntervalKey
from connect_core.commit.interval import commit_interval
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector
from connect_core.errors import ConnectError
from connect_core.interval import effects as fx
from connect_core.interval.time_bounds import millis_of
from connect_core.interval.values import Counts, PartitionEnds, TaskOutcome, TaskPlan, TaskResult
from connect_core.kafka.time_bounds import TimedLog, find_time_bounds
from connect_core.plan.interval import Verdict, plan_interval
from connect_core.plan.run import begin_run, end_run
from connect_core.store.interval_history import PastInterval, list_intervals
from tests.connectors.contexts import SinkSide
from tests.connectors.filesystem.storages.stores import FileStore
from tests.recovery.sinks import NAME, Sink, Topics, new_database
from tests.simulator.store_metadata import MemoryDatabase
from tests.simulator.timed import TimedPartition, TimedReader

__all__ = ["DAY", "HourlySink", "begun", "exported", "hour", "hourly_sink", "stepping"]

DAY = datetime(2026, 3, 1, tzinfo=UTC)
CONFIG = {
    "topics": "t,u",
    "format": "json",
    "partitioner": "hourly",
    "timestamp.extractor": "Record",
    "tasks.max": "2",
}
HISTORY = (0.1, 0.9, 1.2, 0.8, 1.7, 9.5, 1.1, 2.3, 2.2, 1.9, 2.9)
"""Hours of records: late ones (0.8, 1.1, 1.9), one from the future, all out of order."""
TIMED = {"bound": "data_interval_end", "future": "advance", "offset_reset": "latest", "skew_ms": 30 * 60_000}


def hour(number: float) -> datetime:
    """Return a time, in hours of the first day."""
    return DAY + timedelta(hours=number)


@dataclass
class HourlySink(Sink):
    """A Sink whose records have times; ``now`` is an hour of the day."""

    times: dict[str, TimedPartition] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    """Topic → its id, if it was created again."""
    now: float = 0
    store: FileStore | None = None
    """Where its files are, if not in a folder of this machine."""
    folder: str = "lake"

    def append(self, topic: str, *hours: float) -> None:
        """Let records of these times arrive."""
        self.times.setdefault(topic, TimedPartition()).extend(millis_of(hour(one)) for one in hours)

    def handlers(self) -> dict[type[fx.Effect[Any]], Callable[[Any], Any]]:
        return {
            **super().handlers(),
            fx.ReadPartitionEnds: lambda effect: {
                TopicPartition(topic, 0): PartitionEnds(self._id(topic), 0, len(log), len(log))
                for topic, log in self.times.items()
            },
            fx.ReadTimeBounds: self._time_bounds,
        }

    def _id(self, topic: str) -> str:
        return self.ids.get(topic, f"id-{topic}")

    def recreate(self, topic: str) -> None:
        """Delete a topic and create it again, empty."""
        self.times[topic], self.ids[topic] = TimedPartition(), f"{self._id(topic)}-again"

    def _time_bounds(self, effect: fx.ReadTimeBounds) -> Any:
        logs = {TopicPartition(topic, 0): log for topic, log in self.times.items()}
        log = TimedLog(
            lambda parts, millis: {part: logs[part].first(millis) for part in parts},
            lambda ranges: nullcontext(TimedReader(logs, ranges)),
            lambda topics: {topic: self._id(topic) for topic in self.times},
        )
        return find_time_bounds(log, effect, millis_of(hour(self.now)), 4)

    def execute(self, plan: TaskPlan) -> TaskResult:
        """Execute a task as Spark would, and count its records by their times."""
        task = self.connector().task_class()()
        task.initialize(SinkSide(self.limits, self.config, _interval(plan)))
        task.start(self.config)
        counts, positions = Counts(), {}
        for part in plan.ranges:
            times = self.times[part.topic][part.start : part.end]
            at = zip(range(part.start, part.end), times, strict=True)
            task.put([_record(part.topic, offset, time) for offset, time in at])
            positions[part.topic_partition] = part.end
            late = sum(plan.times.late is not None and time < plan.times.late for time in times)
            future = sum(plan.times.bound is not None and time >= plan.times.bound for time in times)
            counts += Counts(records=len(times), late=late, future=future)
        staged = tuple(task.stage(positions))
        task.stop()
        return TaskResult(plan.task, TaskOutcome.DONE, counts, positions=positions, staged=staged)

    def run_steps(self, before: datetime, since: datetime | None = None, holder: str = "h") -> Iterator[Any]:
        """Carry out a run, of the schedule or a backfill, up to each act → how it ended, last."""
        handlers = self.handlers()
        state = yield from stepping(begin_run(NAME, holder, 0), handlers)
        run = replace(self.driven(state, holder), bound_time=before, since=since)
        while True:
            planned = yield from stepping(plan_interval(run), handlers)
            run = planned.run
            if planned.refusal is not None:
                raise planned.refusal
            if planned.plan is None:
                break
            results = [self.execute(task) for task in planned.plan.tasks]
            committed = yield from stepping(commit_interval(run, planned.plan, results), handlers)
            run = run.unfenced() if committed.name == "UNCLEAR" else run
            if since is None and planned.plan.is_last:
                break
        yield from stepping(end_run(run), handlers)
        yield planned.verdict is Verdict.IDLE

    def live(self, number: int) -> None:
        """Carry out the schedule's run at the end of an hour."""
        for _ in self.run_steps(hour(number)):
            pass

    def backfill(self, number: int) -> int:
        """Export the hour that ends then again → how many intervals that took."""
        before = len(self.history())
        for _ in self.run_steps(hour(number), hour(number - 1)):
            pass
        return len(self.history()) - before

    def past(self) -> list[PastInterval]:
        """Return the intervals, the oldest first."""
        with self.database.read() as connection:
            return list_intervals(connection, NAME, 100)[::-1]

    def marker(self, sequence: int) -> CommitMarker:
        """Return the marker of an interval of the first life."""
        found: CommitMarker = self.handlers()[fx.ReadTargetMarker](
            fx.ReadTargetMarker(IntervalKey(NAME, 1, sequence, 0))
        )
        return found

    @property
    def home(self) -> Path:
        return self.root / "lake"

    def existing(self) -> Counter[tuple[str, int, str]]:
        """Return topic, offset and folder of each record that readers see."""
        found = Counter[tuple[str, int, str]]()
        for folder, content in self._files():
            for line in content.splitlines():
                told = json.loads(line)
                found[told["topic"], told["offset"], folder] += 1
        return found

    def _files(self) -> Iterator[tuple[str, str]]:
        """Return folder and content of each file that readers see."""
        if self.store is None:
            yield from ((place.parent.name, place.read_text()) for place in self.home.glob("[tu]/*/*/*/*/*.json"))
            return
        for name in self.store.names(self.folder):
            if name.endswith(".json"):
                yield name.split("/")[-2], self.store.content(self.folder, name).decode()

    def expected(self, topic: str, start: int, end: int) -> Counter[tuple[str, int, str]]:
        """Return what readers should see of a range of offsets."""
        named = (
            (topic, offset, f"hour={datetime.fromtimestamp(self.times[topic][offset] / 1000, UTC):%H}")
            for offset in range(start, end)
        )
        return Counter(named)

    def marked(self) -> list[str]:
        """Return the hours that are marked as finished, of the first topic."""
        if self.store is None:
            return sorted(place.parent.name for place in self.home.glob("t/*/*/*/*/_SUCCESS"))
        names = [name.split("/") for name in self.store.names(self.folder)]
        return sorted(parts[-2] for parts in names if parts[0] == "t" and parts[-1] == "_SUCCESS" and len(parts) > 2)


def _interval(plan: TaskPlan) -> IntervalContext:
    return IntervalContext(plan.key, plan.ranges, plan.columns, plan.attempt_id, plan.times.bound)


def _record(topic: str, offset: int, time: int) -> SinkRecord:
    value = {"topic": topic, "offset": offset}
    return SinkRecord(topic, 0, value=value, kafka_offset=offset, timestamp=time)


def stepping(
    steps: Any, handlers: Mapping[type[fx.Effect[Any]], Callable[[Any], Any]]
) -> Generator[fx.Effect[Any], None, Any]:
    """Perform a protocol, and yield each effect before its act."""
    try:
        effect = next(steps)
        while True:
            yield effect
            try:
                answer = handlers[type(effect)](effect)
            except ConnectError as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(answer)
    except StopIteration as end:
        return end.value


def hourly_sink(root: Path, store: FileStore | None = None, folder: str = "lake", /, **config: str) -> HourlySink:
    """Return an hourly export of two topics, just created; its metadata are in memory."""
    place = new_database(root)
    target = {"path": str(root / folder)} if store is None else store.config(folder)
    sink = HourlySink(
        root, Topics(), place, {**CONFIG, **target, **config}, FileSystemSinkConnector, settings=TIMED, store=store
    )
    sink.folder = folder
    sink.database = MemoryDatabase()
    sink.create()
    return sink


def begun(root: Path, store: FileStore | None = None, folder: str = "lake", /, **config: str) -> HourlySink:
    """Return an export that began at the end of both topics, when three hours of records were in them."""
    sink = hourly_sink(root, store, folder, **config)
    sink.append("t", *HISTORY)
    sink.append("u", 0.5, 1.5, 2.5)
    sink.now = 3.1
    sink.live(3)
    return sink


def exported(sink: HourlySink) -> Counter[tuple[str, int, str]]:
    """Return what readers should see when all records are exported."""
    return sink.expected("t", 0, len(sink.times["t"])) + sink.expected("u", 0, len(sink.times["u"]))

"""A sink whose intervals are committed as a driver does it: in its target and in the metadata database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import IntervalContext, IntervalKey, PartitionRange, SinkCommitter, SinkConnector
from connect_core.effects.connectors import ConnectorEffects
from connect_core.effects.worker import ConnectorWorker
from connect_core.interval.effects import InsertInterval, LoadConnector, RaiseEpoch
from connect_core.interval.values import Counts, IntervalRow, IntervalState, TaskOutcome, TaskResult
from connect_core.store import connectors
from tests.connectors.contexts import SinkSide, limits_of
from tests.herder.harness import Harness, worker

EXPORT = {"connector.class": "FileSystemSink", "tasks.max": "1", "topics": "t", "path": "out"}


def world_of(harness: Harness, folder: Path) -> Harness:
    """Return the harness with a worker that may write below a folder."""
    return Harness(harness.database, worker(**{"file.roots": str(folder)}).with_standalone_id("here"))


@dataclass(slots=True)
class Export:
    """One connector; each ``run`` is one interval over the records of partition 0 of the topic t."""

    harness: Harness
    folder: Path
    config: Mapping[str, str] = field(default_factory=lambda: dict(EXPORT))
    name: str = "a"
    position: int = 0

    def create(self) -> Export:
        self.harness.create(self.name, dict(self.config))
        return self

    def effects(self) -> ConnectorEffects:
        herder = self.harness.herder
        with herder.database.read() as connection:
            state = connectors.get(connection, self.name)
        return ConnectorWorker(herder.worker, herder.database, self.name).reader(state)

    def run(self, values: Sequence[Any], *, gap: int = 0, is_recorded: bool = True, is_marked: bool = True) -> None:
        """Commit an interval: its records, and offsets without any behind them."""
        driver = self.harness.driver(self.name)
        assert driver.plan()
        driver.epoch = driver.do(RaiseEpoch(self.name, "driver"))
        state = driver.do(LoadConnector(self.name))
        key = IntervalKey(self.name, state.incarnation, state.sequence + 1, driver.epoch)
        end = self.position + len(values) + gap
        ranges = (PartitionRange("t", 0, self.position, end, "id-t"),)
        planned = IntervalRow(key, IntervalState.PLANNED, state.config_version, "deal", tasks=1, ranges=ranges)
        if is_recorded:
            driver.do(InsertInterval(planned))
        if is_marked:
            self._write(key, ranges, values)
        if is_recorded:
            result = TaskResult(0, TaskOutcome.DONE, counts=Counts(records=len(values)), host="spark:1")
            driver.commit(key, [result], positions={TopicPartition("t", 0): end})
        self.position = end

    def _write(self, key: IntervalKey, ranges: tuple[PartitionRange, ...], values: Sequence[Any]) -> None:
        effects = self.effects()
        committer = effects.committer()
        assert committer is not None
        assert isinstance(effects.connector, SinkConnector)
        committer.fence(key.epoch)
        marker = committer.commit(key, self._staged(effects.connector, key, ranges, values))
        committer.publish(key, marker)
        effects.close()

    def _staged(self, connector: SinkConnector, key: IntervalKey, ranges: Any, values: Sequence[Any]) -> Any:
        start, config = ranges[0].start, dict(connector.task_configs(1)[0])
        records = [SinkRecord("t", 0, value=value, kafka_offset=start + at) for at, value in enumerate(values)]
        task = connector.task_class()()
        interval = IntervalContext(key, ranges, {}, f"{key.epoch}-1")
        task.initialize(SinkSide(limits_of(self.folder), config, interval, None))
        task.start(config)
        try:
            task.put(records)
            return task.stage({part.topic_partition: part.end for part in ranges})
        finally:
            task.stop()

    def committer(self) -> SinkCommitter:
        committer = self.effects().committer()
        assert committer is not None
        return committer

    def files(self) -> list[Path]:
        places = (self.folder / "out" / "t").rglob("*")
        return sorted(place for place in places if place.name[0] not in "._" and place.is_file())

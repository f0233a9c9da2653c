"""An hourly export with a history, written to the metadata database as drivers do it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey, PartitionRange
from connect_core.interval.effects import AbandonInterval, InsertInterval, LoadConnector, RaiseEpoch
from connect_core.interval.values import Counts, IntervalRow, IntervalState, TaskOutcome, TaskResult
from tests.herder.harness import Driver, Harness

__all__ = ["FULL", "HOUR", "HOURLY", "HourlyExport"]

HOURLY = {
    "connector.class": "FileSystemSink",
    "tasks.max": "1",
    "topics": "t",
    "path": "out",
    "partitioner": "hourly",
    "timestamp.extractor": "Record",
    "schedule": "0 * * * *",
    "interval.bound": "data_interval_end",
}
HOUR = timedelta(hours=1)
FULL = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
"""The last full hour."""


@dataclass
class HourlyExport:
    """One connector; each act is one interval over offsets of partition 0 of the topic t."""

    harness: Harness
    name: str = "hourly"
    config: dict[str, str] = field(default_factory=lambda: dict(HOURLY))
    position: int = 0

    def create(self) -> HourlyExport:
        self.harness.create(self.name, self.config)
        return self

    def live(self, bound: datetime, records: int = 5, late: int = 0) -> None:
        """Commit an interval that a scheduled run ends at ``bound``."""
        driver, key = self.begin(bound, records)
        result = TaskResult(0, TaskOutcome.DONE, counts=Counts(records=records, late=late), host="spark:1")
        self.position += records
        driver.commit(key, [result], positions={TopicPartition("t", 0): self.position})

    def backfill(self, start: datetime, refusal: str = "") -> None:
        """Commit an interval of the backfill of an hour, or give it up."""
        driver, key = self.begin(start + HOUR, 5, start)
        if refusal:
            driver.do(AbandonInterval(key, driver.epoch, refusal))
        else:
            driver.commit(key, [TaskResult(0, TaskOutcome.DONE, counts=Counts(records=5), host="spark:1")])

    def begin(self, bound: datetime, records: int, since: datetime | None = None) -> tuple[Driver, IntervalKey]:
        """Insert the next interval, which stays unfinished."""
        driver = self.harness.driver(self.name)
        assert driver.plan()
        driver.epoch = driver.do(RaiseEpoch(self.name, "driver"))
        state = driver.do(LoadConnector(self.name))
        key = IntervalKey(self.name, state.incarnation, state.sequence + 1, driver.epoch)
        start = self.position if since is None else 0
        ranges = (PartitionRange("t", 0, start, start + records, "id-t"),)
        row = IntervalRow(key, IntervalState.PLANNED, state.config_version, "deal", ranges=ranges, tasks=1)
        driver.do(InsertInterval(replace(row, bound_time=bound, since=since)))
        return driver, key

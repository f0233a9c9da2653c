"""Hours of a topic on a real broker, one by one, exported again in between and twice at the end.

``make test`` tries six of them, ``make matrix`` (CONNECT_MATRIX=1) a day.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from connect_core.effects.worker import ConnectorWorker
from connect_core.interval.runs import RunOutcome, RunRequest, RunStatus
from connect_core.run.driver import Driver
from connect_core.run.loop import work_off
from connect_core.run.runner import ThreadRunner
from tests.docs.example_run import worker_of
from tests.full_run import examples

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

NAME, TOPIC, HOURS, PARTITIONS = "day", "orders-of-a-day", examples(6, 24), 2
NOW = datetime.now(UTC)
DAY = (NOW - timedelta(days=2)).replace(hour=0, minute=0, second=0, microsecond=0)
FAR_AHEAD = NOW.replace(minute=0, second=0, microsecond=0) + timedelta(days=3)
CONFIG = {
    "connector.class": "FileSystemSink",
    "tasks.max": "2",
    "topics": TOPIC,
    "format": "json",
    "partitioner": "hourly",
    "timestamp.extractor": "Record",
    "schedule": "0 * * * *",
    "interval.bound": "data_interval_end",
    "interval.future.timestamps": "advance",
}


@dataclass
class Day:
    """The topic as it was written, and its export."""

    worker: ConnectorWorker
    producer: Producer
    home: Path
    written: dict[int, list[datetime]] = field(default_factory=lambda: {part: [] for part in range(PARTITIONS)})
    exported: list[int] = field(default_factory=lambda: [0] * PARTITIONS)
    """Where the live export stands, as it should."""

    def write(self, hour: int, chance: Random) -> None:
        """Write the records of an hour: out of order, with late ones, ones of the next hour, and one of far ahead."""
        times = [DAY + timedelta(hours=hour, seconds=chance.randrange(3600)) for _ in range(12)]
        times += [DAY + timedelta(hours=hour - chance.uniform(0, min(hour, 5))) for _ in range(3)]
        times += [DAY + timedelta(hours=hour + 1, seconds=chance.randrange(600)) for _ in range(2)]
        times += [FAR_AHEAD] * (hour % 6 == 1)
        chance.shuffle(times)
        for number, moment in enumerate(times):
            part = number % PARTITIONS
            moment = moment.replace(microsecond=0)
            value = json.dumps({"partition": part, "offset": len(self.written[part])}).encode()
            self.producer.produce(TOPIC, value, partition=part, timestamp=int(moment.timestamp() * 1000))
            self.written[part].append(moment)
        assert self.producer.flush(30) == 0

    def live(self, hour: int) -> RunOutcome:
        """Carry out the schedule's run at the end of an hour."""
        return self._run(f"scheduled__{hour}", DAY + timedelta(hours=hour + 1))

    def backfill(self, hour: int) -> RunOutcome:
        """Carry out a backfill's run of an hour."""
        start = DAY + timedelta(hours=hour)
        return self._run(f"backfill__{hour}", start + timedelta(hours=1), since=start, begun_at=datetime.now(UTC))

    def _run(self, run_id: str, bound: datetime, **more: Any) -> RunOutcome:
        request = RunRequest(NAME, run_id, bound_time=bound, **more)
        return work_off(request, Driver(self.worker), ThreadRunner())

    def taken(self, hour: int) -> tuple[int, int, int]:
        """Return how many records an hour's live export has to take now, how many of them late, or of far ahead."""
        before, since = DAY + timedelta(hours=hour + 1), DAY + timedelta(hours=hour)
        found = []
        for part, times in self.written.items():
            end = start = self.exported[part]
            while end < len(times) and (times[end] < before or times[end] == FAR_AHEAD):
                end += 1
            found += times[start:end]
            self.exported[part] = end
        late = sum(moment < since for moment in found) if hour else 0
        return len(found), late, found.count(FAR_AHEAD)

    def existing(self) -> Counter[tuple[int, int, str]]:
        """Return partition, offset and folder of each record that readers see."""
        found = Counter[tuple[int, int, str]]()
        for place in self.home.rglob("*.json"):
            if "_connect" not in place.parts:
                folder = "/".join(place.parts[-5:-1])
                lines = [json.loads(line) for line in place.read_text().splitlines()]
                found.update((line["partition"], line["offset"], folder) for line in lines)
        return found

    def expected(self) -> Counter[tuple[int, int, str]]:
        """Return what they should see of what the live export has passed."""
        return Counter(
            (part, offset, times[offset].strftime("year=%Y/month=%m/day=%d/hour=%H"))
            for part, times in self.written.items()
            for offset in range(self.exported[part])
        )

    def files(self) -> dict[Path, tuple[int, int]]:
        """Return which files there are, and which ones they are."""
        found = {place: place.stat() for place in self.home.rglob("*") if "_connect" not in place.parts}
        return {place: (one.st_ino, one.st_mtime_ns) for place, one in found.items() if place.is_file()}

    def finished(self) -> list[int]:
        """Return the hours of the day that are marked as finished."""
        places = self.home.glob(f"{TOPIC}/{DAY:year=%Y/month=%m/day=%d}/*/_SUCCESS")
        return sorted(int(place.parent.name.removeprefix("hour=")) for place in places)


@pytest.fixture
def day(bootstrap: str, tmp_path: Path) -> Iterator[Day]:
    settings = {"message.timestamp.after.max.ms": str(10**12)}
    topic = NewTopic(TOPIC, PARTITIONS, 1, config=settings)
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([topic])[TOPIC].result()
    config = {**CONFIG, "path": str(tmp_path / "lake")}
    with worker_of(tmp_path, bootstrap, NAME, config) as worker:
        yield Day(worker, Producer({"bootstrap.servers": bootstrap}), tmp_path / "lake")


def test_a_day_is_exported_by_the_hour_and_twice_again(day: Day) -> None:
    chance, told = Random(7), []
    for hour in range(HOURS):
        day.write(hour, chance)
        outcome = day.live(hour)
        records, late, ahead = day.taken(hour)
        finished = outcome.finished
        assert (finished["records"], finished["late"], finished["future"]) == (records, late, ahead), hour
        told.append(finished["bound_time"])
        assert day.existing() == day.expected(), f"after the live run of hour {hour}"
        if hour % 4 == 3:
            again = day.backfill(hour - 2)
            assert again.status is RunStatus.DRAINED
            assert again.finished["backfill"]
            assert day.existing() == day.expected(), "each record stands once, under its own hour"
    assert told == [(DAY + timedelta(hours=hour + 1)).isoformat() for hour in range(HOURS)], "one event an hour"
    existing = day.files()

    outcomes = [day.backfill(hour) for hour in range(HOURS)]
    assert {one.status for one in outcomes} <= {RunStatus.DRAINED, RunStatus.IDLE}
    assert set(day.files()) == set(existing), "all files have the names they had"
    assert day.existing() == day.expected()
    assert day.finished() == list(range(HOURS))
    existing = day.files()

    assert {day.backfill(hour).status for hour in range(HOURS)} == {RunStatus.IDLE}
    assert day.files() == existing
    assert day.live(HOURS).records == day.taken(HOURS)[0], "the live export goes on where it stood"
    assert day.existing() == day.expected()

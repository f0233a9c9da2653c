"""A verifiable history: numbered lines go file → topic → Parquet while faults happen, and are checked at the end."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import pyarrow.dataset as ds
import pyarrow.parquet as pq

from connect_core.errors import RetriableError
from connect_core.herder.status import get_status
from connect_core.interval.values import ConnectorType, IntervalState, TargetState
from connect_core.store import connectors
from connect_core.store.connectors import NewConfig
from connect_core.store.interval_history import PastInterval, list_intervals
from tests.faults.lives import interval_violations
from tests.faults.order import files_out_of_order, partitions_out_of_order
from tests.faults.world import World

Found = TypeVar("Found")
"""What is waited for."""

_BATCH = 1000
_LEAST = 1000
_DRAIN_SECONDS = 300.0
_SWEEP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Findings:
    """What a history came to: a run that moved little proves little."""

    faults: int
    records: int
    lost: int
    repeated: int
    violations: tuple[str, ...]
    recovery_seconds: float

    def with_violations(self, *violations: str) -> Findings:
        """Return the same with more violations."""
        return replace(self, violations=(*self.violations, *violations))

    @property
    def is_good(self) -> bool:
        """Whether all was kept."""
        return not (self.lost or self.repeated or self.violations) and self.records >= _LEAST


@dataclass(slots=True)
class History:
    """One source and one sink over one topic, named after the fault row."""

    world: World
    name: str
    tasks: int = 2
    partitions: int = 4
    topic: str = ""
    written: int = 0
    _writer: threading.Thread | None = None
    recovery_seconds: float = 0.0
    recreated: set[str] = field(default_factory=set)
    """Connectors that were deleted: of what their runs still committed then, their rows may not tell."""
    is_ordered: bool = True
    """Whether the lines stand in the file in the order of their numbers: one writer, one file."""

    @property
    def source(self) -> str:
        """The name of the source connector."""
        return f"{self.name}-source"

    @property
    def sink(self) -> str:
        """The name of the sink connector."""
        return f"{self.name}-sink"

    @property
    def connectors(self) -> tuple[str, ...]:
        """The names of all connectors, the source first."""
        return (self.source, self.sink)

    @property
    def file(self) -> Path:
        """Where the lines are written."""
        return self.world.folder / f"{self.name}.txt"

    @property
    def exported(self) -> Path:
        """Where the sink writes."""
        return self.world.folder / f"{self.name}-parquet"

    def begin(self, **source: str) -> None:
        """Create topic, connectors and drivers; ``source`` are more settings of the source."""
        self.file.touch()
        self.topic = self.topic or self.world.topics.create(self.partitions)
        self._create(self.source, ConnectorType.SOURCE, {**self.source_config(), **source})
        self._create(self.sink, ConnectorType.SINK, self.sink_config())
        for name in self.connectors:
            self.world.drive(name)

    def source_config(self) -> dict[str, str]:
        """Return the source's configuration."""
        return {
            "name": self.source,
            "connector.class": "FileStreamSource",
            "file": str(self.file),
            "topic": self.topic,
            "transforms": "wrap",
            "transforms.wrap.type": "org.apache.kafka.connect.transforms.HoistField$Value",
            "transforms.wrap.field": "line",
            "interval.max.records": "6000",
        }

    def sink_config(self) -> dict[str, str]:
        """Return the sink's configuration."""
        return {
            "name": self.sink,
            "connector.class": "FileSystemSink",
            "tasks.max": str(self.tasks),
            "topics": self.topic,
            "path": str(self.exported),
            "interval.max.records": "6000",
        }

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Append lines while the block runs, and to the end of them after it."""
        writer = self._writer = threading.Thread(target=self._write, daemon=True)
        writer.start()
        yield
        writer.join()

    def _write(self) -> None:
        for _ in range(self.world.batches):
            self._append()
            time.sleep(self.world.pause_seconds)

    def _append(self) -> None:
        with self.file.open("a") as target:
            target.writelines(f"line {number}\n" for number in range(self.written, self.written + _BATCH))
        self.written += _BATCH

    def append_if_drained(self, connector: str) -> None:
        """Append lines where all are written and the connector has moved them: it shall have something to do."""
        is_writing = self._writer is not None and self._writer.is_alive()
        if not is_writing and self.committed(connector) >= self.written:
            self._append()

    def heal(self) -> None:
        """End the fault: every connector has a driver again. Wait until each moves, or has nothing left to move.

        Where there are several faults, the longest wait counts.
        """
        began, before = time.monotonic(), {name: self._moved(name) for name in self.connectors}
        self.world.heal(*self.connectors)
        for name, moved in before.items():
            _await(partial(self._moves, name, moved), _DRAIN_SECONDS, f"{name} moves no more")
        self.recovery_seconds = max(self.recovery_seconds, time.monotonic() - began)

    def _moved(self, connector: str) -> int:
        return _await(lambda: self.committed(connector), _DRAIN_SECONDS, "the metadata database does not answer")

    def _moves(self, connector: str, before: int) -> bool | None:
        """Return true if more is committed than before, or all of what was there before it."""
        moved = self.committed(connector)
        left = self.written if connector == self.source else self.committed(self.source)
        return moved > before or moved >= left or None

    def intervals(self, connector: str) -> list[PastInterval]:
        """Return the connector's intervals, the oldest first."""
        with self.world.database.read() as connection:
            return sorted(list_intervals(connection, connector, 10_000), key=lambda one: one.row.key.sequence)

    def committed(self, connector: str) -> int:
        """Return how many records its committed intervals have moved."""
        if connector in self.recreated:
            return len(self.in_topic() if connector == self.source else self.in_parquet())
        done = (one for one in self.intervals(connector) if one.row.state is IntervalState.COMMITTED)
        return sum(one.counts.records for one in done)

    def await_running(self, connector: str, seconds: float = 120.0) -> PastInterval:
        """Wait until the connector's job runs, and return its interval."""
        return _await(lambda: next(iter(self._running(connector)), None), seconds, f"no job of {connector} runs")

    def await_committed(self, connector: str, records: int, seconds: float = 300.0) -> None:
        """Wait until the connector has moved so many records."""
        what = f"{connector} has not moved {records} records"
        _await(lambda: self.committed(connector) >= records or None, seconds, what)

    def await_failure(self, connector: str, text: str, seconds: float = 120.0) -> str:
        """Wait until the connector or a task of it has failed with this in its trace → the trace."""

        def trace() -> str | None:
            status = get_status(self.world.herder, connector).to_json()
            told = " ".join(part.get("trace", "") for part in (status["connector"], *status["tasks"]))
            return told if text in told else None

        return _await(trace, seconds, f"{connector} has not failed with {text!r}")

    def change(self, connector: str, target: TargetState) -> None:
        """Pause, stop or resume a connector."""
        with self.world.database.write() as connection:
            connectors.set_target_state(connection, connector, target)

    def reconfigure(self, connector: str, config: dict[str, str]) -> None:
        """Store a new configuration."""
        kind = ConnectorType.SOURCE if connector == self.source else ConnectorType.SINK
        with self.world.database.write() as connection:
            connectors.replace_config(connection, connectors.get(connection, connector), NewConfig(kind, config))

    def forget(self, connector: str) -> None:
        """Take note that the connector was deleted, perhaps in a run that still committed."""
        self.recreated.add(connector)

    def end(self, faults: int) -> Findings:
        """Wait until all is moved, end the drivers and check everything."""
        self.await_moved()
        self._await_swept()
        self.world.end_drivers()
        return self.checked(faults)

    def await_moved(self) -> None:
        """Wait until every connector has committed all that was written."""
        for connector in self.connectors:
            self.await_committed(connector, self.written, _DRAIN_SECONDS)

    def _await_swept(self) -> None:
        """Wait for the run that moved the last record to end: it removes what failed attempts staged."""
        end = time.monotonic() + _SWEEP_SECONDS
        while len(self._staged()) > self._most_staged and time.monotonic() < end:
            time.sleep(0.05)

    def checked(self, faults: int) -> Findings:
        """Compare topic, files and intervals with what was written, over all lives of the connectors."""
        expected = range(self.written)
        lost_there, repeated_there = compared(self.in_topic(), expected)
        lost_here, repeated_here = compared(self.in_parquet(), expected)
        violations = tuple(self._violations())
        return Findings(
            faults,
            self.written,
            lost_there + lost_here,
            repeated_there + repeated_here,
            violations,
            self.recovery_seconds,
        )

    def in_topic(self) -> list[int]:
        """Return the numbers of the lines in the topic, read_committed."""
        values = self.world.topics.read(self.topic, self.written)
        return [number_of(value) for value in values]

    def in_parquet(self) -> list[int]:
        """Return the numbers of the lines that a reader of the files sees."""
        folder = self.exported / self.topic
        if not folder.exists():
            return []
        table = ds.dataset(str(folder), format="parquet").to_table()
        return [int(line.split()[1]) for line in table["line"].to_pylist()]

    def _violations(self) -> Iterator[str]:
        for connector in self.connectors:
            found = interval_violations(self.intervals(connector), self.written)
            yield from (f"{violation} ({connector})" for violation in found)
        if self.is_ordered:
            yield from self._order_violations()
        staged = len(self._staged())
        if staged > self._most_staged:
            yield f"I10: {staged} staged files are left"

    @property
    def _most_staged(self) -> int:
        """How many staged files one interval may have left when its driver is ended."""
        return self.tasks * self.partitions

    def _staged(self) -> list[Path]:
        # Unlike rglob, walk passes over folders that a run removes at the same time.
        staged = (Path(folder, file) for folder, _, files in os.walk(self.exported) for file in files)
        return [file for file in staged if "+tmp" in file.parts]

    def _order_violations(self) -> Iterator[str]:
        """A partition holds the lines in their order, and so do its files, one after the other."""
        placed = ((partition, number_of(value)) for partition, value in self.world.topics.placed(self.topic))
        for partition in partitions_out_of_order(placed):
            yield f"I3: partition {partition} of the topic holds lines out of order"
        folders = (self.exported / self.topic).glob("partition=*")
        files = {folder.name: [_numbers_in(file) for file in folder.glob("*.parquet")] for folder in folders}
        for name in files_out_of_order(files):
            yield f"I3: the files of {name} hold lines out of order"

    def _running(self, connector: str) -> list[PastInterval]:
        return [one for one in self.intervals(connector) if one.row.state is IntervalState.RUNNING]

    def _create(self, name: str, kind: ConnectorType, config: dict[str, str]) -> None:
        with self.world.database.write() as connection:
            connectors.create(connection, name, NewConfig(kind, config), TargetState.STARTED)


def number_of(value: bytes | None) -> int:
    """Return the number of the line in a record's value, JSON with its schema or without."""
    content = json.loads(value or b"{}")
    return int(content.get("payload", content)["line"].split()[1])


def _numbers_in(file: Path) -> list[int]:
    lines = pq.ParquetFile(file).read(["line"])["line"].to_pylist()
    return [int(line.split()[1]) for line in lines]


def compared(found: list[int], expected: range) -> tuple[int, int]:
    """Return how many are lost and how many are repeated."""
    counts = Counter(found)
    return len(set(expected) - counts.keys()), sum(counts.values()) - len(counts)


def _await(look: Callable[[], Found | None], seconds: float, what: str) -> Found:
    end = time.monotonic() + seconds
    while (found := _seen(look)) is None:
        if time.monotonic() > end:
            raise TimeoutError(f"After {seconds:.0f} s: {what}")
        time.sleep(0.05)
    return found


def _seen(look: Callable[[], Found | None]) -> Found | None:
    try:
        return look()
    except RetriableError:
        # The database is what is harmed.
        return None

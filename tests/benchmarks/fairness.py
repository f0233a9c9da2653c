"""Whether a big backlog holds up small connectors: ``python -m tests.benchmarks.fairness [--connectors N]``.

Small FileSystemSinks of one ``connect standalone`` get a record each in turn, and it is measured how soon each is in
its file: alone, and beside one more sink of the same worker that works off a backlog with as many tasks as it has
partitions. Prints both, their ratio, and the worker's processor seconds in each phase. The goal is that of the issue,
for two quiet cores.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import pyarrow.parquet as pq
from confluent_kafka import Producer
from rich.console import Console
from rich.table import Table

from tests.benchmarks.comparison import machine
from tests.benchmarks.latency import stack_of
from tests.integration.test_standalone import standalone, write_worker
from tests.integration.topics import Topics

__all__ = ["main"]

_GOAL = 2.0
_WAIT_SECONDS, _LOOK_SECONDS = 300.0, 0.02
_BIG, _BIG_PARTITIONS = "big", 24
_RECORD = json.dumps({"id": 1, "name": "a name", "text": "x" * 60, "amount": 12.5}).encode()


@dataclass(frozen=True)
class Phase:
    """How soon records were in their files, in seconds, and what the worker with its tasks used meanwhile."""

    waits: Sequence[float]
    seconds: float
    cpu_seconds: float

    @property
    def p95(self) -> float:
        """The 95th percentile of the waits."""
        return sorted(self.waits)[int(len(self.waits) * 0.95)]


@dataclass
class Small:
    """Sinks that get a record each in turn."""

    topics: Topics
    folder: Path
    names: Sequence[str]
    worker: psutil.Process
    _written: dict[str, float] = field(default_factory=dict)
    _seen: set[Path] = field(default_factory=set)
    _waits: list[float] = field(default_factory=list)

    def measure(self, rounds: int, pause: float) -> Phase:
        """Write a record to each, ``rounds`` times, one every ``pause`` seconds. Raise TimeoutError."""
        self._waits, began, used = [], time.monotonic(), self._cpu_seconds()
        for number, name in enumerate(list(self.names) * rounds):
            while time.monotonic() - began < number * pause or name in self._written:
                self._look()
            self._written[name] = time.monotonic()
            self.topics.write(name, [_RECORD], 1)
        while self._written:
            self._look()
        return Phase(self._waits, time.monotonic() - began, self._cpu_seconds() - used)

    def _cpu_seconds(self) -> float:
        return sum(cpu_seconds(one) for one in (self.worker, *self.worker.children(recursive=True)))

    def _look(self) -> None:
        """Note what has come of the records that are under way."""
        for name, written in list(self._written.items()):
            new = [file for file in published(self.folder / name) if file not in self._seen]
            if new:
                self._seen.update(new)
                self._waits.append(time.monotonic() - written)
                del self._written[name]
            elif time.monotonic() - written > _WAIT_SECONDS:
                raise TimeoutError(f"the record of {name} is in no file after {_WAIT_SECONDS:.0f} s")
        time.sleep(_LOOK_SECONDS)


def cpu_seconds(process: psutil.Process) -> float:
    """Return what a process and those of its children that have ended have used."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


def sink_config(topic: str, folder: Path) -> dict[str, str]:
    """Return a sink of a topic of its own name."""
    return {"name": topic, "connector.class": "FileSystemSink", "topics": topic, "path": str(folder)}


def published(folder: Path) -> Iterator[Path]:
    """Yield the files a sink has published; its own folders begin with ``_``, ``.`` or ``+``."""
    for file in folder.rglob("*.parquet"):
        if not any(part.startswith(("_", ".", "+")) for part in file.relative_to(folder).parts):
            yield file


def write_backlog(topics: Topics, records: int) -> None:
    """Fill the big sink's topic."""
    topics.create(_BIG_PARTITIONS, _BIG)
    producer = Producer({"bootstrap.servers": topics.bootstrap, "linger.ms": 50, "compression.type": "lz4"})
    for number in range(records):
        while True:
            try:
                producer.produce(_BIG, _RECORD, partition=number % _BIG_PARTITIONS)
                break
            except BufferError:
                producer.poll(0.5)
    assert producer.flush(300) == 0


@contextmanager
def running(folder: Path, topics: Topics, count: int) -> Iterator[tuple[Small, httpx.Client]]:
    """Run the small sinks in one worker → they, and its REST API."""
    names, out, files = [topics.create(1, f"small-{number}") for number in range(count)], folder / "out", []
    for name in names:
        file = folder / f"{name}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in sink_config(name, out / name).items()))
        files.append(file)
    worker = write_worker(folder, topics.bootstrap)
    address = next(line for line in worker.read_text().splitlines() if line.startswith("listeners="))
    with (
        standalone(folder, worker, *files) as process,
        httpx.Client(base_url=address.removeprefix("listeners="), timeout=60) as rest,
    ):
        yield Small(topics, out, names, psutil.Process(process.pid)), rest


def measure(folder: Path, options: argparse.Namespace) -> tuple[Phase, Phase, int]:
    """Return both phases, and how many records of the backlog were moved in the second. Raise RuntimeError."""
    with stack_of(folder, ("kafka",)) as stack:
        topics = Topics(stack.environment()["CONNECT_BOOTSTRAP_SERVERS"])
        write_backlog(topics, options.records)
        with running(folder, topics, options.connectors) as (small, rest):
            small.measure(1, 0.0)
            alone = small.measure(options.rounds, options.pause)
            rest.put(f"/connectors/{_BIG}/config", json=big_config(folder)).raise_for_status()
            time.sleep(options.warm_up)
            beside = small.measure(options.rounds, options.pause)
            moved = sum(pq.read_metadata(file).num_rows for file in published(folder / "out" / _BIG))
    if moved >= options.records:
        raise RuntimeError(f"The backlog of {options.records} records was gone before the end: use --records")
    return alone, beside, moved


def big_config(folder: Path) -> dict[str, str]:
    """Return the sink of the backlog: its intervals are short enough to be seen, and follow each other at once."""
    more = {"tasks.max": str(_BIG_PARTITIONS), "interval.max.records": "400000"}
    return {**sink_config(_BIG, folder / "out" / _BIG), **more}


def show(console: Console, alone: Phase, beside: Phase, moved: int) -> bool:
    """Print the figures → whether the goal is reached."""
    table = Table("small connectors", "p50", "p95", "max", "processor seconds", "of a core")
    for name, phase in (("alone", alone), ("beside a backlog", beside)):
        waits = [statistics.median(phase.waits), phase.p95, max(phase.waits)]
        share = 100 * phase.cpu_seconds / phase.seconds
        cells = [*(f"{wait:.2f} s" for wait in waits), f"{phase.cpu_seconds:.1f} in {phase.seconds:.0f} s"]
        table.add_row(name, *cells, f"{share:.0f} %")
    console.print(table)
    ratio = beside.p95 / alone.p95
    console.print(f"p95 beside / alone: {ratio:.2f} (at most {_GOAL:g}); the backlog moved {moved:,} records meanwhile")
    return ratio <= _GOAL


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; 1 where the goal is not reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connectors", type=int, default=20)
    parser.add_argument("--records", type=int, default=8_000_000, help="the backlog; it must outlast the measuring")
    parser.add_argument("--rounds", type=int, default=4, help="records of each small connector in each phase")
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between two records")
    parser.add_argument("--warm-up", type=float, default=5.0, help="seconds the backlog is worked off beforehand")
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="connect-fairness-") as folder:
        alone, beside, moved = measure(Path(folder), options)
    is_reached = show(Console(width=110), alone, beside, moved)
    if options.json:
        figures: dict[str, Any] = {"alone": asdict(alone), "beside": asdict(beside), "moved": moved}
        options.json.write_text(json.dumps({"machine": machine(), "figures": figures}, indent=1) + "\n")
    return 0 if is_reached else 1


if __name__ == "__main__":
    sys.exit(main())

"""How soon one record is in a Parquet file, and how soon a thousand: ``connect standalone``, the stack with Airflow.

    python -m tests.benchmarks.latency [standalone] [airflow] [--records N] [--bursts N] [--json FILE]

Private servers; one FileSystemSink of one task. A record counts as visible when its committed file is there, which is
looked for every 10 ms. Spark's classes are archived before, as a worker's first minute does. Goals are those of the
issue, for two quiet cores.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from connect_core.dev.stack import Stack
from connect_core.spark.class_archive import class_archive
from tests.benchmarks.comparison import machine
from tests.integration.deployment import Deployment
from tests.integration.test_standalone import standalone, write_worker
from tests.integration.topics import Topics

BURST = 1_000
TIMEOUT = 180.0
_PAUSE_SECONDS = 0.7
"""Between records, so that each finds nothing running."""
_GOALS: dict[str, dict[str, float | None]] = {
    "connect standalone": {"first": 6.0, "record": 1.0, "burst": 0.7},
    "Airflow": {"first": None, "record": 6.0, "burst": 5.0},
    "Airflow, run.linger.ms=5000": {"first": None, "record": 2.0, "burst": None},
}


@dataclass(frozen=True)
class Latencies:
    """Seconds: from start (standalone) or creation (Airflow) to the first data; of single records; of bursts."""

    name: str
    first: float
    records: Sequence[float]
    bursts: Sequence[float]


@dataclass
class Sink:
    """A sink that runs: its topic, and the folder it writes to."""

    topics: Topics
    topic: str
    folder: Path
    written: int = 0

    def config(self, name: str) -> dict[str, str]:
        """Return the connector."""
        return {
            "name": name,
            "connector.class": "FileSystemSink",
            "topics": self.topic,
            "path": str(self.folder),
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
        }

    def write(self, count: int) -> float:
        """Write records → the seconds until all are visible."""
        began = time.monotonic()
        values = [b'{"id": %d}' % number for number in range(self.written, self.written + count)]
        self.topics.write(self.topic, values, 1)
        self.written += count
        self.await_all(began)
        return time.monotonic() - began

    def await_all(self, began: float) -> None:
        """Wait until all that was written is visible. Raise TimeoutError."""
        rows, seen = 0, set[Path]()
        while rows < self.written:
            if time.monotonic() - began > TIMEOUT:
                raise TimeoutError(f"{rows} of {self.written} records after {TIMEOUT:.0f} s")
            new = {file for file in self.folder.rglob("*.parquet") if not _is_hidden(file, self.folder)} - seen
            rows += sum(pq.read_metadata(file).num_rows for file in new)
            seen |= new
            time.sleep(0.01)

    def measure(self, name: str, first: float, records: int, bursts: int) -> Latencies:
        """Write single records, then bursts."""
        singles, many = list[float](), list[float]()
        for _ in range(records):
            time.sleep(_PAUSE_SECONDS)
            singles.append(self.write(1))
        for _ in range(bursts):
            time.sleep(_PAUSE_SECONDS)
            many.append(self.write(BURST))
        return Latencies(name, first, singles, many)


def _is_hidden(file: Path, root: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(root).parts)


@contextmanager
def stack_of(folder: Path, services: Sequence[str] | None) -> Iterator[Stack]:
    """Run servers for the block."""
    data = folder / "data"
    data.mkdir()
    settings = {"CONNECT_FILE_ROOTS": str(data)}
    place = folder / "stack"
    stack = Stack(place, services=tuple(services)) if services else Stack(place, settings=settings)
    stack.up()
    try:
        yield stack
    finally:
        stack.down()


def measure_standalone(folder: Path, options: argparse.Namespace) -> Iterator[Latencies]:
    """``connect standalone``; the first record is in its topic when it starts."""
    if not class_archive().exists():
        subprocess.run([sys.executable, "-m", "connect_core.spark.class_archive_writing"], check=True)
    with stack_of(folder, ("kafka",)) as stack:
        topics = Topics(stack.environment()["CONNECT_BOOTSTRAP_SERVERS"])
        sink = Sink(topics, topics.create(1), folder / "out")
        topics.write(sink.topic, [b'{"id": 0}'], 1)
        sink.written = 1
        file = folder / "sink.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in sink.config("export").items()))
        worker = write_worker(folder, topics.bootstrap)
        began = time.monotonic()
        with standalone(folder, worker, file):
            sink.await_all(began)
            first = time.monotonic() - began
            yield sink.measure("connect standalone", first, options.records, options.bursts)


def measure_airflow(folder: Path, options: argparse.Namespace) -> Iterator[Latencies]:
    """The embedded stack, the connector's DAG ``@continuous``."""
    with stack_of(folder, None) as stack:
        environment = stack.environment()
        topics = Topics(environment["CONNECT_BOOTSTRAP_SERVERS"])
        deployment = Deployment.open({**environment, "CONNECT_FILE_ROOTS": str(folder / "data")})
        for name, changes in (("Airflow", {}), ("Airflow, run.linger.ms=5000", {"run.linger.ms": "5000"})):
            sink = Sink(topics, topics.create(1), folder / "data" / f"out-{len(changes)}")
            topics.write(sink.topic, [b'{"id": 0}'], 1)
            sink.written = 1
            began = time.monotonic()
            deployment.put(f"export-{len(changes)}", sink.config(f"export-{len(changes)}") | changes)
            sink.await_all(began)
            yield sink.measure(name, time.monotonic() - began, options.records, options.bursts)
            deployment.delete(f"export-{len(changes)}")


WAYS: dict[str, Callable[[Path, argparse.Namespace], Iterator[Latencies]]] = {
    "standalone": measure_standalone,
    "airflow": measure_airflow,
}


def show(console: Console, found: Sequence[Latencies]) -> None:
    """Print the seconds, with the goals for the medians."""
    table = Table("deployment", "first data", "record visible: p50", "p95", f"{BURST:,} committed: p50", "max")
    for one in found:
        goals = _GOALS[one.name]
        cells = [one.first, statistics.median(one.records), _p95(one.records), statistics.median(one.bursts)]
        wanted = [goals["first"], goals["record"], None, goals["burst"]]
        texts = [
            f"{cell:.2f} s" + (f" (wanted {goal:g})" if goal else "") for cell, goal in zip(cells, wanted, strict=True)
        ]
        table.add_row(one.name, *texts, f"{max(one.bursts):.2f} s")
    console.print(table)


def _p95(seconds: Sequence[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.95)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ways", nargs="*", metavar="WAY", help=f"of {', '.join(WAYS)}; both without any")
    parser.add_argument("--records", type=int, default=40)
    parser.add_argument("--bursts", type=int, default=15)
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.ways if name not in WAYS]:
        parser.error(f"unknown way {', '.join(unknown)}: choose of {', '.join(WAYS)}")
    found = list[Latencies]()
    for name in options.ways or WAYS:
        with tempfile.TemporaryDirectory(prefix="connect-latency-") as folder:
            found += WAYS[name](Path(folder), options)
    show(Console(width=140), found)
    if options.json:
        figures = {"machine": machine(), "latencies": [vars(one) for one in found]}
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

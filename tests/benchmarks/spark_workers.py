"""What a second machine costs: ``python -m tests.benchmarks.spark_workers [--records N] [--json FILE]``.

Exports a topic of eight partitions to Parquet on a Spark standalone cluster, with eight tasks: first with one worker of
four slots, then with two. Prints the processor time of the cluster and the driver per million records. Goal: with two
workers at most 15 % more than with one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import psutil

from connect_core.interval.runs import RunRequest
from connect_core.spark.remote import run_connector
from tests.faults.exports import Export
from tests.faults.spark_cluster import MASTER, SERVER, WORKERS
from tests.faults.standalone_world import StandaloneWorld

__all__ = ["main"]

_PARTITIONS, _ROUNDS, _BATCH = 8, 3, 100_000
_MOST = 1.15


@dataclass(frozen=True, slots=True)
class Spent:
    """What one export took."""

    cpu_seconds: float
    seconds: float


class OneWorkerWorld(StandaloneWorld):
    """A cluster whose second worker is started by the benchmark."""

    slots = 4
    first = (MASTER, WORKERS[0], SERVER)


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and return 1 if a second worker costs more than it may."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.spark_workers", description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory(prefix="connect-workers-") as folder,
        OneWorkerWorld(Path(folder), Random(1)) as world,
    ):
        os.environ.update(world.environment)
        topic = _filled(world, options.records)
        one = _measured(world, topic, options.records, "one")
        world.cluster.start(WORKERS[1])
        two = _measured(world, topic, options.records, "two")
    ratio = two / one
    print(f"CPU seconds per million records: {one:.2f} with one worker, {two:.2f} with two: {ratio:.2f} times")
    if options.json:
        options.json.write_text(json.dumps({"one": one, "two": two, "ratio": ratio}))
    return 0 if ratio <= _MOST else 1


def _filled(world: StandaloneWorld, records: int) -> str:
    topic = world.topics.create(_PARTITIONS)
    for first in range(0, records, _BATCH):
        values = [
            json.dumps({"n": number, "name": f"customer {number % 997}"}).encode() for number in _batch(first, records)
        ]
        world.topics.write(topic, values, _PARTITIONS)
    return topic


def _batch(first: int, records: int) -> Iterator[int]:
    yield from range(first, min(first + _BATCH, records))


def _measured(world: StandaloneWorld, topic: str, records: int, name: str) -> float:
    """Return the median of some rounds, after one that warms the workers up."""
    found = [_export(world, topic, records, f"{name}-{number}") for number in range(_ROUNDS + 1)][1:]
    print(name, [f"{one.cpu_seconds:.2f} CPU s, {one.seconds:.1f} s" for one in found], flush=True)
    return statistics.median(one.cpu_seconds for one in found) * 1_000_000 / records


def _export(world: StandaloneWorld, topic: str, records: int, name: str) -> Spent:
    export = Export(world, f"workers-{name}", topic)
    config = {"tasks.max": str(_PARTITIONS), "interval.max.records": str(records)}
    export.create(world.database, **config)
    before, began = _cpu_seconds(world), time.monotonic()
    outcome = run_connector(RunRequest(export.name, name, asked=True))
    seconds = time.monotonic() - began
    assert outcome.records == records, outcome
    return Spent(_cpu_seconds(world) - before, seconds)


def _cpu_seconds(world: StandaloneWorld) -> float:
    """Return the processor time so far of the cluster's processes, those they have ended, and this one."""
    processes = [psutil.Process(), *(psutil.Process(one.pid) for one in world.cluster.processes.values())]
    for name in world.cluster.processes:
        processes += world.cluster.children(name)
    spent = 0.0
    for process in processes:
        times = process.cpu_times()
        spent += times.user + times.system + times.children_user + times.children_system
    return spent


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""2,000,000 orders from Kafka to Parquet, beside the bare consumer and Connect's Iceberg sink.

    python -m tests.benchmarks.kafka_to_parquet [--records N] [--jars DIR]

``--jars``: where ``tests/peer/fetch.sh DIR`` put the peers; without it they are
fetched with Maven into a cache. Every figure is taken in this run, on private
servers; only the ratios mean anything on another machine.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from rich.console import Console
from rich.table import Table

from connect_core.dev.stack import Stack
from tests.benchmarks.connect_worker import PEER, connect_worker, fetch_jars
from tests.benchmarks.exporting import Export

TUNED = {
    "queued.min.messages": 1_000_000,
    "fetch.queue.backoff.ms": 10,
    "fetch.message.max.bytes": 8_388_608,
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "group.id": "bare",
}


@dataclass(frozen=True)
class Figure:
    """One measured way of doing the work."""

    name: str
    records: int
    seconds: float

    @property
    def rate(self) -> float:
        """Records a second."""
        return self.records / self.seconds


def drain_bare(bootstrap: str, topic: str, partitions: list[int]) -> int:
    """Read whole partitions with ``Consumer.consume`` and do nothing else."""
    consumer = Consumer({**TUNED, "bootstrap.servers": bootstrap})
    parts = [TopicPartition(topic, number, 0) for number in partitions]
    left = sum(consumer.get_watermark_offsets(part)[1] for part in parts)
    consumer.assign(parts)
    count = 0
    while count < left:
        count += len(consumer.consume(50_000, 0.1))
    consumer.close()
    return count


def bare(bootstrap: str, topic: str) -> Figure:
    """Two plain processes, two partitions each."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.starmap(drain_bare, [(bootstrap, topic, [])] * 2)
        began = time.monotonic()
        counts = pool.starmap(drain_bare, [(bootstrap, topic, [0, 1]), (bootstrap, topic, [2, 3])])
        return Figure("bare Consumer.consume(), 2 processes", sum(counts), time.monotonic() - began)


def iceberg(bootstrap: str, topic: str, jars: Path, work: Path) -> Figure:
    """Apache Kafka Connect's Iceberg sink in a standalone worker."""
    with connect_worker(bootstrap, jars, work) as worker:
        done = worker.drain(topic, "iceberg", work / "iceberg")
    return Figure("Apache Kafka Connect, Iceberg sink", done.records, done.seconds)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--jars", type=Path, default=Path.home() / ".cache" / "connect-core" / "peers")
    parser.add_argument("--without-peer", action="store_true", help="leave Apache Kafka Connect out")
    arguments = parser.parse_args()
    console = Console(width=120)
    with tempfile.TemporaryDirectory(prefix="connect-bench-") as folder:
        work = Path(folder)
        stack = Stack(work / "stack", services=("postgres", "kafka", "spark"))
        stack.up()
        try:
            bootstrap = stack.environment()["CONNECT_BOOTSTRAP_SERVERS"]
            fill: list[str | Path] = [sys.executable, PEER / "orders.py", bootstrap, "orders", str(arguments.records)]
            subprocess.run(fill, check=True)
            os.environ.update(stack.environment())
            ours = Export(bootstrap).run(work / "parquet", "orders", tasks=4)
            way = "connect-core, FileSystemSink, 4 tasks"
            figures = [bare(bootstrap, "orders"), Figure(way, ours.records, ours.seconds)]
            if not arguments.without_peer:
                figures.append(iceberg(bootstrap, "orders", fetch_jars(arguments.jars), work))
            console.print(report(figures))
        finally:
            stack.down()


def report(figures: list[Figure]) -> Table:
    """Return the figures with ours as the measure."""
    ours = figures[1]
    table = Table(title=f"{ours.records:,} orders, MaskField + InsertField → Parquet")
    for heading in ("way", "seconds", "records/s", "connect-core is"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for figure in figures:
        table.add_row(figure.name, f"{figure.seconds:.2f}", f"{figure.rate:,.0f}", f"{ours.rate / figure.rate:.2f}x")
    return table


if __name__ == "__main__":
    main()

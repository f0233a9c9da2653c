"""2,000,000 orders from Kafka to Parquet, beside the bare consumer and Connect's Iceberg sink.

    python -m tests.benchmarks.kafka_to_parquet [--records N] [--jars DIR]

``--jars``: where ``tests/peer/fetch.sh DIR`` put the peers; without it they are
fetched with Maven into a cache. Every figure is taken in this run, on private
servers; only the ratios mean anything on another machine.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from string import Template

from confluent_kafka import Consumer, TopicPartition
from rich.console import Console
from rich.table import Table

from connect_core.dev.stack import Stack
from tests.benchmarks.exporting import Export
from tests.integration.ports import free_port

PEER = Path(__file__).parents[1] / "peer"
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


def fetch_jars(jars: Path) -> Path:
    """Fetch the peers' jars unless they are there."""
    if not (jars / "plugins" / "iceberg").exists():
        subprocess.run(["bash", PEER / "fetch.sh", jars], check=True)
    return jars


def iceberg(bootstrap: str, topic: str, jars: Path, work: Path) -> Figure:
    """Apache Kafka Connect's Iceberg sink in a standalone worker."""
    port = free_port()
    places = {"WORK": str(work), "PORT": str(port), "JARS": str(jars)}
    values = {"BOOTSTRAP": bootstrap, "TOPIC": topic, "NAME": "iceberg", **places}
    worker, sink = work / "worker.properties", work / "sink.json"
    worker.write_text(Template((PEER / "worker.properties").read_text()).safe_substitute(values))
    sink.write_text(Template((PEER / "iceberg" / "sink.json").read_text()).safe_substitute(values))
    Export(bootstrap).create_topic("control-iceberg", 1)
    main_class = "org.apache.kafka.connect.cli.ConnectStandalone"
    command = ["java", "-Xmx3g", "-cp", f"{jars}/runtime/*", main_class, str(worker)]
    with (work / "peer.log").open("w") as log:
        peer = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        await_plugins(f"http://127.0.0.1:{port}")
        drain: list[str | Path] = [
            sys.executable,
            PEER / "drain.py",
            bootstrap,
            topic,
            f"http://127.0.0.1:{port}",
            sink,
        ]
        answer = json.loads(subprocess.run(drain, check=True, capture_output=True, text=True).stdout)
        return Figure("Apache Kafka Connect, Iceberg sink", answer["records"], answer["seconds"])
    finally:
        peer.terminate()
        peer.wait(30)


def await_plugins(url: str, seconds: float = 120) -> None:
    """Wait until a worker lists its plugins: it answers 404 before."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{url}/connector-plugins") as answer:
                if json.load(answer):
                    return
        except OSError:
            pass
        time.sleep(0.5)
    raise TimeoutError(f"no worker at {url} after {seconds} s")


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

"""What one broker and one PostgreSQL take here: ``python -m tests.benchmarks.servers [--seconds N] [--json FILE]``.

Private servers. Kafka: bytes a second that two processes write to one broker (random bytes, so nothing is compressed),
and that two others then read, with the broker's processor seconds per gigabyte. PostgreSQL: transactions of one changed
row that eight clients commit a second. All share the machine with their clients, so
these are lower bounds; `connect plan-capacity` counts with them.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import psycopg
from confluent_kafka import Consumer, Producer, TopicPartition
from rich.console import Console
from rich.table import Table

from connect_core.dev.stack import Stack
from tests.benchmarks.comparison import machine
from tests.benchmarks.latency import stack_of
from tests.integration.topics import Topics

__all__ = ["main"]

_PROCESSES, _CLIENTS = 2, 8
_RECORD_BYTES = 10_000


def write(bootstrap: str, topic: str, partition: int, seconds: float) -> int:
    """Write to a partition for so long → the bytes."""
    settings = {"bootstrap.servers": bootstrap, "linger.ms": 20, "batch.size": 1_000_000, "enable.idempotence": True}
    producer, records = Producer(settings), [os.urandom(_RECORD_BYTES) for _ in range(100)]
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        try:
            producer.produce(topic, records[count % 100], partition=partition)
            count += 1
        except BufferError:
            producer.poll(0.01)
    producer.flush()
    return count * _RECORD_BYTES


def read(bootstrap: str, topic: str, partition: int) -> int:
    """Read a partition to its end → the bytes."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "none", "fetch.min.bytes": 1_000_000})
    place = TopicPartition(topic, partition, 0)
    (_, end), found = consumer.get_watermark_offsets(place), 0
    consumer.assign([place])
    while found < end:
        found += len(consumer.consume(1000, 1.0))
    consumer.close()
    return found * _RECORD_BYTES


def broker_figures(stack: Stack, seconds: float) -> dict[str, float]:
    """Return megabytes a second in and out of the broker, and its processor seconds per gigabyte."""
    topics = Topics(stack.environment()["CONNECT_BOOTSTRAP_SERVERS"])
    topic = topics.create(_PROCESSES)
    broker = psutil.Process(stack.service("kafka").pid)
    given = [(topics.bootstrap, topic, partition) for partition in range(_PROCESSES)]
    found: dict[str, float] = {}
    with multiprocessing.get_context("spawn").Pool(_PROCESSES) as pool:
        pool.map(abs, range(_PROCESSES * 4))
        for name, work in (
            ("written", lambda: pool.starmap(write, [(*one, seconds) for one in given])),
            ("read", lambda: pool.starmap(read, given)),
        ):
            moved, took, used = _timed(broker, work)
            found |= {
                f"broker, {name}, MB a second": moved / took / 1e6,
                f"broker, {name}, CPU seconds a GB": used / moved * 1e9,
            }
    return found


def _timed(server: psutil.Process, work: Callable[[], Sequence[int]]) -> tuple[int, float, float]:
    """Return what the work moved, the seconds it took, and the processor seconds of the server."""
    before, began = server.cpu_times(), time.monotonic()
    moved = sum(work())
    took, after = time.monotonic() - began, server.cpu_times()
    return moved, took, after.user + after.system - before.user - before.system


def database_figures(stack: Stack, seconds: float) -> dict[str, float]:
    """Return the transactions of one changed row that PostgreSQL commits a second."""
    address = stack.environment()["CONNECT_DATABASE_URL"].replace("+psycopg", "")
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE written (client int PRIMARY KEY, number bigint NOT NULL)")
        connection.execute("INSERT INTO written SELECT i, 0 FROM generate_series(1, %s) AS i", (_CLIENTS,))
    counts = [0] * _CLIENTS

    def commit(client: int) -> None:
        with psycopg.connect(address, autocommit=True) as connection:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                connection.execute("UPDATE written SET number = number + 1 WHERE client = %s", (client + 1,))
                counts[client] += 1

    clients = [threading.Thread(target=commit, args=(number,)) for number in range(_CLIENTS)]
    began = time.monotonic()
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return {"PostgreSQL, commits of one row a second": sum(counts) / (time.monotonic() - began)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each is written to")
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args(arguments)
    found: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory(prefix="connect-servers-") as folder,
        stack_of(Path(folder), ("kafka", "postgres")) as stack,
    ):
        found |= broker_figures(stack, options.seconds)
        found |= database_figures(stack, options.seconds)
    table = Table("what", "found")
    for name, value in found.items():
        table.add_row(name, f"{value:,.2f}")
    Console(width=110).print(table)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "figures": found}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

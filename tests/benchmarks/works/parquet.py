"""JSON from Kafka to Parquet, exactly once: beside Connect's Iceberg sink, Spark's Kafka source and bare consumers."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import count
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from tests.benchmarks.comparison import Goal, Way, Work
from tests.benchmarks.connect_worker import PEER, connector
from tests.benchmarks.connector_runs import Moved
from tests.benchmarks.environment import PARTITIONS, Environment

__all__ = ["eight_transforms", "fill", "iceberg", "ours", "python_transform", "sink_config", "two_transforms"]

RECORDS = 2_000_000
TOPIC = "orders"
ICEBERG, SPARK, BARE = "Kafka Connect, Iceberg sink", "Spark's Kafka source", "two bare consumers, no work"
_SMT = "org.apache.kafka.connect.transforms."
TWO = {
    "transforms": "mask,insert",
    "transforms.mask.type": f"{_SMT}MaskField$Value",
    "transforms.mask.fields": "ssn",
    "transforms.insert.type": f"{_SMT}InsertField$Value",
    "transforms.insert.static.field": "source",
    "transforms.insert.static.value": "orders",
}
EIGHT = {
    **TWO,
    "transforms": "mask,insert,rename,cast,time,hoist,flatten,drop",
    "transforms.rename.type": f"{_SMT}ReplaceField$Value",
    "transforms.rename.renames": "qty:quantity",
    "transforms.cast.type": f"{_SMT}Cast$Value",
    "transforms.cast.spec": "quantity:string",
    "transforms.time.type": f"{_SMT}TimestampConverter$Value",
    "transforms.time.field": "ts",
    "transforms.time.target.type": "string",
    "transforms.time.format": "yyyy-MM-dd'T'HH:mm:ss.SSS",
    "transforms.hoist.type": f"{_SMT}HoistField$Value",
    "transforms.hoist.field": "order",
    "transforms.flatten.type": f"{_SMT}Flatten$Value",
    "transforms.flatten.delimiter": "_",
    "transforms.drop.type": f"{_SMT}ReplaceField$Value",
    "transforms.drop.exclude": "order_ssn",
}
JAVA_MASK = {key: value for key, value in TWO.items() if "insert" not in key} | {"transforms": "mask"}
PYTHON_MASK = {"transforms": "mask", "transforms.mask.type": "bench.PythonMask"}
_TUNED = {
    "queued.min.messages": 1_000_000,
    "fetch.queue.backoff.ms": 10,
    "fetch.message.max.bytes": 8_388_608,
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "group.id": "bare",
}
_NUMBERS = count()


def two_transforms(environment: Environment, records: int = RECORDS) -> Work:
    """MaskField and InsertField."""
    fill(environment, records)
    others = [Way(SPARK, _spark(environment))] if environment.peer else []
    others.append(Way(BARE, lambda turn: bare(environment.bootstrap)))
    goals = [Goal(ICEBERG, 5, in_each=True, limits_cpu=True), Goal(SPARK, 2), Goal(BARE, 0.5)]
    title = f"{records:,} JSON orders → 2 transforms → Parquet"
    return _work(environment, ("parquet", title), (TWO, TWO), goals, others)


def eight_transforms(environment: Environment, records: int = RECORDS) -> Work:
    """Eight of the built-in transforms."""
    fill(environment, records)
    title = f"{records:,} JSON orders → 8 transforms → Parquet"
    return _work(environment, ("parquet-eight", title), (EIGHT, EIGHT), [Goal(ICEBERG, 6, limits_cpu=True)])


def python_transform(environment: Environment, records: int = RECORDS) -> Work:
    """A transform written in Python, record by record, beside one in Java."""
    fill(environment, records)
    title = f"{records:,} JSON orders → a user's Python record transform (peer: Java's MaskField) → Parquet"
    goals = [Goal(ICEBERG, 1, limits_cpu=True)]
    return _work(environment, ("parquet-python", title), (PYTHON_MASK, JAVA_MASK), goals)


def _work(
    environment: Environment,
    named: tuple[str, str],
    transforms: tuple[Mapping[str, str], Mapping[str, str]],
    goals: list[Goal],
    others: list[Way] | None = None,
) -> Work:
    """``transforms``: ours and the peer's."""
    ways = [Way("connect-core, FileSystemSink", partial(ours, environment, transforms[0]))]
    if environment.peer:
        ways.append(Way(ICEBERG, partial(iceberg, environment, TOPIC, transforms[1])))
    ways += others or []
    names = {way.name for way in ways}
    return Work(*named, ways, [goal for goal in goals if goal.peer in names])


@cache
def fill(environment: Environment, records: int) -> None:
    """Write the orders that all works read which export them; once a run."""
    environment.fill_with_orders(TOPIC, records)


def ours(environment: Environment, transforms: Mapping[str, str], turn: int) -> Moved:
    """Run a new sink of ours."""
    name = f"parquet-{next(_NUMBERS)}"
    return environment.sink(sink_config(name, environment.folder / "parquet" / name, TOPIC, transforms))


def sink_config(name: str, path: Path, topic: str, transforms: Mapping[str, str] = TWO) -> dict[str, str]:
    """Return a sink of ours that writes Parquet."""
    return {
        "name": name,
        "connector.class": "FileSystemSink",
        "tasks.max": str(PARTITIONS),
        "topics": topic,
        "path": str(path),
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        **transforms,
    }


def iceberg(
    environment: Environment,
    topic: str,
    changes: Mapping[str, str],
    turn: int,
    is_complete: Callable[[], bool] = lambda: True,
) -> Moved:
    """Run Connect's Iceberg sink, with other settings and transforms, until its table is complete."""
    assert environment.peer is not None
    name = f"iceberg-{next(_NUMBERS)}"
    work = environment.folder / name
    work.mkdir()
    control = f"control-{name}"
    environment.create_topic(control)
    body = connector("iceberg/sink.json", {"TOPIC": topic, "NAME": name, "WORK": str(work)})
    if "transforms" in changes:
        body["config"] = {key: value for key, value in body["config"].items() if not key.startswith("transforms")}
    body["config"] |= {"iceberg.control.topic": control, **changes}
    return environment.peer.drain(topic, body, work, is_complete)


def _spark(environment: Environment) -> partial[Moved]:
    script = [sys.executable, PEER / "spark" / "kafka_to_parquet.py", environment.bootstrap, TOPIC]
    command = [*script, environment.jars / "spark", environment.folder / "spark", "local[2]", "on-demand"]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    session = subprocess.Popen([str(one) for one in command], stdin=pipe, stdout=pipe, stderr=nothing, text=True)
    return partial(_spark_run, session)


def _spark_run(session: subprocess.Popen[str], turn: int) -> Moved:
    """Run once in a session that lives as long as this process: it ends with its standard input."""
    assert session.stdin
    assert session.stdout
    session.stdin.write("\n")
    session.stdin.flush()
    answer = json.loads(session.stdout.readline())
    return Moved(answer["records"], answer["seconds"])


def bare(bootstrap: str) -> Moved:
    """Two plain processes, two partitions each."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.starmap(drain_bare, [(bootstrap, [])] * 2)
        began = time.monotonic()
        counts = pool.starmap(drain_bare, [(bootstrap, [0, 1]), (bootstrap, [2, 3])])
        return Moved(sum(counts), time.monotonic() - began)


def drain_bare(bootstrap: str, partitions: list[int]) -> int:
    """Read whole partitions with ``Consumer.consume`` and do nothing else."""
    consumer = Consumer({**_TUNED, "bootstrap.servers": bootstrap})
    parts = [TopicPartition(TOPIC, number, 0) for number in partitions]
    left = sum(consumer.get_watermark_offsets(part)[1] for part in parts)
    consumer.assign(parts)
    found = 0
    while found < left:
        found += len(consumer.consume(50_000, 0.1))
    consumer.close()
    return found

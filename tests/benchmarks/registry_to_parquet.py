"""2,000,000 orders from Kafka to Parquet: Avro, Protobuf and JSON Schema with a registry, beside JSON and Connect.

    python -m tests.benchmarks.registry_to_parquet [--records N] [--rounds N] [--json FILE] [--without-peer]

The peer is Apache Kafka Connect's Iceberg sink with Apicurio's Avro converter: Confluent's is on no public registry.
The ways take turns, so that what else the machine does hits all of them. Processor time is that of the whole machine:
brokers, JVM and workers; it means something only where nothing else runs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
from confluent_kafka import Producer
from rich.console import Console
from rich.table import Table

from connect_core.converters.avro import AvroConverter
from connect_core.converters.json_schema import JsonSchemaConverter
from connect_core.converters.protobuf import ProtobufConverter
from connect_core.dev.stack import Stack
from tests.benchmarks.connect_worker import PEER, ConnectWorker, connect_worker, fetch_jars
from tests.benchmarks.exporting import Export, sink_config
from tests.benchmarks.orders import ORDER_SCHEMA, batch_of, structs
from tests.schema_registry.apicurio_converter import converter_folder, converter_settings
from tests.schema_registry.apicurio_server import apicurio_running

JSON = "JsonConverter"
PEER_NAME = "Connect, Iceberg sink, Apicurio's AvroConverter"
CONVERTERS = {one.__name__: one for one in (AvroConverter, ProtobufConverter, JsonSchemaConverter)}
_CHUNK = 50_000


@dataclass(frozen=True)
class Way:
    """One run of a way: records, seconds of the clock, and of all processors together."""

    records: int
    seconds: float
    cpu_seconds: float


def busy_seconds() -> float:
    """Return the processor time that all processes of the machine have used."""
    times = psutil.cpu_times()
    return float(times.user + times.system + times.nice)


def fill(bootstrap: str, topic: str, settings: Mapping[str, str], name: str, records: int) -> None:
    """Write orders with a converter of ours, the same as the JSON ones."""
    converter = CONVERTERS[name]()
    converter.configure({**settings, "converter.type": "value"}, False)
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "compression.type": "lz4",
                         "queue.buffering.max.messages": 1_000_000})  # fmt: skip
    for start, messages in chunks(converter, topic, records):
        for number, message in enumerate(messages, start):
            producer.produce(topic, message, key=str(number % 1000), partition=number % 4)
        producer.flush()


def chunks(converter: Any, topic: str, records: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield messages with the number of the first."""
    rows = structs(records)
    for start in range(0, records, _CHUNK):
        batch = batch_of(ORDER_SCHEMA, rows[start : start + _CHUNK])
        column = converter.from_connect_batch(pa.array([topic] * len(batch)), batch.value)
        yield start, column.to_pylist()


def measured(export: Export, folder: Path, config: Mapping[str, Any]) -> Way:
    """Run a sink once."""
    before = busy_seconds()
    done = export.once(folder, config)
    return Way(done.records, done.seconds, busy_seconds() - before)


def measured_peer(worker: ConnectWorker, folder: Path, url: str, turn: int) -> Way:
    """Run Connect's sink once."""
    before = busy_seconds()
    done = worker.drain(
        topic_of("AvroConverter"), f"iceberg-{turn}", folder / f"iceberg-{turn}", converter_of_peer(url)
    )
    return Way(done.records, done.seconds, busy_seconds() - before)


def rounds(export: Export, folder: Path, url: str, count: int, worker: ConnectWorker | None) -> dict[str, list[Way]]:
    """Let the ways take turns; the first turn only warms session and worker."""
    found: dict[str, list[Way]] = {name: [] for name in (JSON, *CONVERTERS, *([PEER_NAME] if worker else []))}
    for turn in range(count + 1):
        for name, ways in found.items():
            if name == PEER_NAME and worker is not None:
                way = measured_peer(worker, folder, url, turn)
            else:
                way = measured(export, folder, config_of(name, folder, url, turn))
            if turn:
                ways.append(way)
    return found


def config_of(name: str, folder: Path, url: str, turn: int) -> dict[str, Any]:
    """Return a sink of ours with a converter."""
    return with_converter(sink_config(f"{name}-{turn}", folder / f"{name}-{turn}", topic_of(name), 4), name, url)


def with_converter(config: Mapping[str, Any], name: str, url: str) -> dict[str, Any]:
    """Return a connector of JSON with another converter of values; itself for JSON."""
    if name == JSON:
        return dict(config)
    kept = {key: value for key, value in config.items() if key != "value.converter.schemas.enable"}
    return {**kept, "value.converter": name, "value.converter.schema.registry.url": url}


def converter_of_peer(url: str) -> dict[str, str]:
    """Return the settings of the peer's converter."""
    settings = {f"value.converter.{key}": value for key, value in converter_settings(url).items()}
    return {"value.converter": "io.apicurio.registry.utils.converter.AvroConverter", **settings}


def topic_of(name: str) -> str:
    return f"orders-{name.lower()}"


def report(found: Mapping[str, list[Way]]) -> dict[str, Any]:
    """Return medians, extremes, ratios to JSON and processor time per million records."""
    base = statistics.median(one.records / one.seconds for one in found[JSON])
    theirs = found.get(PEER_NAME)
    peer = statistics.median(one.records / one.seconds for one in theirs) if theirs else None
    ways = {}
    for name, runs in found.items():
        rates = sorted(one.records / one.seconds for one in runs)
        cpu = statistics.median(one.cpu_seconds / one.records * 1e6 for one in runs)
        ways[name] = {
            "records": runs[0].records,
            "rate": {"median": statistics.median(rates), "min": rates[0], "max": rates[-1]},
            "ratio_to_json": statistics.median(rates) / base,
            "ratio_to_peer": statistics.median(rates) / peer if peer else None,
            "cpu_seconds_per_million": cpu,
        }
    return {"ways": ways, "machine": {"processors": psutil.cpu_count(), "system": platform.platform()}}


def show(figures: Mapping[str, Any]) -> Table:
    """Return the figures as a table."""
    table = Table("value.converter", "records/s, median", "min", "max", "of JSON", "of Connect", "CPU s per million")
    for name, one in figures["ways"].items():
        rate = one["rate"]
        cells = [f"{rate[part]:,.0f}" for part in ("median", "min", "max")]
        ratios = [f"{found:.2f}x" if found else "" for found in (one["ratio_to_json"], one["ratio_to_peer"])]
        table.add_row(name, *cells, *ratios, f"{one['cpu_seconds_per_million']:.2f}")
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--jars", type=Path, default=Path.home() / ".cache" / "connect-core" / "peers")
    parser.add_argument("--without-peer", action="store_true", help="leave Apache Kafka Connect out")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="connect-bench-") as folder:
        work = Path(folder)
        (work / "registry").mkdir()
        stack = Stack(work / "stack", services=("postgres", "kafka", "spark"))
        stack.up()
        try:
            with apicurio_running(work / "registry") as url:
                figures = run(stack, work, url, arguments)
        finally:
            stack.down()
    Console(width=120).print(show(figures))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))


def run(stack: Stack, work: Path, url: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Fill the topics and measure."""
    bootstrap = stack.environment()["CONNECT_BOOTSTRAP_SERVERS"]
    os.environ.update(stack.environment())
    export = Export(bootstrap)
    command: list[str | Path] = [
        sys.executable,
        PEER / "orders.py",
        bootstrap,
        topic_of(JSON),
        str(arguments.records),
    ]
    subprocess.run(command, check=True)
    for name in CONVERTERS:
        export.create_topic(topic_of(name), 4)
        fill(bootstrap, topic_of(name), {"schema.registry.url": url}, name, arguments.records)
    if arguments.without_peer:
        return report(rounds(export, work / "parquet", url, arguments.rounds, None))
    (work / "peer").mkdir()
    with connect_worker(bootstrap, fetch_jars(arguments.jars), work / "peer", converter_folder(work)) as worker:
        return report(rounds(export, work / "parquet", url, arguments.rounds, worker))


if __name__ == "__main__":
    main()

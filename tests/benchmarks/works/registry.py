"""Avro, Protobuf and JSON Schema with a registry: from Kafka to Parquet, and from a table to Kafka."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa
from confluent_kafka import Producer

from connect_core.converters.avro import AvroConverter
from connect_core.converters.json_schema import JsonSchemaConverter
from connect_core.converters.protobuf import ProtobufConverter
from tests.benchmarks.comparison import Goal, Way, Work
from tests.benchmarks.connector_runs import Moved
from tests.benchmarks.environment import PARTITIONS, Environment
from tests.benchmarks.orders import ORDER_SCHEMA, batch_of, structs
from tests.benchmarks.works.parquet import iceberg, sink_config
from tests.benchmarks.works.postgresql import TASKS, fill_table, source_config
from tests.schema_registry.apicurio_converter import converter_settings

__all__ = ["registry_from_table", "registry_to_parquet"]

RECORDS, ROWS = 2_000_000, 1_000_000
JSON = "JsonConverter"
ICEBERG = "Kafka Connect, Iceberg sink, Apicurio's AvroConverter"
"""Confluent's Java converters are on no public registry of packages."""
CONVERTERS = {one.__name__: one for one in (AvroConverter, ProtobufConverter, JsonSchemaConverter)}
_NAMES = ("AvroConverter", JSON, "ProtobufConverter", "JsonSchemaConverter")
_CHUNK = 50_000


def registry_to_parquet(environment: Environment, url: str, records: int = RECORDS) -> Work:
    """Two transforms, then Parquet."""
    environment.fill_with_orders(_topic(JSON), records)
    for name in CONVERTERS:
        environment.create_topic(_topic(name))
        fill(environment.bootstrap, name, url, records)
    ways = [Way(_title(name), partial(export, environment, name, url)) for name in _NAMES]
    goals = [Goal(_title(JSON), 0.8)]
    if environment.peer:
        changes = {"value.converter": "io.apicurio.registry.utils.converter.AvroConverter"}
        changes |= {f"value.converter.{key}": value for key, value in converter_settings(url).items()}
        ways.append(Way(ICEBERG, partial(iceberg, environment, _topic("AvroConverter"), changes)))
        goals.append(Goal(ICEBERG, 3, in_each=True, limits_cpu=True))
    title = f"{records:,} orders with a schema registry → 2 transforms → Parquet"
    return Work("registry-to-parquet", title, ways, goals)


def registry_from_table(environment: Environment, url: str, rows: int = ROWS) -> Work:
    """A table of PostgreSQL, exactly once."""
    fill_table(environment, rows)
    ways = [Way(_title(name), partial(read, environment, name, url, rows)) for name in _NAMES]
    title = f"{rows:,} rows of PostgreSQL → Kafka with a schema registry"
    return Work("registry-from-table", title, ways, [Goal(_title(JSON), 1)])


def fill(bootstrap: str, name: str, url: str, records: int) -> None:
    """Write orders with a converter of ours, the same as the JSON ones."""
    converter, topic = CONVERTERS[name](), _topic(name)
    converter.configure({"schema.registry.url": url, "converter.type": "value"}, False)
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "compression.type": "lz4",
                         "queue.buffering.max.messages": 1_000_000})  # fmt: skip
    for start, messages in _chunks(converter, topic, records):
        for number, message in enumerate(messages, start):
            producer.produce(topic, message, key=str(number % 1000), partition=number % PARTITIONS)
        producer.flush()


def _chunks(converter: Any, topic: str, records: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield messages with the number of the first."""
    rows = structs(records)
    for start in range(0, records, _CHUNK):
        batch = batch_of(ORDER_SCHEMA, rows[start : start + _CHUNK])
        column = converter.from_connect_batch(pa.array([topic] * len(batch)), batch.value)
        yield start, column.to_pylist()


def export(environment: Environment, name: str, url: str, turn: int) -> Moved:
    """Run a new sink of ours."""
    connector = f"registry-{name.lower()}-{turn}"
    config = sink_config(connector, environment.folder / "registry-parquet" / connector, _topic(name))
    return environment.sink(_with_converter(config, name, url))


def read(environment: Environment, name: str, url: str, rows: int, turn: int) -> Moved:
    """Run a new source of ours."""
    connector = f"from-table-{name.lower()}-{turn}"
    environment.create_topic(f"{connector}-orders")
    config = source_config(connector, "JdbcSource", environment) | {"mode": "bulk", "tasks.max": str(TASKS)}
    return environment.source(_with_converter(config, name, url), f"{connector}-orders", rows)


def _with_converter(config: Mapping[str, str], name: str, url: str) -> dict[str, str]:
    """Return a connector of JSON with another converter of values; itself for JSON."""
    if name == JSON:
        return dict(config)
    kept = {key: value for key, value in config.items() if key != "value.converter.schemas.enable"}
    return {**kept, "value.converter": name, "value.converter.schema.registry.url": url}


def _title(name: str) -> str:
    return f"connect-core, {name}"


def _topic(name: str) -> str:
    return f"orders-{name.lower()}"

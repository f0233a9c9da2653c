"""Every plugin of the registry keeps its kind's contract."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.parquet as pq
import pytest

from connect_core import connectors
from connect_core.api import SchemaAndValue, SinkRecord
from connect_core.api.data import INT64_SCHEMA, STRING_SCHEMA
from connect_core.connectors.delta.sink import DeltaSinkConnector
from connect_core.connectors.file.sink import FileStreamSinkConnector
from connect_core.connectors.file.source import FileStreamSourceConnector
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector
from connect_core.connectors.filesystem.source.connector import FileSystemSourceConnector
from connect_core.connectors.iceberg.sink import IcebergSinkConnector
from connect_core.registry import Plugin, registry
from connect_core.testing import (
    ORDER_SCHEMA,
    ConverterContract,
    HeaderConverterContract,
    PredicateContract,
    SinkContract,
    SourceContract,
    TransformationContract,
    orders,
    sink_records,
)

PAGES = Path(connectors.__file__).parent


class TestFileStreamSource(SourceContract):
    connector = FileStreamSourceConnector
    readme = PAGES / "file" / "README.md"
    config: ClassVar = {"file": "in.txt", "topic": "lines", "batch.size": "2"}

    def prepare(self, folder: Path) -> None:
        (folder / "in.txt").write_text("one\ntwo\r\n\nvier Zoë\nfive\nunfinished")

    def extend(self, folder: Path) -> bool:
        with (folder / "in.txt").open("a") as file:
            file.write(" six\nseven\n")
        return True


class TestFileStreamSink(SinkContract):
    connector = FileStreamSinkConnector
    readme = PAGES / "file" / "README.md"
    config: ClassVar = {"file": "out.txt"}

    def contents(self, folder: Path) -> Any:
        file = folder / "out.txt"
        return file.read_text().splitlines() if file.exists() else []


class TestFileSystemSink(SinkContract):
    connector = FileSystemSinkConnector
    readme = PAGES / "filesystem" / "README.md"
    config: ClassVar = {"path": "out", "include.key": "true", "include.metadata": "true"}

    def contents(self, folder: Path) -> Any:
        files = sorted((folder / "out").glob("[!_]*/*/*.parquet"))
        return {str(file.relative_to(folder)): pq.ParquetFile(file).read().to_pylist() for file in files}

    def rows(self, folder: Path) -> Any:
        return [row for rows in self.contents(folder).values() for row in rows]


class TestFileSystemSinkOfMaps(TestFileSystemSink):
    def records(self) -> list[SinkRecord]:
        return sink_records(None, [{"id": 1}, {"id": 2, "name": "x"}, {"id": 3.5}, {"name": None}, None, {"id": 7}])


class TestFileSystemSource(SourceContract):
    """What comes later is another interval's (tests/connectors/filesystem/test_source.py): bounds name their files."""

    connector = FileSystemSourceConnector
    readme = PAGES / "filesystem" / "README.md"
    config: ClassVar = {
        "path": "in",
        "topic": "rows",
        "format": "csv",
        "file.settle.ms": "0",
        "poll.interval.ms": "0",
        "csv.types": "id:int64",
    }

    def prepare(self, folder: Path) -> None:
        (folder / "in" / "more").mkdir(parents=True)
        (folder / "in" / "a.csv").write_text('id,name\n1,one\n2,"Zoë, the\nsecond"\n3,\n')
        (folder / "in" / "more" / "b.csv").write_text('id,name\n4,""\n')


class TestFileSystemSourceOfMaps(TestFileSystemSource):
    config: ClassVar = {**TestFileSystemSource.config, "format": "json"}

    def prepare(self, folder: Path) -> None:
        (folder / "in").mkdir()
        (folder / "in" / "a.json").write_text('{"a": 1}\n{"a": "x", "b": [1, null]}\n\nnull\n"text"')
        (folder / "in" / "b.json").write_text('{"a": 5}\n{"c": {"d": 1.5}}\n')


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pyiceberg") is None, reason="pip install 'connect-core[iceberg]'")
class TestIcebergSink(SinkContract):
    connector = IcebergSinkConnector
    readme = PAGES / "iceberg" / "README.md"
    config: ClassVar = {
        "iceberg.tables": "db.orders",
        "iceberg.catalog.uri": "sqlite:///catalog.db",
        "iceberg.catalog.warehouse": "warehouse",
        "iceberg.tables.auto-create-enabled": "true",
        "iceberg.tables.evolve-schema-enabled": "true",
        "include.metadata": "true",
    }

    def contents(self, folder: Path) -> Any:
        from pyiceberg.catalog.sql import SqlCatalog

        catalog = SqlCatalog("iceberg", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
        if not catalog.table_exists("db.orders"):
            return []
        rows = catalog.load_table("db.orders").scan().to_arrow().to_pylist()
        return sorted(rows, key=lambda row: (row["_partition"], row["_offset"]))


class TestIcebergSinkOfMaps(TestIcebergSink):
    config: ClassVar = {**TestIcebergSink.config, "behavior.on.null.values": "write"}

    def records(self) -> list[SinkRecord]:
        return sink_records(None, [{"id": 1}, {"id": 2, "name": "x"}, {"id": 3}, {"name": None}, None, {"id": 7}])


@pytest.mark.skipif(find_spec("deltalake") is None, reason="pip install 'connect-core[delta]'")
class TestDeltaSink(SinkContract):
    connector = DeltaSinkConnector
    readme = PAGES / "delta" / "README.md"
    config: ClassVar = {"path": "lake", "include.metadata": "true"}

    def contents(self, folder: Path) -> Any:
        from deltalake import DeltaTable

        tables = [place.parent for place in (folder / "lake").glob("[!_]*/_delta_log")]
        rows = [row for place in tables for row in DeltaTable(str(place)).to_pyarrow_table().to_pylist()]
        return sorted(rows, key=lambda row: (row["_partition"], row["_offset"]))


EXAMPLES: Mapping[str, Mapping[str, str]] = {
    "Cast": {"spec": "id:string,amount:int32"},
    "DropHeaders": {"headers": "source"},
    "ExtractField": {"field": "customer"},
    "Filter": {},
    "Flatten": {},
    "HasHeaderKey": {"name": "source"},
    "HeaderFrom": {"fields": "customer", "headers": "customer", "operation": "move"},
    "HoistField": {"field": "order"},
    "InsertField": {"static.field": "shop", "static.value": "north", "timestamp.field": "at"},
    "InsertHeader": {"header": "shop", "value.literal": "42"},
    "MaskField": {"fields": "customer"},
    "RecordIsTombstone": {},
    "RegexRouter": {"regex": "(.*)", "replacement": "shop-$1"},
    "ReplaceField": {"exclude": "amount", "renames": "id:number"},
    "SetSchemaMetadata": {"schema.name": "shop.Order", "schema.version": "2"},
    "TimestampConverter": {"field": "id", "target.type": "string", "format": "yyyy-MM-dd"},
    "TimestampRouter": {},
    "TopicNameMatches": {"pattern": "t.*"},
    "ValueToKey": {"fields": "id,customer"},
}
CONTRACTS: Mapping[str, tuple[type[Any], str]] = {
    "transformation": (TransformationContract, "transformation"),
    "predicate": (PredicateContract, "predicate"),
    "converter": (ConverterContract, "converter"),
    "header_converter": (HeaderConverterContract, "converter"),
}


def contract_of(plugin: Plugin) -> type[Any]:
    """Return a built-in plugin's contract as a class that pytest collects."""
    base, attribute = CONTRACTS[plugin.type]
    simple = plugin.name.rpartition(".")[2]
    content: dict[str, Any] = {attribute: plugin.load(), "config": EXAMPLES.get(simple.partition("$")[0], {})}
    if simple.endswith("$Key"):
        content["records"] = lambda _: keyed()
    if simple == "SimpleHeaderConverter":
        content["values"] = lambda _: [SchemaAndValue(STRING_SCHEMA, "Zoë"), SchemaAndValue(INT64_SCHEMA, 2**40)]
    return type(f"Test{simple.replace('$', '')}{plugin.type.title()}", (base,), content)


def keyed() -> list[SinkRecord]:
    """Return records whose keys are rows."""
    rows = [(ORDER_SCHEMA, order) for order in orders()] + [
        (None, {"id": n, "customer": "x", "amount": 0.5}) for n in range(3)
    ]
    return [
        SinkRecord("t", 0, schema, key, INT64_SCHEMA, number, number, kafka_offset=number)
        for number, (schema, key) in enumerate(rows)
    ]


# Those that ask a schema registry keep the contract over one in memory: tests/converters/*/test_contract.py.
WITH_REGISTRY = ("AvroConverter", "JsonSchemaConverter", "ProtobufConverter")
PLUGINS = [
    plugin
    for plugin in registry().plugins(*CONTRACTS)
    if plugin.distribution == "connect-core" and not plugin.name.endswith(WITH_REGISTRY)
]
globals().update({contract.__name__: contract for contract in map(contract_of, PLUGINS)})

"""A plugin of each kind, written with ``connect_core.api`` alone, is found and works."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from connect_core.api import SinkConnector, SinkRecord, SourceConnector
from connect_core.registry import PluginKind, Registry
from tests.architecture.sources import imports, sources
from tests.registry.wheels import install, registry_of

PLUGIN = """
from connect_core.api import (
    ConfigDef, ConfigError, ConfigType, ConnectRecord, Converter, Header, HeaderConverter, Importance, Predicate,
    RetriableError, Schema, SchemaAndValue, SchemaBuilder, SinkConnector, SinkTask, SourceConnector, SourceRecord,
    SourceTask, Struct, Transformation,
)
from connect_core.api.config import Range
from connect_core.api.data import INT64_SCHEMA, STRING_SCHEMA, Timestamp

CONFIG = ConfigDef().define("count", ConfigType.INT, 3, validator=Range.at_least(1), doc="How many numbers.")
ROW = SchemaBuilder.struct().name("row").field("n", INT64_SCHEMA).field("at", Timestamp.SCHEMA).build()


class NumbersTask(SourceTask):
    def start(self, config):
        self.left, self.topic = int(config["count"]), config["topic"]
        stored = self.context.offset_storage_reader.offset({"numbers": "all"})
        self.next = stored["next"] if stored else 0

    def poll(self):
        if not self.left:
            return None
        self.left, self.next = self.left - 1, self.next + 1
        value = Struct(ROW).put("n", self.next).put("at", Timestamp.to_logical(Timestamp.SCHEMA, 0))
        return [SourceRecord(self.topic, value_schema=ROW, value=value, source_partition={"numbers": "all"},
                             source_offset={"next": self.next})]

    def stop(self): ...


class NumbersSourceConnector(SourceConnector):
    def start(self, config):
        if "topic" not in config:
            raise ConfigError("topic", None, "Name one")
        self.given = config

    def task_class(self): return NumbersTask
    def task_configs(self, max_tasks): return [self.given][:max_tasks]
    def stop(self): ...
    def config(self): return CONFIG


class ListTask(SinkTask):
    def start(self, config): self.rows = []
    def put(self, records):
        if len(records) > 99:
            raise RetriableError("too many at once")
        self.rows += [record.value for record in records]
    def stop(self): ...


class ListSinkConnector(SinkConnector):
    def start(self, config): ...
    def task_class(self): return ListTask
    def task_configs(self, max_tasks): return [{}] * max_tasks
    def stop(self): ...
    def config(self): return ConfigDef()


class Upper(Transformation):
    def config(self): return ConfigDef()
    def configure(self, configs): ...
    def apply(self, record):
        from dataclasses import replace
        return replace(record, value=record.value.upper())


class IsText(Predicate):
    def config(self): return ConfigDef()
    def configure(self, configs): ...
    def test(self, record): return isinstance(record.value, str)


class ReverseConverter(Converter):
    def configure(self, configs, is_key): ...
    def from_connect_data(self, topic, schema, value): return value[::-1].encode()
    def to_connect_data(self, topic, value): return SchemaAndValue(STRING_SCHEMA, value.decode()[::-1])
"""
NAMES = ("NumbersSourceConnector", "ListSinkConnector", "Upper", "IsText", "ReverseConverter")


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    monkeypatch.syspath_prepend(str(tmp_path))
    install(tmp_path, "acme-numbers", {f"com.acme.{name}": name for name in NAMES}, PLUGIN)
    importlib.invalidate_caches()
    return registry_of(tmp_path)


class Reader:
    """The offsets of a connector that has none."""

    def offset(self, partition: object) -> None:
        return None


class Context:
    """As much of a task's context as the plugin uses."""

    offset_storage_reader = Reader()


def test_source_works_by_the_api(plugins: Registry) -> None:
    connector: SourceConnector = plugins.load(PluginKind.CONNECTOR, "NumbersSource")()
    assert connector.config().parse({"count": "2"}) == {"count": 2}
    connector.start({"topic": "t", "count": "2"})
    task = connector.task_class()()
    task.initialize(Context())  # type: ignore[arg-type]
    task.start(connector.task_configs(1)[0])
    polled = [record for _ in range(3) for record in task.poll() or ()]
    assert [record.value["n"] for record in polled] == [1, 2]
    assert polled[-1].source_offset == {"next": 2}


def test_sink_works_by_the_api(plugins: Registry) -> None:
    connector: SinkConnector = plugins.load(PluginKind.CONNECTOR, "ListSink")()
    assert connector.committer({}) is None
    assert len(connector.task_configs(3)) == 3


def test_other_kinds_work_by_the_api(plugins: Registry) -> None:
    record = SinkRecord("t", value="abc")
    assert plugins.load(PluginKind.TRANSFORMATION, "Upper")().apply(record).value == "ABC"
    assert plugins.load(PluginKind.PREDICATE, "IsText")().test(record)
    converter = plugins.load(PluginKind.CONVERTER, "Reverse")()
    assert converter.to_connect_data("t", converter.from_connect_data("t", None, "abc")).value == "abc"


def test_api_needs_nothing_of_the_engine() -> None:
    allowed = ("connect_core.api", "connect_core.java", "connect_core.errors")
    engine = {
        name
        for source in sources()
        if source.package == "api"
        for name in imports(source)
        if name.startswith("connect_core.") and not name.startswith(allowed)
    }
    assert engine == set()

"""Java connectors on the driver: found, asked, started when their tasks are wanted."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connect_core.api.config import ConfigType
from connect_core.api.guarantee import Delivery
from connect_core.api.records import TopicPartition
from connect_core.api.source import ConnectorTransactionBoundaries, ExactlyOnceSupport
from connect_core.configs import load_worker
from connect_core.errors import ConfigError, ConnectError
from connect_core.java_plugins.catalog import JavaClass
from connect_core.java_plugins.connectors import JavaSourceConnector
from connect_core.java_plugins.plugins import JavaPlugins
from connect_core.java_plugins.registration import JavaPluginSource, add_java_plugins
from connect_core.registry import Plugin, PluginKind, Registry, registry
from connect_core.settings import WorkerMode
from connect_core.testing.contexts import MemoryConnectorContext
from tests.java_plugins.equipment import host_settings, loaded, process_of, test_plugin

pytestmark = pytest.mark.slow

CONFIG = {"name": "count", "topic": "t", "limit": "5"}


@pytest.fixture
def source(plugins: JavaPlugins) -> Iterator[JavaSourceConnector]:
    made = loaded(plugins, "testing.CountingSource", "source")()
    yield made
    made.stop()


@pytest.fixture
def sink(plugins: JavaPlugins) -> Any:
    return loaded(plugins, "testing.ListingSink", "sink")()


def test_plugins_are_listed_with_type_and_version(plugins: JavaPlugins) -> None:
    found = [(one.type, one.name, one.version) for one in JavaPluginSource(plugins).plugins()]
    assert sorted(found) == [
        ("converter", "testing.ReversingConverter", "1.2.3"),
        ("header_converter", "testing.ReversingConverter", "1.2.3"),
        ("predicate", "testing.Shout$Begins", "undefined"),
        ("sink", "testing.ListingSink", "1.2.3"),
        ("source", "io.debezium.testing.SnapshotSource", "1.2.3"),
        ("source", "testing.CountingSource", "1.2.3"),
        ("transformation", "testing.Shout", "undefined"),
    ]


def test_settings_are_those_the_plugin_describes(source: JavaSourceConnector) -> None:
    keys = source.config().config_keys()
    assert list(keys) == ["topic", "limit", "secret", "mode"]
    assert (keys["limit"].default, keys["limit"].type) == (10, ConfigType.LONG)
    assert keys["secret"].type is ConfigType.PASSWORD
    assert not keys["topic"].has_default
    assert keys["topic"].doc == "Where records go."


def test_the_plugin_itself_validates(source: JavaSourceConnector) -> None:
    values = {one.name: one for one in source.validate({"limit": "-1"})}
    assert values["topic"].error_messages == ['Missing required configuration "topic" which has no default value.']
    assert "Value must be at least 0" in values["limit"].error_messages[0]
    assert values["mode"].error_messages == []


def test_too_large_a_heap_is_refused(source: JavaSourceConnector) -> None:
    with pytest.raises(ConfigError, match=r"java\.plugin\.heap\.max"):
        source.validate({"topic": "t", "java.plugin.heap": "100g"})


def test_what_it_declares_of_exactly_once_counts(source: JavaSourceConnector) -> None:
    assert source.exactly_once_support(CONFIG) is ExactlyOnceSupport.SUPPORTED
    assert source.can_define_transaction_boundaries(CONFIG) is ConnectorTransactionBoundaries.SUPPORTED
    assert source.guarantee(CONFIG).delivery is Delivery.EXACTLY_ONCE
    unknown = source.guarantee({**CONFIG, "support": "unknown"})
    assert unknown.delivery is Delivery.AT_LEAST_ONCE
    assert "does not declare" in unknown.condition


def test_a_sink_is_at_least_once(sink: Any) -> None:
    assert sink.guarantee(CONFIG).delivery is Delivery.AT_LEAST_ONCE
    assert sink.alter_offsets(CONFIG, {TopicPartition("t", 0): 5}) is False


def test_offset_changes_are_put_to_the_plugin(source: JavaSourceConnector) -> None:
    assert source.alter_offsets(CONFIG, {'{"task":"0"}': {"at": 3}}) is True
    with pytest.raises(ConnectError, match="these offsets are refused"):
        source.alter_offsets({**CONFIG, "refuse": "1"}, {'{"task":"0"}': None})


def test_tasks_are_those_the_plugin_makes(source: JavaSourceConnector) -> None:
    source.initialize(MemoryConnectorContext())
    source.start(CONFIG)
    assert source._host is None
    first, second = source.task_configs(2)
    assert (first["task"], second["task"]) == ("0", "1")
    assert first["task.class"] == "testing.CountingSource$CountingTask"
    assert source.task_class().__qualname__ == "CountingSource$CountingTask"
    host: Any = source._host
    source.stop()
    assert source._host is None
    assert host.process.wait(10)


def test_a_killed_process_is_started_again(source: JavaSourceConnector) -> None:
    source.initialize(MemoryConnectorContext())
    source.start(CONFIG)
    source.task_configs(1)
    first = process_of(source)
    os.kill(first.pid, signal.SIGKILL)
    assert first.wait(10)
    assert len(source.task_configs(2)) == 2
    assert process_of(source) is not first
    source.stop()


def test_a_start_that_fails_says_why(source: JavaSourceConnector) -> None:
    source.initialize(MemoryConnectorContext())
    source.start({**CONFIG, "fail.start": "a reason"})
    with pytest.raises(ConnectError, match="start failed with a reason"):
        source.task_configs(1)


def test_its_threads_may_ask_for_other_tasks(source: JavaSourceConnector) -> None:
    context = MemoryConnectorContext()
    source.initialize(context)
    source.start({**CONFIG, "reconfigure": "true"})
    source.task_configs(1)
    end = time.monotonic() + 10
    while not context.reconfigurations and time.monotonic() < end:
        time.sleep(0.02)
    assert context.reconfigurations == 1


@pytest.fixture
def shared_registry() -> Iterator[Registry]:
    """The process's registry, which forgets at the end what was added."""
    known = registry()
    before = known._sources
    yield known
    known._sources = before


def test_a_worker_with_a_plugin_path_makes_them_known(tmp_path: Path, shared_registry: Registry) -> None:
    file = tmp_path / "worker.properties"
    file.write_text(
        "bootstrap.servers=localhost:9\nkey.converter=JsonConverter\nvalue.converter=JsonConverter\n"
        f"offset.storage.file.filename={tmp_path}/offsets\nplugin.path={test_plugin()}\n"
    )
    add_java_plugins(load_worker(file, {}, WorkerMode.STANDALONE))
    plugin = shared_registry.find(PluginKind.CONNECTOR, "CountingSource")
    assert (plugin.name, plugin.type) == ("testing.CountingSource", "source")
    assert shared_registry.name_of(plugin.load()) == "testing.CountingSource"
    assert shared_registry.find(PluginKind.TRANSFORMATION, "Shout").load() is not None


class Fixed:
    """A source of plugins."""

    trouble: str | None = None

    def __init__(self, *plugins: Plugin) -> None:
        self._plugins = plugins

    def plugins(self) -> tuple[Plugin, ...]:
        return self._plugins


FILE_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"


@pytest.mark.parametrize(("rank", "wanted"), [(-1, "connect_core"), (1, "java:x")])
def test_a_built_in_name_is_the_built_in_unless_java_is_preferred(rank: int, wanted: str) -> None:
    known = Registry(())
    known.add(Fixed(Plugin(FILE_SOURCE, "source", "9", "java:x", rank=rank)))
    assert known.find(PluginKind.CONNECTOR, "FileStreamSource").target.startswith(wanted)
    assert len([one for one in known.plugins("source") if one.name == FILE_SOURCE]) == 1


def test_connectors_of_kafka_s_own_folder_are_offered() -> None:
    names = {
        "org.apache.kafka.connect.mirror.MirrorSourceConnector": "source",
        "org.apache.kafka.connect.tools.MockSourceConnector": "source",
        "org.apache.kafka.connect.json.JsonConverter": "converter",
    }
    found = [JavaClass({"class": name, "type": type, "location": "classpath"}) for name, type in names.items()]
    assert [one.name for one in found if one.is_offered] == ["org.apache.kafka.connect.mirror.MirrorSourceConnector"]
    assert JavaClass({"class": "a.B", "type": "converter", "location": "file:/plugins/a%20b/"}).is_offered


def test_without_java_s_runtime_there_are_none_and_the_log_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lacking = JavaPlugins(replace(host_settings(), libs=tmp_path))
    assert JavaPluginSource(lacking).plugins() == ()
    assert "connect java fetch" in (lacking.trouble or "")
    assert "cannot be used" in caplog.text

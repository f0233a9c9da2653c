"""Plugins by name."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from connect_core.errors import ConfigError, ConnectError
from connect_core.registry import KAFKA_VERSION, PluginKind, Registry, registry
from tests.registry.wheels import SOURCE, install, registry_of

KAFKA = "org.apache.kafka.connect."
TRANSCRIPT = Path(__file__).parents[1] / "rest" / "transcript.json"


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    return tmp_path


def test_every_plugin_of_kafka_is_listed() -> None:
    steps = json.loads(TRANSCRIPT.read_text())["steps"]
    recorded = next(step["expect"]["json"] for step in steps if step["id"] == "plugins-016-list-all")
    listed = {(plugin.name, plugin.type, plugin.version) for plugin in registry().plugins()}
    assert {(plugin["class"], plugin["type"], plugin["version"]) for plugin in recorded} <= listed


def test_every_built_in_can_be_loaded() -> None:
    for plugin in registry().plugins():
        assert isinstance(plugin.load(), type), plugin


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (
            PluginKind.CONNECTOR,
            (f"{KAFKA}file.FileStreamSourceConnector", "FileStreamSourceConnector", "FileStreamSource"),
        ),
        (PluginKind.CONNECTOR, ("FileSystemSinkConnector", "FileSystemSink")),
        (PluginKind.TRANSFORMATION, (f"{KAFKA}transforms.InsertField$Value", "InsertField$Value")),
        (PluginKind.CONVERTER, (f"{KAFKA}json.JsonConverter", "JsonConverter", "Json")),
        (
            PluginKind.CONVERTER,
            ("io.confluent.connect.json.JsonSchemaConverter", "JsonSchemaConverter", "JsonSchema"),
        ),
        (
            PluginKind.CONVERTER,
            ("io.confluent.connect.protobuf.ProtobufConverter", "ProtobufConverter", "Protobuf"),
        ),
        (PluginKind.HEADER_CONVERTER, (f"{KAFKA}storage.SimpleHeaderConverter", "SimpleHeaderConverter", "Simple")),
        (PluginKind.PREDICATE, (f"{KAFKA}transforms.predicates.TopicNameMatches", "TopicNameMatches")),
    ],
)
def test_find_takes_full_simple_and_short_names(kind: PluginKind, names: tuple[str, ...]) -> None:
    assert {registry().find(kind, name).name for name in names} == {names[0]}


def test_find_without_aliases_wants_the_full_name() -> None:
    with pytest.raises(ConfigError, match="Failed to find any class that implements Transformation"):
        registry().find(PluginKind.TRANSFORMATION, "Filter", aliases=False)


def test_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(ConfigError) as caught:
        registry().load(PluginKind.CONNECTOR, "Nope")
    message = str(caught.value)
    assert message.startswith(
        "Failed to find any class that implements Connector and which name matches Nope, available connectors are: "
    )
    assert f"{KAFKA}file.FileStreamSourceConnector" in message


@pytest.mark.parametrize("name", ["os.system", "os:system", "subprocess.Popen", "connect_core.registry:Registry", ""])
def test_nothing_else_is_importable(name: str) -> None:
    for kind in PluginKind:
        with pytest.raises(ConfigError, match="Failed to find any class"):
            registry().load(kind, name)


def test_a_class_is_of_its_kind_only() -> None:
    with pytest.raises(ConfigError, match="Failed to find any class that implements Predicate"):
        registry().load(PluginKind.PREDICATE, f"{KAFKA}transforms.HoistField$Value")


def test_name_of_a_class_is_what_users_write() -> None:
    hoist = registry().load(PluginKind.TRANSFORMATION, "HoistField$Key")
    assert registry().name_of(hoist) == f"{KAFKA}transforms.HoistField$Key"
    assert registry().name_of(registry().load(PluginKind.CONVERTER, "JsonConverter")) == f"{KAFKA}json.JsonConverter"
    assert registry().name_of(Path).endswith(".Path")


def test_versions_are_kafkas_or_the_distributions(wheels: Path) -> None:
    install(wheels, "acme-orders", {"com.acme.OrdersSourceConnector": "OrdersSourceConnector"})
    found = registry_of(wheels)
    assert found.find(PluginKind.CONNECTOR, "OrdersSource").version == "2.5"
    assert found.find(PluginKind.CONNECTOR, "FileStreamSource").version == KAFKA_VERSION


def test_third_party_plugin_is_found_by_its_names(wheels: Path) -> None:
    install(wheels, "acme-lines", {"com.acme.OrdersSourceConnector": "OrdersSourceConnector"})
    found = registry_of(wheels)
    for name in ("com.acme.OrdersSourceConnector", "OrdersSourceConnector", "OrdersSource"):
        assert found.load(PluginKind.CONNECTOR, name).__name__ == "OrdersSourceConnector"
    assert [plugin.type for plugin in found.plugins("source") if plugin.distribution == "acme-lines"] == ["source"]
    described = found.describe("OrdersSource")
    assert described is not None
    assert described.distribution == "acme-lines"


def test_two_claims_of_a_name_are_refused(wheels: Path) -> None:
    install(wheels, "acme-one", {"com.acme.OrdersSourceConnector": "OrdersSourceConnector"})
    install(wheels, "acme-two", {"org.two.OrdersSourceConnector": "OrdersSourceConnector"})
    found = registry_of(wheels)
    with pytest.raises(ConfigError, match=r"More than one Connector has the name OrdersSource: .*acme-one.*acme-two"):
        found.find(PluginKind.CONNECTOR, "OrdersSource")
    assert found.find(PluginKind.CONNECTOR, "org.two.OrdersSourceConnector").distribution == "acme-two"


def test_built_in_name_cannot_be_taken(wheels: Path) -> None:
    name = f"{KAFKA}file.FileStreamSourceConnector"
    install(wheels, "acme-thief", {name: "OrdersSourceConnector"})
    with pytest.raises(ConfigError, match=r"connect-core .*acme-thief"):
        registry_of(wheels).find(PluginKind.CONNECTOR, name)


def test_broken_plugin_is_left_out_of_the_list(wheels: Path, caplog: pytest.LogCaptureFixture) -> None:
    install(wheels, "acme-broken", {"com.acme.GoneConnector": "GoneConnector"})
    found = registry_of(wheels)
    assert "com.acme.GoneConnector" not in [plugin.name for plugin in found.plugins()]
    assert "acme-broken" in caplog.text
    with pytest.raises(ConnectError, match=r"GoneConnector of acme-broken cannot be loaded"):
        found.load(PluginKind.CONNECTOR, "Gone")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("acme-raising", "raise ValueError('no licence')"),
        ("acme-ending", "raise SystemExit('no licence')"),
        ("acme-unreadable", "def (:"),
    ],
)
def test_plugin_whose_module_fails_in_any_way_leaves_the_others_in_the_list(wheels: Path, name: str, code: str) -> None:
    install(wheels, name, {"com.acme.FailingConnector": "FailingConnector"}, code)
    found = registry_of(wheels)
    names = [plugin.name for plugin in found.plugins()]
    assert f"{KAFKA}file.FileStreamSourceConnector" in names
    assert "com.acme.FailingConnector" not in names
    with pytest.raises(ConnectError, match=rf"FailingConnector of {name} cannot be loaded .*(Error|SystemExit): "):
        found.load(PluginKind.CONNECTOR, "Failing")


@pytest.mark.parametrize(
    ("name", "code", "reason"),
    [
        (
            "acme-abstract",
            SOURCE.replace("    def stop(self): ...\n    def config", "    def config"),
            "abstract method",
        ),
        ("acme-refusing", f"{SOURCE}    def __init__(self): raise OSError('no licence')\n", "OSError: no licence"),
        ("acme-leaving", f"{SOURCE}    def __init__(self): raise SystemExit('gone')\n", "SystemExit: gone"),
        ("acme-asking", f"{SOURCE}    def __init__(self, more): ...\n", "missing 1 required positional argument"),
    ],
)
def test_plugin_that_cannot_be_created_is_named(wheels: Path, name: str, code: str, reason: str) -> None:
    install(wheels, name, {"com.acme.OrdersConnector": "OrdersSourceConnector"}, code)
    found = registry_of(wheels)
    with pytest.raises(ConnectError, match=rf"OrdersConnector of {name} cannot be created: .*{reason}"):
        found.create(PluginKind.CONNECTOR, "Orders")


def test_class_without_interface_is_refused(wheels: Path) -> None:
    install(wheels, "acme-plain", {"com.acme.Plain": "Plain"}, "class Plain: ...")
    with pytest.raises(ConnectError, match=r"Plain of acme-plain implements no interface of connect_core\.api"):
        registry_of(wheels).load(PluginKind.CONNECTOR, "com.acme.Plain")


def test_only_the_plugin_asked_for_is_imported(wheels: Path) -> None:
    install(wheels, "acme-loud", {"com.acme.LoudConnector": "Loud"}, "raise SystemExit('imported')")
    assert registry_of(wheels).find(PluginKind.CONVERTER, "JsonConverter").name == f"{KAFKA}json.JsonConverter"


def test_lists_are_in_connects_order() -> None:
    types = [plugin.type for plugin in Registry(()).plugins()]
    order = ["sink", "source", "transformation", "predicate", "converter", "header_converter"]
    assert sorted(types, key=order.index) == types

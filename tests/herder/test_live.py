"""Live checks: what they find is shown at its key; one that hangs is given up."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from connect_core.api.config import ConfigValue
from connect_core.configs import ValidatedConfig, ValidatedSetting
from connect_core.connectors.file.source import FileStreamSourceConnector
from connect_core.errors import RetriableError
from connect_core.herder.live import LiveCheck, with_live_check
from connect_core.herder.preflight import preflight
from tests.herder.harness import SINK, SOURCE, Harness, worker
from tests.schema_registry.fault_server import Answer, FaultServer, fault_server

INFOS = ValidatedConfig("Some", 0, (), (ValidatedSetting(None, ConfigValue("file", "x")), ValidatedSetting(None, None)))


def test_check_adds_its_errors() -> None:
    found = {"file": ["cannot be read", "is a folder"], "other": ["is down"]}
    infos = with_live_check(INFOS, lambda: found, 5)
    assert (infos.errors(), infos.error_count) == (found, 3)
    assert INFOS.errors() == {}


def test_check_may_find_nothing() -> None:
    assert with_live_check(INFOS, dict, 5) == INFOS


def _raising(error: Exception) -> LiveCheck:
    def check() -> dict[str, list[str]]:
        raise error

    return check


@pytest.mark.parametrize(
    ("error", "shown"),
    [(RetriableError("broker down"), "broker down"), (KeyError("x"), "The check failed: KeyError: 'x'")],
)
def test_failing_check_is_an_error(error: Exception, shown: str) -> None:
    assert with_live_check(INFOS, _raising(error), 5).errors() == {"connector.class": [shown]}


def test_hanging_check_is_given_up() -> None:
    released = threading.Event()

    def check() -> dict[str, list[str]]:
        released.wait(30)
        return {}

    try:
        infos = with_live_check(INFOS, check, 0.1)
    finally:
        released.set()
    assert infos.errors() == {
        "connector.class": [
            "The systems that Some needs did not respond within 0.1 s: are they running? If they are, try again"
        ]
    }


def test_systems_have_the_time_that_the_herder_gives(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(connector: object, config: object, limits: object) -> dict[str, list[str]]:
        time.sleep(0.3)
        return {}

    monkeypatch.setattr(FileStreamSourceConnector, "validate_live", slow)
    live = worker(**{"connect.validate.live": "true", "file.roots": "/tmp"})
    herder = replace(harness.herder, worker=live, live_seconds=0.1)
    (told,) = preflight(herder, {**SOURCE, "name": "a"}).errors()["connector.class"]
    assert "did not respond within 0.1 s" in told
    assert preflight(replace(herder, live_seconds=10), {**SOURCE, "name": "a"}).errors() == {}


def test_sink_whose_brokers_are_silent_is_told_at_its_topics(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connect_core.herder.preflight._BROKER_SECONDS", 0.5)
    herder = replace(harness.herder, worker=worker(**{"connect.validate.live": "true", "file.roots": "/tmp"}))
    found = preflight(herder, {**SINK, "name": "a"}).errors()
    assert list(found) == ["topics"]
    assert "start the brokers or correct their address" in found["topics"][0]
    assert preflight(herder, {**SOURCE, "name": "a"}).errors() == {}


@pytest.fixture
def registry() -> Iterator[FaultServer]:
    with fault_server() as running:
        running.answers["/subjects"] = [Answer(401)]
        yield running


def test_validation_asks_once_for_key_and_value_and_hides_the_password(registry: FaultServer, harness: Harness) -> None:
    herder = replace(harness.herder, worker=worker(**{"connect.validate.live": "true", "file.roots": "/tmp"}))
    converters = {
        f"{part}.converter{key}": value
        for part in ("key", "value")
        for key, value in {
            "": "io.confluent.connect.avro.AvroConverter",
            ".schema.registry.url": registry.url,
            ".basic.auth.credentials.source": "USER_INFO",
            ".basic.auth.user.info": "ann:hunter2",
        }.items()
    }
    found = preflight(herder, {**SOURCE, **converters, "name": "a"})
    assert sorted(found.errors()) == ["key.converter.schema.registry.url", "value.converter.schema.registry.url"]
    assert "hunter2" not in str(found.errors())
    assert registry.count("/subjects") == 1


def avro_to(registry: FaultServer) -> dict[str, str]:
    return {"value.converter": "AvroConverter", "value.converter.schema.registry.url": registry.url}


def test_what_a_source_writes_is_tried_unless_a_transform_may_change_it(
    registry: FaultServer, harness: Harness
) -> None:
    registry.answers["/subjects"] = [Answer(body=b"[]")]
    registry.answers["/compatibility/subjects/t-value/versions/latest"] = [Answer(body=b'{"is_compatible": false}')]
    herder = replace(harness.herder, worker=worker(**{"connect.validate.live": "true", "file.roots": "/tmp"}))
    found = preflight(herder, {**SOURCE, **avro_to(registry), "topic": "t", "name": "a"}).errors()
    assert list(found) == ["value.converter.auto.register.schemas"]
    assert "Topic t cannot be written" in found["value.converter.auto.register.schemas"][0]
    routed = {"transforms": "r", "transforms.r.type": "RegexRouter", "transforms.r.regex": "t",
              "transforms.r.replacement": "u"}  # fmt: skip
    assert preflight(herder, {**SOURCE, **avro_to(registry), **routed, "topic": "t", "name": "a"}).errors() == {}

"""The report: what becomes of connectors and keys, on the registry as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from connect_core.configs.providers import make_providers
from connect_core.herder.context import Herder
from connect_core.java_host.settings import HostSettings
from connect_core.java_plugins.plugins import JavaPlugins
from connect_core.java_plugins.registration import JavaPluginSource
from connect_core.migration.definitions import Definition
from connect_core.migration.importing import Outcome, import_one
from connect_core.migration.keys import KeyTreatment
from connect_core.migration.report import ConnectorReport, There, examine
from connect_core.registry import PluginKind, registry
from tests.herder.harness import SINK, SOURCE, Harness

S3 = {
    "connector.class": "io.confluent.connect.s3.S3SinkConnector",
    "tasks.max": "1",
    "topics": "orders",
    "s3.bucket.name": "bucket",
    "s3.region": "eu-west-1",
    "flush.size": "1000",
    "format.class": "io.confluent.connect.s3.format.json.JsonFormat",
    "storage.class": "io.confluent.connect.s3.storage.S3Storage",
    "schema.cache.size": "50",
    "aws.secret.access.key": "${vault:secret/s3:key}",
}


def report_of(harness: Harness, config: dict[str, str], there: There | None = None) -> ConnectorReport:
    return examine(harness.herder, Definition("a", config), there)


def treatments(report: ConnectorReport) -> dict[str, KeyTreatment]:
    return {one.key: one.treatment for one in report.keys}


def test_a_sink_of_another_maker_says_what_becomes_of_its_keys(harness: Harness) -> None:
    report = report_of(harness, {**S3, "aws.secret.access.key": "written-out-4711"})
    found = treatments(report)
    assert (report.kind, report.reasons) == ("native", ())
    assert found["flush.size"] is KeyTreatment.HONOURED
    assert found["format.class"] is KeyTreatment.MAPPED
    assert found["schema.cache.size"] is KeyTreatment.UNNEEDED
    assert report.sealed == ("aws.secret.access.key",)
    assert "4711" not in str(report.to_json())


def test_a_value_that_was_hidden_when_it_was_exported_is_a_reason_unless_it_is_stored_here(harness: Harness) -> None:
    exported = Definition("a", {**SOURCE, "some.password": "[hidden]"})
    report = examine(harness.herder, exported)
    assert (report.kind, report.reasons) == (
        "not possible",
        ("some.password: hidden there, and not stored here: write the value in place of [hidden]",),
    )
    harness.create("a", {**SOURCE, "some.password": "stored-4711"}, "STOPPED")
    assert examine(harness.herder, exported).is_possible
    assert import_one(harness.herder, exported, None).outcome is Outcome.UNCHANGED


def test_a_provider_that_is_not_here_is_a_reason(harness: Harness) -> None:
    report = report_of(harness, S3)
    assert report.kind == "not possible"
    assert "the provider vault of references is not in the worker's config.providers" in report.reasons
    assert [(one.provider, one.path, one.keys, one.is_here) for one in report.secrets] == [
        ("vault", "secret/s3", ("key",), False)
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"connector.class": "com.acme.Alien"}, "there is no plugin com.acme.Alien here: put its jars"),
        ({"connector.class": ""}, "connector.class is missing"),
        ({"tasks.max": "0"}, "tasks.max: "),
        ({"topic": ""}, "topic: "),
        ({"transforms": "x", "transforms.x.type": "com.acme.Smt"}, "transforms.x.type: "),
        ({"value.converter": "com.acme.AlienConverter"}, "value.converter: "),
        (
            {"value.converter": "io.confluent.connect.avro.AvroConverter"},
            "value.converter.schema.registry.url: Missing required configuration",
        ),
        ({"producer.override.sasl.jaas.config": "com.acme.Login required;"}, "producer.override.sasl.jaas.config: "),
    ],
)
def test_what_is_in_the_way_is_a_reason(harness: Harness, changes: dict[str, str], reason: str) -> None:
    report = report_of(harness, {**SOURCE, **changes})
    assert report.kind == "not possible"
    assert any(one.startswith(reason) for one in report.reasons), report.reasons


@pytest.mark.parametrize("settings", [lambda self: dict[str, object]()["x"], lambda self: None, lambda self: {"a": 1}])
def test_a_plugin_that_fails_is_not_possible(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, settings: Callable[[object], object]
) -> None:
    monkeypatch.setattr(registry().load(PluginKind.CONNECTOR, "FileStreamSource"), "config", settings)
    report = report_of(harness, SOURCE)
    assert report.kind == "not possible"
    assert "FileStreamSource" in report.reasons[0]


def test_a_required_key_that_is_not_given_is_missing(harness: Harness) -> None:
    report = report_of(harness, {key: value for key, value in SOURCE.items() if key != "topic"})
    assert treatments(report)["topic"] is KeyTreatment.MISSING
    assert not report.is_possible


def test_overrides_are_honoured_mapped_or_not_needed(harness: Harness) -> None:
    prefix = "consumer.override."
    found = treatments(
        report_of(
            harness,
            {
                **SINK,
                f"{prefix}auto.offset.reset": "latest",
                f"{prefix}fetch.min.bytes": "10",
                f"{prefix}fetch.max.wait.ms": "100",
                f"{prefix}isolation.level": "read_uncommitted",
                f"{prefix}max.poll.records": "10",
            },
        )
    )
    assert {key.removeprefix(prefix): one for key, one in found.items() if key.startswith(prefix)} == {
        "auto.offset.reset": KeyTreatment.HONOURED,
        "fetch.min.bytes": KeyTreatment.HONOURED,
        "fetch.max.wait.ms": KeyTreatment.MAPPED,
        "isolation.level": KeyTreatment.MAPPED,
        "max.poll.records": KeyTreatment.UNNEEDED,
    }


def test_an_unknown_key_is_missing_unless_nobody_has_it_there(harness: Harness) -> None:
    config = {**SINK, "odd": "1", "transforms": "", "transforms.x.odd": "1"}
    assert treatments(report_of(harness, config))["odd"] is KeyTreatment.MISSING
    there = There("sink", "RUNNING", known_keys=frozenset(("odd",)))
    assert treatments(report_of(harness, config, there))["odd"] is KeyTreatment.MISSING
    elsewhere = There("sink", "RUNNING", known_keys=frozenset(("topics",)))
    found = treatments(report_of(harness, config, elsewhere))
    assert (found["odd"], found["transforms.x.odd"]) == (KeyTreatment.UNNEEDED, KeyTreatment.MISSING)
    assert report_of(harness, config).is_possible


def test_guarantee_topics_and_notes(harness: Harness) -> None:
    there = There("sink", "RUNNING", ("RUNNING",), topics=("lines", "more"))
    report = report_of(harness, {**SINK, "errors.deadletterqueue.topic.name": "letters"}, there)
    assert report.topics == ("lines", "letters", "more")
    assert report.group == "connect-a"
    assert report.change == "exactly-once here; at-least-once there, unless the plugin keeps offsets with its data"
    assert [note.split()[0] for note in report.notes] == ["key.converter", "value.converter"]
    own = {f"{part}.converter": "org.apache.kafka.connect.storage.StringConverter" for part in ("key", "value")}
    assert report_of(harness, {**SINK, **own}).notes == ()


def test_a_secret_behind_a_provider_is_not_shown(harness: Harness, tmp_path: object) -> None:
    properties = {"config.providers": "env", "config.providers.env.param.allowlist.pattern": "CANARY"}
    providers = make_providers(properties, {"CANARY": "canary-4711"})
    settings = harness.herder
    herder = Herder(settings.database, settings.worker, settings.scheduler, settings.rewrite_offsets, providers, "jo")
    report = examine(herder, Definition("a", {**SOURCE, "tasks.max": "${env:CANARY}"}))
    assert not report.is_possible
    assert "canary-4711" not in str(report.to_json())


def test_a_report_says_why_java_plugins_are_missing(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their jars may be in plugin.path, and cannot be read without Connect's runtime."""
    java = JavaPlugins(HostSettings(tmp_path / "libs", (str(tmp_path),)))
    monkeypatch.setattr(registry(), "_sources", ())
    registry().add(JavaPluginSource(java))
    (reason,) = report_of(harness, {"connector.class": "com.acme.Alien"}).reasons
    assert reason.startswith("there is no plugin com.acme.Alien here: Connect's Java runtime")
    assert "connect java fetch" in reason

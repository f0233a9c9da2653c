"""Everything wrong with a configuration at once, as the real server said it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet

from connect_core.configs import ValidatedConfig, plugin_config, validate
from connect_core.configs.providers import make_providers
from connect_core.errors import ConfigError, ConnectError
from tests.configs.workers import JSON, SINK, SOURCE, worker

STEPS = json.loads((Path(__file__).parents[1] / "rest" / "transcript.json").read_text())["steps"]
RECORDED_WORKER = {"key.converter": JSON, "key.converter.schemas.enable": "false"}


def without_documentation(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: without_documentation(value) for key, value in content.items() if key != "documentation"}
    return [without_documentation(value) for value in content] if isinstance(content, list) else content


def body_of(step: dict[str, Any]) -> dict[str, str | None]:
    body = step["request"]["body"]
    return {key: value if isinstance(value, str | None) else json.dumps(value) for key, value in body.items()}


def answered(*shapes: str) -> list[dict[str, Any]]:
    """Return the steps of one path whose answer is a document of this shape."""
    return [
        step
        for step in STEPS
        if step["request"]["path"].endswith(shapes[0]) and (step["expect"].get("project") or "") in shapes[1:]
    ]


def messages(config: dict[str, Any], more: dict[str, str] | None = None) -> dict[str, list[str]]:
    return validate(config, worker(more)).errors()


@pytest.mark.parametrize("step", answered("/config/validate", "validate_errors"), ids=lambda step: step["id"])
def test_errors_are_the_recorded_ones(step: dict[str, Any]) -> None:
    found, expected = validate(body_of(step), worker(RECORDED_WORKER)), step["expect"]["json"]
    assert (found.name, found.error_count, found.errors()) == tuple(expected.values())


@pytest.mark.parametrize(
    "step",
    [step for step in answered("/config/validate", "") if "configs" in step["expect"].get("json", {})],
    ids=lambda step: step["id"],
)
def test_whole_answer_is_the_recorded_one(step: dict[str, Any]) -> None:
    found = validate(body_of(step), worker(RECORDED_WORKER)).to_json()
    assert without_documentation(found) == without_documentation(step["expect"]["json"])


@pytest.mark.parametrize(
    "step",
    [step for step in answered("/config", "") if step["section"] == "plugins" and step["expect"]["status"] == 200],
    ids=lambda step: step["id"],
)
def test_plugin_config_is_the_recorded_one(step: dict[str, Any]) -> None:
    if "query" in step["request"]:
        return
    found = plugin_config(step["request"]["path"].split("/")[2])
    assert without_documentation(found) == without_documentation(step["expect"]["json"])


def test_plugin_config_of_an_unknown_plugin_is_none() -> None:
    assert plugin_config("Nope") is None


@pytest.mark.parametrize("id_", ["create-080-missing-required", "create-081-two-errors", "names-274-create-control"])
def test_refusal_is_the_recorded_text(id_: str) -> None:
    step = next(step for step in STEPS if step["id"] == id_)
    body = step["request"]["body"]
    lines = validate({**body["config"], "name": body["name"]}, worker()).message().split("\n")
    assert lines[0] == step["expect"]["json"]["first"]
    assert sorted(lines[1:]) == sorted(step["expect"]["json"]["rest"])


def test_no_class_is_the_recorded_text() -> None:
    for given, shown in (({"tasks.max": "1", "name": "sh-a"}, "{name=sh-a, tasks.max=1}"), ({}, "{}")):
        with pytest.raises(ConfigError) as caught:
            validate(given, worker())
        assert str(caught.value) == f"Connector config {shown} contains no connector type"


def test_unknown_class_is_refused() -> None:
    with pytest.raises(ConfigError, match="which name matches Nope"):
        validate({"connector.class": "Nope"}, worker())


def test_version_that_is_not_there_is_an_error_of_class_and_version() -> None:
    infos = validate(SOURCE | {"connector.plugin.version": "[9.9,10)", "tasks.max": "x"}, worker())
    wrong = "Plugin org.apache.kafka.connect.file.FileStreamSourceConnector not found that matches the version range "
    wrong += "[9.9,10), available versions: [4.3.1]"
    found = {
        info.value.name: list(info.value.error_messages)
        for info in infos.settings
        if info.value is not None and info.value.error_messages
    }
    assert found["connector.class"] == found["connector.plugin.version"] == [wrong]
    assert set(found) == {"connector.class", "connector.plugin.version", "tasks.max"}
    (version,) = [info.value for info in infos.settings if info.value and info.value.name == "connector.plugin.version"]
    assert list(version.recommended_values) == ["4.3.1"]
    assert "topic" not in {info.value.name for info in infos.settings if info.value}


def test_version_of_a_converter_that_is_not_there_is_an_error_of_both_settings() -> None:
    given = {"value.converter": JSON, "value.converter.plugin.version": "9.9.9"}
    infos = validate(SOURCE | given, worker())
    found = {info.value.name for info in infos.settings if info.value is not None and info.value.error_messages}
    assert found == set(given)


def test_own_settings_are_checked_where_used() -> None:
    assert "schedule" not in validate(SOURCE, worker()).errors()
    found = messages(SOURCE | {"schedule": "often", "interval.bound": "x", "interval.max.ms": "0"})
    assert set(found) == {"schedule", "interval.bound", "interval.max.ms"}
    infos = validate(SOURCE | {"run.max.ms": "5"}, worker())
    assert [info.key.group for info in infos.settings if info.key and info.key.name == "run.max.ms"] == ["Intervals"]


@pytest.mark.parametrize("schedule", [{}, {"schedule": "@continuous"}])
def test_interval_that_ends_by_a_time_needs_a_schedule_that_has_one(schedule: dict[str, str]) -> None:
    timed = {"interval.bound": "data_interval_end"}
    assert "no data interval" in messages(SINK | timed | schedule)["interval.bound"][0]
    for other in ("@hourly", "PT1H", "asset:file:///a", "@none"):
        assert "interval.bound" not in messages(SINK | timed | {"schedule": other})


@pytest.mark.parametrize("schedule", ["0 25 * * *", "0 0 30 2 *", "PT0S", "P99999999999D"])
def test_schedule_that_never_comes_is_refused(schedule: str) -> None:
    """Airflow would have a DAG without runs, and nobody would be told."""
    assert "No run would ever start" in messages(SOURCE | {"schedule": schedule})["schedule"][0]


@pytest.mark.parametrize("schedule", ["0 0 29 2 *", "*/5 * * * *", "0 4 * * MON-FRI", "PT15M", "@daily", "@none"])
def test_schedule_that_comes_is_taken(schedule: str) -> None:
    assert "schedule" not in messages(SOURCE | {"schedule": schedule})


def test_errors_of_several_parts_come_together() -> None:
    config = SINK | {
        "tasks.max": "0",
        "topics.regex": "t.*",
        "transforms": "a",
        "predicates": "p",
        "value.converter": "no.such.Converter",
        "consumer.override.plugin.library.paths": "/x",
        "schedule": "often",
    }
    assert set(messages(config)) == {
        "consumer.override.plugin.library.paths",
        "predicates.p.type",
        "schedule",
        "tasks.max",
        "topics",
        "topics.regex",
        "transforms.a.type",
        "value.converter",
    }


def test_dead_letter_topic_must_not_be_read() -> None:
    dead = "errors.deadletterqueue.topic.name"
    assert messages(SINK | {dead: "u"}) == {
        "topics": [
            "The DLQ topic 'u' may not be included in the list of topics ('topics=[t, u]') consumed by the connector"
        ]
    }
    regex = {key: value for key, value in SINK.items() if key != "topics"} | {"topics.regex": "d.*", dead: "dead"}
    assert messages(regex) == {
        "topics.regex": [
            "The DLQ topic 'dead' may not be matched by the regex for the topics ('topics.regex=d.*') "
            "consumed by the connector"
        ]
    }


def test_group_of_the_worker_is_refused() -> None:
    assert messages(SINK | {"name": "cluster"}) == {
        "name": ["Consumer group for sink connector named cluster conflicts with Connect worker group connect-cluster"]
    }


def test_overrides_of_all_clients_are_checked() -> None:
    override = {f"{client}.override.group.id": "x" for client in ("producer", "consumer", "admin")}
    for config in (SOURCE, SINK):
        assert set(messages(config | override)) == set(override)


def test_overrides_of_clients_without_use_are_not_shown() -> None:
    fine = {f"{client}.override.retry.backoff.ms": "9" for client in ("producer", "consumer", "admin")}
    shown = {info.value.name for info in validate(SINK | fine, worker()).settings if info.value} & set(fine)
    assert shown == {"consumer.override.retry.backoff.ms"}


def test_topic_creation_is_checked_when_the_connector_starts() -> None:
    """Connect's validation knows the list of groups only."""
    assert set(messages(SOURCE | {"topic.creation.groups": "a,a"})) == {"topic.creation.groups"}
    partitions = {"topic.creation.default.partitions": "0", "topic.creation.default.replication.factor": "1"}
    assert messages(SOURCE | partitions) == {}
    assert messages(SOURCE | {"topic.creation.groups": "a"}) == {}


INTERNAL = [
    "connect-offsets",
    "connect-status",
    "connect-configs",
    "__consumer_offsets",
    "__anything",
    "orders-offsets",
]


@pytest.mark.parametrize("topic", INTERNAL)
def test_internal_topics_are_closed_to_records(topic: str) -> None:
    """Who reads them sees, and who writes them forges, the offsets and epochs of every connector."""
    asked = worker({"config.storage.topic": "connect-configs"})

    def errors(config: dict[str, Any]) -> dict[str, list[str]]:
        return validate(config, asked, in_use={"orders-offsets"}).errors()

    refused = [f"Topic {topic} is internal: Kafka or the worker keeps its own offsets, status or other records in it."]
    for config, key in (
        (SINK | {"topics": f"t, {topic}"}, "topics"),
        (SINK | {"errors.deadletterqueue.topic.name": topic}, "errors.deadletterqueue.topic.name"),
        (SOURCE | {"errors.deadletterqueue.topic.name": topic}, "errors.deadletterqueue.topic.name"),
    ):
        found = errors(config)
        assert set(found) == {key}
        assert [message.removesuffix(" Use another topic.") for message in found[key]] == refused
        assert errors({**config, key: "free"}) == {}


def test_own_offsets_topic_is_no_dead_letter_topic() -> None:
    config = SOURCE | {"offsets.storage.topic": "mine", "errors.deadletterqueue.topic.name": "mine"}
    assert set(messages(config)) == {"errors.deadletterqueue.topic.name"}
    assert messages(SOURCE | {"offsets.storage.topic": "connect-offsets"}) == {}
    for topic in ("connect-status", "__transaction_state"):
        assert set(messages(SOURCE | {"offsets.storage.topic": topic})) == {"offsets.storage.topic"}


def test_converter_is_asked_about_its_settings() -> None:
    config = SOURCE | {"value.converter": "JsonConverter", "value.converter.schemas.enable": "maybe"}
    assert set(messages(config)) == {"value.converter.schemas.enable"}


def test_exactly_once_is_asked_of_the_connector() -> None:
    assert messages(SOURCE | {"exactly.once.support": "required"}) == {}
    assert "transaction.boundary" in messages(SOURCE | {"transaction.boundary": "connector"})


@pytest.mark.parametrize("support", ["disabled", "preparing"])
def test_worker_without_exactly_once_refuses_to_require_it(support: str) -> None:
    """Connect: ``DistributedHerder.validateSourceConnectorExactlyOnceSupport``; the connector is asked all the same."""
    without = {"exactly.once.source.support": support}
    refusal = "This worker does not have exactly-once source support enabled."
    required = SOURCE | {"exactly.once.support": "required"}
    assert messages(required, without) == {"exactly.once.support": [refusal]}
    assert messages(required, {"exactly.once.source.support": "enabled"}) == {}
    assert messages(SOURCE, without) == {}
    standard_input = {key: value for key, value in required.items() if key != "file"}
    own = "The connector does not support exactly-once semantics with the provided configuration."
    assert messages(standard_input, without)["exactly.once.support"] == [refusal, own]


def test_reference_to_a_provider_that_is_off_is_an_error() -> None:
    (error,) = messages(SOURCE | {"file": "${file:/k:path}"})["file"]
    assert "provider file, which is not enabled" in error


def test_unresolved_reference_is_an_error_at_its_key() -> None:
    given = {"config.providers": "env", "config.providers.env.param.allowlist.pattern": "APP_.*"}
    found = validate(SOURCE | {"file": "${env:APP_GONE}"}, worker(given), make_providers(given, {}))
    assert "APP_GONE is not set" in found.errors()["file"][0]


def test_sealed_value_is_opened_for_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(Fernet.generate_key())
    providers = make_providers({"secret.key.file": str(file)}, {})
    box = providers.secret_box()
    assert box is not None
    config = SOURCE | {"name": "other", "file": box.seal("/data/x", "lines")}
    assert validate(config, worker(), providers, "lines").error_count == 0
    assert "belongs to another" in validate(config, worker(), providers).errors()["file"][0]


def test_secrets_are_hidden_in_values_and_errors() -> None:
    config = SOURCE | {"producer.override.sasl.password": "s3cret", "transforms": "a", "transforms.a.secret": "s3cret"}
    assert "s3cret" not in json.dumps(validate(config, worker()).to_json())


def test_resolved_values_are_not_echoed(tmp_path: Path) -> None:
    given = {"config.providers": "env", "config.providers.env.param.allowlist.pattern": "APP_.*"}
    providers = make_providers(given, {"APP_TASKS": "canary", "APP_TOPIC": "t"})
    config = SOURCE | {"tasks.max": "${env:APP_TASKS}", "topic": "${env:APP_TOPIC}"}
    found = validate(config, worker(given), providers)
    assert found.errors()["tasks.max"][0] == (
        "Invalid value ${env:APP_TASKS} for configuration tasks.max: Not a number of type INT"
    )
    values = [info["value"] for info in found.to_json()["configs"]]
    shown = {value["name"]: value["value"] for value in values if value}
    assert (shown["tasks.max"], shown["topic"]) == ("${env:APP_TASKS}", "${env:APP_TOPIC}")
    assert "canary" not in json.dumps(found.to_json())


def test_null_of_a_common_setting_is_an_error() -> None:
    assert messages(SOURCE | {"tasks.max": None})["tasks.max"][-1] == (
        "Null value can not be supplied as the configuration value."
    )


def test_sink_may_be_required_to_be_exactly_once() -> None:
    wanted = {"exactly.once.support": "required"}
    assert "exactly.once.support" not in messages(SINK | wanted)
    to_standard_output = {key: value for key, value in SINK.items() if key != "file"}
    (told,) = messages(to_standard_output | wanted)["exactly.once.support"]
    assert "declares that it is at-least-once" in told
    assert "requested" in told


@pytest.fixture
def held_secret(tmp_path: Path) -> tuple[str, Callable[..., ValidatedConfig]]:
    """A reference to a mounted secret, and validation that can resolve it."""
    (tmp_path / "pw").write_text("s3cr3t-value\n")
    given = {"config.providers": "dir", "config.providers.dir.param.allowed.paths": str(tmp_path)}
    providers = make_providers(given, {})
    return f"${{dir:{tmp_path}:pw}}", lambda config: validate(config, worker(given), providers)


def test_connector_class_that_is_a_reference_is_not_told(
    held_secret: tuple[str, Callable[..., ValidatedConfig]],
) -> None:
    reference, found = held_secret
    with pytest.raises(ConfigError, match="refers to no connector class") as refused:
        found({**SOURCE, "connector.class": reference})
    assert "s3cr3t" not in str(refused.value)


def test_override_of_a_client_that_is_a_reference_is_not_told(
    held_secret: tuple[str, Callable[..., ValidatedConfig]],
) -> None:
    reference, found = held_secret
    with pytest.raises(ConnectError, match=r"linger\.ms") as refused:
        found({**SOURCE, "producer.override.linger.ms": reference})
    assert "s3cr3t" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("key", ["errors.tolerance", "config.action.reload", "schedule"])
def test_secret_that_ends_with_a_line_break_is_not_told(
    held_secret: tuple[str, Callable[..., ValidatedConfig]], key: str
) -> None:
    reference, found = held_secret
    messages = found({**SOURCE, key: reference}).errors().get(key, [])
    assert "s3cr3t" not in str(messages)


def test_forgotten_class_shows_no_password_of_any_connector() -> None:
    with pytest.raises(ConfigError, match="contains no connector type") as refused:
        validate({"name": "x", "topics": "t", "s3.sse.customer.key": "MTIzcanary"}, worker())
    assert "canary" not in str(refused.value)
    assert "topics=t" in str(refused.value)


def test_settings_without_number_are_refused() -> None:
    many = {f"x{number}.password": "${env:X}" for number in range(3000)}
    with pytest.raises(ConfigError, match="at most 2000 settings, and this one has 300"):
        validate({**SOURCE, **many}, worker())

"""What a connector's configuration means."""

from __future__ import annotations

import pytest

from connect_core.api.data import STRING_SCHEMA
from connect_core.configs import ConnectorConfig, ErrorSettings
from connect_core.errors import ConfigError, ConnectError
from connect_core.interval.values import ConnectorType, IntervalCaps, IntervalSettings
from tests.configs.workers import JSON, SINK, SOURCE, worker

TRANSFORMS = "org.apache.kafka.connect.transforms."
CHAIN = {
    "transforms": "MakeMap, InsertSource",
    "transforms.MakeMap.type": f"{TRANSFORMS}HoistField$Value",
    "transforms.MakeMap.field": "line",
    "transforms.InsertSource.type": "InsertField$Value",
    "transforms.InsertSource.static.field": "data_source",
    "transforms.InsertSource.static.value": "test-file-source",
}


def source(more: dict[str, str] | None = None, worker_more: dict[str, str] | None = None) -> ConnectorConfig:
    return ConnectorConfig.parse(SOURCE | (more or {}), worker(worker_more))


def sink(more: dict[str, str] | None = None) -> ConnectorConfig:
    return ConnectorConfig.parse(SINK | (more or {}), worker())


def test_source_is_known_by_its_class() -> None:
    config = source()
    assert (config.name, config.type, config.tasks_max) == ("lines", ConnectorType.SOURCE, 1)
    assert config.connector_class == "org.apache.kafka.connect.file.FileStreamSourceConnector"
    assert type(config.connector()).__name__ == "FileStreamSourceConnector"


def test_interval_settings_have_defaults() -> None:
    assert sink().interval_settings() == IntervalSettings(
        tasks_max=2, topics=("t", "u"), caps=IntervalCaps(), consumer_group="connect-export"
    )
    assert source().interval_settings() == IntervalSettings()


def test_interval_settings_are_read() -> None:
    given = {
        "interval.max.records": "10",
        "interval.max.bytes": "20",
        "interval.max.ms": "30",
        "interval.idle.ms": "40",
        "interval.bound": "data_interval_end",
        "interval.data.loss": "skip",
        "consumer.override.auto.offset.reset": "latest",
        "consumer.override.group.id": "mine",
        "tasks.max.enforce": "false",
    }
    regex = {"topics.regex": "orders-.*", "topics": ""}
    liberal = worker({"connector.client.config.override.policy": "All"})
    found = ConnectorConfig.parse(SINK | given | regex, liberal).interval_settings()
    assert found == IntervalSettings(
        tasks_max=2,
        tasks_max_enforce=False,
        topics_regex="orders-.*",
        caps=IntervalCaps(10, 20, 30, 40),
        bound="data_interval_end",
        data_loss="skip",
        offset_reset="latest",
        consumer_group="mine",
    )


def test_offset_reset_none_has_no_meaning_here() -> None:
    with pytest.raises(ConfigError, match="Use earliest or latest"):
        sink({"consumer.override.auto.offset.reset": "none"}).interval_settings()


@pytest.mark.parametrize(
    ("key", "value", "remedy"),
    [
        ("tasks.max", "0", "Value must be at least 1"),
        ("interval.max.records", "0", "Value must be at least 1"),
        ("interval.bound", "now", "String must be one of: latest, data_interval_end"),
        ("interval.data.loss", "ignore", "String must be one of: fail, skip"),
        ("run.max.ms", "-1", "Value must be at least 1"),
        ("schedule", "sometimes", "a cron expression"),
        ("schedule", "{{ 7*7 }} * * * *", "a cron expression"),
    ],
)
def test_bad_setting_is_refused(key: str, value: str, remedy: str) -> None:
    with pytest.raises(ConfigError) as caught:
        source({key: value})
    assert f"Invalid value {value} for configuration {key}" in str(caught.value)
    assert remedy in str(caught.value)


@pytest.mark.parametrize(
    "schedule", ["@continuous", "@daily", "*/5 * * * *", "0 4 * * MON-FRI", "PT15M", "P1DT2H", "asset:orders"]
)
def test_schedule_takes_its_forms(schedule: str) -> None:
    assert source({"schedule": schedule}).schedule == schedule


def test_missing_class_is_told() -> None:
    with pytest.raises(ConfigError, match=r'Missing required configuration "connector\.class"'):
        ConnectorConfig.parse({"name": "x"}, worker())


def test_converters_are_the_workers_by_default() -> None:
    config = source({"value.converter.schemas.enable": "true"})
    assert config.converter_properties("value.converter") == (JSON, {"schemas.enable": "false"})
    assert config.value_converter().from_connect_data("t", None, {"a": 1}) == b'{"a":1}'
    assert config.key_converter().from_connect_data("t", None, "k") == b"k"
    assert config.header_converter().from_connect_header("t", "h", None, "v") == b"v"


def test_own_converter_has_own_settings() -> None:
    config = source({"key.converter": "JsonConverter", "key.converter.schemas.enable": "true"})
    assert config.converter_properties("key.converter") == ("JsonConverter", {"schemas.enable": "true"})
    written = config.key_converter().from_connect_data("t", STRING_SCHEMA, "k")
    assert written == b'{"schema":{"type":"string","optional":false},"payload":"k"}'


@pytest.mark.parametrize(
    "name", ["io.confluent.connect.avro.AvroConverter", "JsonSchemaConverter", "ProtobufConverter"]
)
@pytest.mark.parametrize("key", ["schema.registry.url", "proxy.host"])
def test_converter_calls_no_host_that_the_worker_does_not_allow(name: str, key: str) -> None:
    more = {"schema.registry.url": "http://10.0.0.1:1", "proxy.host": "10.0.0.2", "proxy.port": "1"}
    more[key] = "http://127.0.0.1:1" if key == "schema.registry.url" else "127.0.0.1"
    own = {f"value.converter.{setting}": value for setting, value in more.items()}
    config = source({"value.converter": name, **own}, {"limits.hosts.allowed": "10.0.0.0/8"})
    with pytest.raises(ConnectError, match=r"127\.0\.0\.1.* may only call 10\.0\.0\.0/8.*limits\.hosts\.allowed"):
        config.value_converter().to_connect_data("t", b"\0\0\0\0\1x")


def test_stages_are_in_order() -> None:
    stages = source(CHAIN).transformation_stages()
    assert [type(stage.transformation).__name__ for stage in stages] == ["HoistFieldValue", "InsertFieldValue"]
    assert [(stage.predicate, stage.negate) for stage in stages] == [(None, False)] * 2


def test_stage_has_its_predicate() -> None:
    guarded = {
        "transforms.MakeMap.predicate": "tomb",
        "transforms.MakeMap.negate": "TRUE",
        "predicates": "tomb",
        "predicates.tomb.type": "RecordIsTombstone",
    }
    first, second = source(CHAIN | guarded).transformation_stages()
    assert type(first.predicate).__name__ == "RecordIsTombstone"
    assert first.negate
    assert second.predicate is None


def test_stages_are_new_each_time() -> None:
    config = source(CHAIN)
    assert config.transformation_stages()[0].transformation is not config.transformation_stages()[0].transformation


def test_refusing_transform_speaks_java() -> None:
    bad = {"transforms": "a", "transforms.a.type": "InsertField$Value", "transforms.a.static.field": "x!?"}
    with pytest.raises(ConnectError, match=r"^org\.apache\.kafka\.common\.config\.ConfigException: "):
        source(bad).transformation_stages()


def test_errors_are_read() -> None:
    assert source().errors() == ErrorSettings(0, 60000, False, False, False)
    given = {
        "errors.retry.timeout": "-1",
        "errors.retry.delay.max.ms": "10",
        "errors.tolerance": "all",
        "errors.log.enable": "true",
        "errors.log.include.messages": "true",
        "errors.deadletterqueue.topic.name": "dead",
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    assert sink(given).errors() == ErrorSettings(-1, 10, True, True, True, "dead", 1, True)


def test_limits_of_skipping_and_dead_letters_hold_for_sources_too() -> None:
    more = {"errors.max.count": "10", "errors.max.share": "0.05", "errors.deadletterqueue.topic.name": "dead"}
    errors = source(more).errors()
    assert (errors.max_count, errors.max_share, errors.dead_letter_topic) == (10, 0.05, "dead")
    assert (source().errors().max_count, source().errors().dead_letter_topic) == (None, "")
    assert source().values["hook.timeout.ms"] == 300_000


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("errors.max.count", "-1"),
        ("errors.max.share", "1.5"),
        ("hook.timeout.ms", "0"),
        ("schedule.retries", "-1"),
        ("schedule.retries", "often"),
    ],
)
def test_own_setting_out_of_range_is_named(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"{value}.*{key}"):
        sink({key: value})


def test_reporter_follows_the_error_settings() -> None:
    assert not sink().errors().has_reporter
    assert sink({"errors.log.enable": "true"}).errors().has_reporter
    assert sink({"errors.deadletterqueue.topic.name": "dead"}).errors().has_reporter


def test_client_overrides_are_by_client() -> None:
    config = sink({"consumer.override.fetch.min.bytes": "1", "producer.override.linger.ms": "5"})
    assert config.client_overrides("consumer") == {"fetch.min.bytes": "1"}
    assert config.client_overrides("producer") == {"linger.ms": "5"}


def test_overrides_are_checked_again_when_read() -> None:
    refused = {"producer.override.plugin.library.paths": "/x", "consumer.override.group.id": "no consumer here"}
    with pytest.raises(
        ConfigError, match=r"Client Config Overrides not allowed: 'plugin\.library\.paths' .*loads code"
    ):
        source(refused)


def test_topic_creation_follows_connector_then_worker() -> None:
    assert source().topic_creation() == ()
    own = {"topic.creation.default.partitions": "4", "topic.creation.default.replication.factor": "-1"}
    (group,) = source(own).topic_creation()
    assert (group.name, group.partitions, group.replication_factor) == ("default", 4, -1)
    assert source(worker_more=own).topic_creation() == (group,)
    assert source(own, {"topic.creation.enable": "false"}).topic_creation() == ()


def test_bad_topic_creation_fails_the_start() -> None:
    """Connect's validation passes it: the connector is created, and FAILED when a worker starts it."""
    own = {"topic.creation.default.partitions": "0", "topic.creation.default.replication.factor": "1"}
    with pytest.raises(ConfigError, match="Number of partitions must be positive"):
        source(own)
    assert source(own, {"topic.creation.enable": "false"}).topic_creation() == ()


def test_transactions_are_read() -> None:
    assert (source().transaction_boundary, source().transaction_interval_milliseconds) == ("poll", 60000)
    config = source({"transaction.boundary": "INTERVAL", "transaction.boundary.interval.ms": "5"})
    assert (config.transaction_boundary, config.transaction_interval_milliseconds) == ("interval", 5)
    assert source({}, {"offset.flush.interval.ms": "7"}).transaction_interval_milliseconds == 7


def test_offsets_topic_may_be_its_own() -> None:
    assert source().offsets_topic is None
    assert source({"offsets.storage.topic": "mine"}).offsets_topic == "mine"


def test_plugins_get_resolved_values() -> None:
    def resolve(raw: object) -> dict[str, str]:
        assert isinstance(raw, dict)
        return {key: value.replace("${env:FILE}", "/data/x") for key, value in raw.items()}

    config = ConnectorConfig.parse(SOURCE | {"file": "${env:FILE}"}, worker(), resolve)
    assert (config.raw["file"], config.resolved["file"]) == ("${env:FILE}", "/data/x")

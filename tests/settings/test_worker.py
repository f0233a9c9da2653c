"""Worker settings from Connect's own properties."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from connect_core.errors import ConfigError
from connect_core.settings import Listener, WorkerMode, WorkerSettings

JSON = "org.apache.kafka.connect.json.JsonConverter"
CONVERTERS = {"key.converter": JSON, "value.converter": JSON}
STANDALONE = {
    **CONVERTERS,
    "bootstrap.servers": "localhost:9092",
    "key.converter.schemas.enable": "true",
    "offset.storage.file.filename": "/data/connect.offsets",
    "offset.flush.interval.ms": "10000",
}
DISTRIBUTED = {
    **CONVERTERS,
    "bootstrap.servers": "one:9092, two:9092",
    "group.id": "connect-cluster",
    "offset.storage.topic": "connect-offsets",
    "offset.storage.replication.factor": "1",
    "config.storage.topic": "connect-configs",
    "config.storage.replication.factor": "1",
    "status.storage.topic": "connect-status",
    "status.storage.replication.factor": "1",
}


def standalone(**more: str) -> WorkerSettings:
    return WorkerSettings.from_properties(STANDALONE | {key.replace("_", "."): more[key] for key in more}, {})


def distributed(more: dict[str, str] | None = None, environment: dict[str, str] | None = None) -> WorkerSettings:
    return WorkerSettings.from_properties(DISTRIBUTED | (more or {}), environment or {})


def test_standalone_has_its_defaults() -> None:
    worker = standalone()
    assert worker.mode is WorkerMode.STANDALONE
    assert worker.values["spark.mode"] == "local"
    assert worker.database_url == "sqlite:////data/connect.offsets.db"
    assert worker.file_roots == (Path.cwd(), Path("/tmp"))
    assert worker.limits().standalone


def test_distributed_has_its_defaults() -> None:
    worker = distributed()
    assert worker.mode is WorkerMode.DISTRIBUTED
    assert worker.bootstrap_servers == "one:9092,two:9092"
    assert worker.deployment == "connect-cluster"
    assert worker.values["spark.mode"] == "connect"
    assert worker.file_roots == ()
    assert worker.listeners == (Listener("http", "127.0.0.1", 8083),)


def test_mode_is_that_of_the_command() -> None:
    both = DISTRIBUTED | STANDALONE
    assert WorkerSettings.from_properties(both, {}).mode is WorkerMode.DISTRIBUTED
    assert WorkerSettings.from_properties(both, {}, WorkerMode.STANDALONE).mode is WorkerMode.STANDALONE
    with pytest.raises(ConfigError, match=r"Invalid value cluster for configuration worker\.mode"):
        WorkerSettings.from_properties(both | {"worker.mode": "cluster"}, {})


@pytest.mark.parametrize("text", ["@yearly", "30 3 * * *", "0 0 1 JAN ?"])
def test_sinks_are_recounted_at_times_that_airflow_knows(text: str) -> None:
    assert (
        WorkerSettings.from_properties(DISTRIBUTED | {"verification.schedule": text}, {}).values[
            "verification.schedule"
        ]
        == text
    )


@pytest.mark.parametrize("text", ["often", "@continuous", "* * *", "30 3 * * *; rm", ""])
def test_other_times_to_recount_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"for configuration verification\.schedule: Use @hourly, .* cron expression"):
        WorkerSettings.from_properties(DISTRIBUTED | {"verification.schedule": text}, {})


def test_standalone_id_names_the_deployment() -> None:
    with pytest.raises(ConfigError, match="standalone id is unknown"):
        _ = standalone().deployment
    worker = standalone().with_standalone_id("5f0c")
    assert worker.deployment == "5f0c"
    assert worker.offsets_topic.name == "connect-offsets-5f0c"
    assert WorkerSettings.from_properties(worker.raw, {}) == worker


def test_offsets_topic_takes_its_settings() -> None:
    topic = distributed(
        {"offset.storage.min.insync.replicas": "2", "offset.storage.cleanup.policy": "delete"}
    ).offsets_topic
    assert (topic.name, topic.partitions, topic.replication_factor) == ("connect-offsets", 25, 1)
    assert topic.settings == {"min.insync.replicas": "2", "cleanup.policy": "compact"}
    assert standalone(offset_storage_topic="mine").offsets_topic.name == "mine"


def test_errors_are_told_together() -> None:
    with pytest.raises(ConfigError) as caught:
        WorkerSettings.from_properties({"group.id": "g", "topic.creation.enable": "maybe", "listeners": "x"}, {})
    for key in ("key.converter", "offset.storage.topic", "topic.creation.enable", "listeners"):
        assert key in str(caught.value)


def test_environment_goes_before_the_file() -> None:
    variables = {
        "CONNECT_BOOTSTRAP_SERVERS": "three:9092",
        "CONNECT_DATABASE_URL": "postgresql+psycopg://u:p@h/d",
        "CONNECT_SPARK_REMOTE": "sc://h:15002",
        "CONNECT_AIRFLOW_URL": "http://h:8080",
        "CONNECT_AIRFLOW_USER": "connect",
        "CONNECT_AIRFLOW_PASSWORD_FILE": "/run/password",
        "CONNECT_SECRET_KEY_FILE": "/run/key",
        "CONNECT_KEY_CONVERTER_SCHEMAS_ENABLE": "false",
        "CONNECT_HOME": "/srv",
        "PATH": "/bin",
    }
    worker = distributed(environment=variables)
    assert worker.bootstrap_servers == "three:9092"
    assert worker.database_url == "postgresql+psycopg://u:p@h/d"
    assert worker.spark_remote == "sc://h:15002"
    assert (worker.values["airflow.url"], worker.values["airflow.user"]) == ("http://h:8080", "connect")
    assert worker.airflow_password_file == Path("/run/password")
    assert worker.secret_key_file == Path("/run/key")
    assert worker.converter_properties("key.converter") == {"schemas.enable": "false"}
    assert "home" not in worker.raw


def test_database_is_asked_for_where_it_is_used() -> None:
    with pytest.raises(ConfigError, match=r"database\.url.*CONNECT_DATABASE_URL"):
        _ = distributed().database_url


def test_not_needed_keys_give_their_reason() -> None:
    worker = distributed({"session.timeout.ms": "1", "metric.reporters": ""})
    assert set(worker.not_needed()) == {
        "config.storage.topic",
        "config.storage.replication.factor",
        "metric.reporters",
        "session.timeout.ms",
    }
    assert all(worker.not_needed().values())
    assert worker.unknown() == ()


def test_keys_of_the_other_mode_are_named() -> None:
    worker = WorkerSettings.from_properties(STANDALONE | DISTRIBUTED, {}, WorkerMode.STANDALONE)
    assert worker.not_needed()["group.id"] == "only connect distributed uses it"


def test_unknown_keys_are_named() -> None:
    assert distributed({"bootstrap.server": "x", "limits.rows": "9"}).unknown() == ("bootstrap.server",)


def test_file_roots_are_absolute_and_travel() -> None:
    worker = standalone(file_roots="data, /srv/logs")
    assert worker.limits().file_roots == (Path.cwd() / "data", Path("/srv/logs"))
    assert worker.raw["file.roots"] == f"{Path.cwd() / 'data'},/srv/logs"


def test_limits_reach_plugins_by_name() -> None:
    limits = distributed({"limits.jdbc.urls": "postgresql:", "limits.jdbc.query.allowed": "true"}).limits()
    assert dict(limits.values) == {"jdbc.urls": "postgresql:", "jdbc.query.allowed": "false"}
    assert distributed({"jdbc.query.allowed": "true"}).limits().values["jdbc.query.allowed"] == "true"
    assert standalone().limits().values["jdbc.query.allowed"] == "true"


def test_properties_make_the_round_trip() -> None:
    worker = distributed({"file.roots": "data", "producer.linger.ms": "5"}, {"CONNECT_SPARK_MODE": "submit"})
    assert WorkerSettings.from_properties(worker.raw, {}) == worker
    assert pickle.loads(pickle.dumps(worker)) == worker


def test_task_properties_hold_no_address_of_the_stack() -> None:
    worker = distributed(
        {
            "airflow.url": "http://h",
            "database.url": "postgresql://h/d",
            "listeners": "http://127.0.0.1:1",
            "rest.advertised.port": "1",
            "spark.remote": "sc://h;token=t",
        }
    )
    carried = worker.task_properties()
    assert not [key for key in carried if key.startswith(("airflow", "database", "listeners", "rest", "spark"))]
    rebuilt = WorkerSettings.from_properties(carried, {})
    assert rebuilt.with_prefix("producer.") == worker.with_prefix("producer.")


def test_references_are_resolved_before_parsing() -> None:
    def resolve(raw: Any) -> dict[str, str]:
        return {key: value.replace("${env:MS}", "7") for key, value in raw.items()}

    worker = WorkerSettings.from_properties(DISTRIBUTED | {"offset.flush.interval.ms": "${env:MS}"}, {}, None, resolve)
    assert worker.values["offset.flush.interval.ms"] == 7
    assert worker.raw["offset.flush.interval.ms"] == "${env:MS}"


def test_spark_properties_leave_out_our_own() -> None:
    given = {"spark.mode": "submit", "spark.master": "yarn", "spark.executor.memory": "2g"}
    assert distributed(given).spark_properties == {"spark.master": "yarn", "spark.executor.memory": "2g"}


def test_advertised_address_overrides_the_listener() -> None:
    given = {"rest.advertised.host.name": "connect-1", "rest.advertised.port": "80"}
    assert distributed().advertised == Listener("http", "127.0.0.1", 8083)
    assert distributed(given).advertised == Listener("http", "connect-1", 80)


def test_listeners_cannot_be_empty() -> None:
    """Connect: ``RestServerConfig.ListenersValidator``. An unset variable of a container is the usual cause."""
    with pytest.raises(ConfigError, match="listeners: give at least one URL"):
        distributed({"listeners": ""})


def test_admin_listeners_may_be_off() -> None:
    assert distributed().admin_listeners is None
    assert distributed({"admin.listeners": ""}).admin_listeners == ()
    assert distributed({"admin.listeners": "https://h:1"}).admin_listeners == (Listener("https", "h", 1),)

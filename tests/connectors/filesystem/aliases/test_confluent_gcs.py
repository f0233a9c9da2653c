"""Confluent's sink for Google Cloud Storage: its quickstart starts unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from connect_core.connectors.filesystem import choices
from connect_core.connectors.filesystem.aliases.confluent_gcs import GcsSinkConnector
from tests.connectors.filesystem.aliases.exports import FolderStorage, errors_of, exported, structs

QUICKSTART = {
    "name": "gcs-sink",
    "connector.class": "io.confluent.connect.gcs.GcsSinkConnector",
    "tasks.max": "1",
    "topics": "gcs_topic",
    "gcs.bucket.name": "confluent-bucket",
    "gcs.part.size": "5242880",
    "flush.size": "3",
    "gcs.credentials.path": "/path/to/credentials/keys.json",
    "storage.class": "io.confluent.connect.gcs.storage.GcsStorage",
    "format.class": "io.confluent.connect.gcs.format.avro.AvroFormat",
    "partitioner.class": "io.confluent.connect.storage.partitioner.DefaultPartitioner",
    "schema.compatibility": "NONE",
    "confluent.topic.bootstrap.servers": "localhost:9092",
    "confluent.topic.replication.factor": "1",
    "confluent.license": "",
}


@pytest.fixture(autouse=True)
def bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(choices.STORAGES.built_in, "gs", FolderStorage)


def test_quickstart_starts_unchanged_and_writes_the_documented_objects(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = {**QUICKSTART, "gcs.future.key": "x"}
    names = exported(GcsSinkConnector(), config, tmp_path, structs(9, "gcs_topic"))
    prefix = "confluent-bucket/topics/gcs_topic/partition=0/gcs_topic+0+"
    assert names == [f"{prefix}{first:010}.avro" for first in (0, 3, 6)]
    assert "confluent.topic.replication.factor is not needed here: no license" in caplog.text
    assert "gcs.future.key is not needed here: this key is not known here" in caplog.text


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("gcs.bucket.name", "../x", "not a bucket name"),
        ("gcs.proxy.url", "https://proxy:8080", "HTTPS_PROXY"),
        ("gcs.compression.type", "zip", "possible values are: none, gzip"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_key_value_and_remedy(key: str, value: str, message: str) -> None:
    found = errors_of(GcsSinkConnector(), {**QUICKSTART, key: value})
    assert list(found) == [key]
    assert message in found[key][0]
    assert value in found[key][0]


def test_secrets_are_not_shown_in_what_is_refused() -> None:
    (message,) = errors_of(GcsSinkConnector(), {**QUICKSTART, "gcs.proxy.password": "hunter2"})["gcs.proxy.password"]
    assert "hunter2" not in message
    assert "HTTPS_PROXY" in message

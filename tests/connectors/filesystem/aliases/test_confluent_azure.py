"""Confluent's sink for Azure Blob Storage: a published configuration starts unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from connect_core.connectors.filesystem import choices
from connect_core.connectors.filesystem.aliases.confluent_azure import AzureBlobStorageSinkConnector
from tests.connectors.filesystem.aliases.exports import FolderStorage, errors_of, exported, structs

QUICKSTART = {
    "name": "azure-blob-sink",
    "connector.class": "io.confluent.connect.azure.blob.AzureBlobStorageSinkConnector",
    "tasks.max": "1",
    "topics": "blob_topic",
    "flush.size": "3",
    "azblob.account.name": "myaccount",
    "azblob.account.key": "a2V5",
    "azblob.container.name": "my-container",
    "format.class": "io.confluent.connect.azure.blob.format.avro.AvroFormat",
    "confluent.license": "",
    "confluent.topic.bootstrap.servers": "broker:9092",
    "confluent.topic.replication.factor": "1",
}


@pytest.fixture(autouse=True)
def container(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(choices.STORAGES.built_in, "abfss", FolderStorage)


def test_quickstart_starts_unchanged_and_writes_the_documented_blobs(tmp_path: Path) -> None:
    names = exported(AzureBlobStorageSinkConnector(), QUICKSTART, tmp_path, structs(7, "blob_topic"))
    prefix = "my-container@myaccount.dfs.core.windows.net/topics/blob_topic/partition=0/blob_topic+0+"
    assert names == [f"{prefix}{first:010}.avro" for first in (0, 3, 6)]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("azblob.account.name", "My/Account", "not an account name"),
        ("azblob.container.name", "../x", "not a container name"),
        ("az.compression.type", "zip", "possible values are: none, gzip"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_key_value_and_remedy(key: str, value: str, message: str) -> None:
    found = errors_of(AzureBlobStorageSinkConnector(), {**QUICKSTART, key: value})
    assert list(found) == [key]
    assert message in found[key][0]
    assert value in found[key][0]

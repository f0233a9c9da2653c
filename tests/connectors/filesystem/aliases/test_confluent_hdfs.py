"""Confluent's sinks for HDFS: their configurations start unchanged, and files have the documented names."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from connect_core.connectors.filesystem import choices
from connect_core.connectors.filesystem.aliases.confluent_hdfs import HDFS_SINK, Hdfs3SinkConnector, HdfsSinkConnector
from connect_core.connectors.filesystem.sink.config import Settings
from connect_core.registry import PluginKind, registry
from tests.connectors.filesystem.aliases.exports import FolderStorage, errors_of, exported, structs
from tests.connectors.filesystem.export import numbered

QUICKSTART = {
    "name": "hdfs-sink",
    "connector.class": "io.confluent.connect.hdfs.HdfsSinkConnector",
    "tasks.max": "1",
    "topics": "test_hdfs",
    "hdfs.url": "hdfs://localhost:9000",
    "flush.size": "3",
}
"""The quickstart of the original, whole."""


@pytest.fixture(autouse=True)
def cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(choices.STORAGES.built_in, "hdfs", FolderStorage)


def test_quickstart_starts_unchanged_and_writes_the_documented_files(tmp_path: Path) -> None:
    names = exported(HdfsSinkConnector(), QUICKSTART, tmp_path, structs(7, "test_hdfs"))
    folder = "localhost:9000/topics/test_hdfs/partition=0"
    assert names == [
        f"{folder}/test_hdfs+0+0000000000+0000000002.avro",
        f"{folder}/test_hdfs+0+0000000003+0000000005.avro",
        f"{folder}/test_hdfs+0+0000000006+0000000006.avro",
    ]


def test_class_for_hdfs_3_writes_the_same(tmp_path: Path) -> None:
    config = {
        **QUICKSTART,
        "connector.class": "io.confluent.connect.hdfs3.Hdfs3SinkConnector",
        "format.class": "io.confluent.connect.hdfs3.parquet.ParquetFormat",
        "store.url": "hdfs://nameservice/lake",
        "confluent.topic.bootstrap.servers": "localhost:9092",
        "partitioner.class": "io.confluent.connect.storage.partitioner.DailyPartitioner",
        "timestamp.extractor": "Record",
        "locale": "en-US",
        "timezone": "UTC",
    }
    plugin = registry().find(PluginKind.CONNECTOR, config["connector.class"])
    assert plugin.load() is Hdfs3SinkConnector
    names = exported(Hdfs3SinkConnector(), config, tmp_path, structs(2, "test_hdfs"))
    folder = "nameservice/lake/topics/test_hdfs/year=1970/month=01/day=01"
    assert names == [f"{folder}/test_hdfs+0+0000000000+0000000001.parquet"]
    assert pq.ParquetFile(tmp_path / names[0]).metadata.row_group(0).column(0).compression == "SNAPPY"


def test_texts_are_lines(tmp_path: Path) -> None:
    config = {**QUICKSTART, "format.class": "io.confluent.connect.hdfs.string.StringFormat"}
    (name,) = exported(HdfsSinkConnector(), config, tmp_path, numbered(["a", "ü"]))
    assert name.endswith("/t+0+0000000000+0000000001.txt")
    assert (tmp_path / name).read_text() == "a\nü\n"


def test_gaps_are_not_told_as_offsets_of_records(tmp_path: Path) -> None:
    """Names are of what the file holds, not of what was read."""
    records = structs(6, "test_hdfs")
    nulls = {**QUICKSTART, "behavior.on.null.values": "ignore", "format.class": "JsonFormat", "flush.size": "9"}
    for number in (0, 5):
        records[number] = numbered([None] * 6, "test_hdfs")[number]
    (name,) = exported(HdfsSinkConnector(), nulls, tmp_path, records)
    assert name.endswith("/test_hdfs+0+0000000001+0000000004.json")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("store.url", "ftp://host", "hdfs://host:port"),
        ("topics.dir", "lake/${topic}", "placeholder"),
        ("topic.capture.groups.regex", "(.*)_x", "leave it out"),
        ("hdfs.authentication.kerberos", "true", "Kerberos login"),
        ("format.class", "io.confluent.connect.hdfs.bytearray.ByteArrayFormat", "use one of AvroFormat, JsonFormat"),
        ("filename.offset.zero.pad.width", "21", "no more than 20"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_key_value_and_remedy(key: str, value: str, message: str) -> None:
    found = errors_of(HdfsSinkConnector(), {**QUICKSTART, key: value})
    assert list(found) == [key]
    assert message in found[key][0]
    assert value in found[key][0]


HIVE = {
    **QUICKSTART,
    "hive.integration": "true",
    "hive.metastore.uris": "thrift://localhost:9083",
    "schema.compatibility": "BACKWARD",
}
"""What the original's page adds for Hive."""


def test_hives_keys_are_settings() -> None:
    config = {**HIVE, "hive.home": "/opt/hive", "hive.conf.dir": "/etc/hive", "hive.database": "lake"}
    assert errors_of(HdfsSinkConnector(), config) == {}
    hive = Settings.of(HDFS_SINK.translated(config)).hive
    assert hive is not None
    assert (hive.addresses, hive.database, hive.keys) == ((("localhost", 9083),), "lake", ("partition",))
    assert (hive.table_of("test_hdfs"), hive.stored_as.name) == ("test_hdfs", "avro")
    notices = HDFS_SINK.notices(config)
    assert [notice.partition(" ")[0] for notice in notices] == ["hive.conf.dir", "hive.home"]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("schema.compatibility", "NONE", "BACKWARD, FORWARD or FULL"),
        ("hive.metastore.uris", "", "give the metastore"),
        ("hive.table.name", "orders", "must contain ${topic}"),
        ("format.class", "io.confluent.connect.hdfs.string.StringFormat", "parquet, avro, orc"),
    ],
)
def test_hives_tables_need_what_the_original_needs(key: str, value: str, message: str) -> None:
    found = errors_of(HdfsSinkConnector(), {**HIVE, key: value})
    assert list(found) == [key]
    assert message in found[key][0]


def test_without_a_url_it_is_refused() -> None:
    config = {key: value for key, value in QUICKSTART.items() if key != "hdfs.url"}
    (message,) = errors_of(HdfsSinkConnector(), config)["store.url"]
    assert "hdfs://host:port" in message


@pytest.mark.parametrize("package", ["storage", "hdfs"])
def test_partitioners_of_both_packages_and_folders_from_the_root(tmp_path: Path, package: str) -> None:
    """As in configurations of the first versions of the original."""
    config = {
        **QUICKSTART,
        "partitioner.class": f"io.confluent.connect.{package}.partitioner.FieldPartitioner",
        "partition.field.name": "f1",
        "topics.dir": "/user/connect/topics",
        "logs.dir": "/user/connect/logs",
    }
    names = exported(HdfsSinkConnector(), config, tmp_path, structs(1, "test_hdfs"))
    folder = "localhost:9000/user/connect/topics/test_hdfs/f1=value1"
    assert names == [f"{folder}/test_hdfs+0+0000000000+0000000000.avro"]

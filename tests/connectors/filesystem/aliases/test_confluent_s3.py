"""Confluent's S3 sink: its configurations start unchanged, and objects have the documented names."""

from __future__ import annotations

import decimal
import json
from pathlib import Path
from typing import Any

import fastavro
import pyarrow.parquet as pq
import pytest

from connect_core.api import SchemaBuilder, SinkRecord, Struct
from connect_core.api.data import OPTIONAL_INT64_SCHEMA, STRING_SCHEMA, Date, Decimal, Instant, Time, Timestamp
from connect_core.connectors.filesystem import choices
from connect_core.connectors.filesystem.aliases.confluent_s3 import S3SinkConnector
from connect_core.registry import PluginKind, registry
from tests.connectors.filesystem.aliases.exports import VALUE, FolderStorage, errors_of, exported, structs
from tests.connectors.filesystem.export import numbered

QUICKSTART = {
    "name": "s3-sink",
    "connector.class": "io.confluent.connect.s3.S3SinkConnector",
    "tasks.max": "1",
    "topics": "s3_topic",
    "s3.region": "us-west-2",
    "s3.bucket.name": "confluent-kafka-connect-s3-testing",
    "s3.part.size": "5242880",
    "flush.size": "3",
    "storage.class": "io.confluent.connect.s3.storage.S3Storage",
    "format.class": "io.confluent.connect.s3.format.avro.AvroFormat",
    "partitioner.class": "io.confluent.connect.storage.partitioner.DefaultPartitioner",
    "schema.compatibility": "NONE",
}
"""The quickstart of the original, whole."""
BUCKET = QUICKSTART["s3.bucket.name"]


@pytest.fixture(autouse=True)
def bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(choices.STORAGES.built_in, "s3", FolderStorage)


def test_quickstart_starts_unchanged_and_writes_the_documented_objects(tmp_path: Path) -> None:
    names = exported(S3SinkConnector(), QUICKSTART, tmp_path, structs(9, "s3_topic"))
    prefix = f"{BUCKET}/topics/s3_topic/partition=0/s3_topic+0+"
    assert names == [f"{prefix}{first:010}.avro" for first in (0, 3, 6)]
    rows: list[Any] = []
    for name in names:
        with (tmp_path / name).open("rb") as file:
            rows += fastavro.reader(file)
    assert rows == [{"f1": f"value{number}"} for number in range(1, 10)]


def test_class_is_known_by_its_name() -> None:
    plugin = registry().find(PluginKind.CONNECTOR, "io.confluent.connect.s3.S3SinkConnector")
    assert plugin.load() is S3SinkConnector


FORMAT = "io.confluent.connect.s3.format"


@pytest.mark.parametrize(
    ("given", "ending"),
    [
        ({"format.class": f"{FORMAT}.json.JsonFormat"}, ".json"),
        ({"format.class": f"{FORMAT}.json.JsonFormat", "s3.compression.type": "gzip"}, ".json.gz"),
        ({"format.class": f"{FORMAT}.parquet.ParquetFormat"}, ".snappy.parquet"),
        ({"format.class": f"{FORMAT}.parquet.ParquetFormat", "parquet.codec": "gzip"}, ".gz.parquet"),
        ({"format.class": f"{FORMAT}.parquet.ParquetFormat", "parquet.codec": "none"}, ".parquet"),
        ({"format.class": f"{FORMAT}.avro.AvroFormat", "avro.codec": "deflate"}, ".avro"),
    ],
)
def test_names_end_as_documented(tmp_path: Path, given: dict[str, str], ending: str) -> None:
    names = exported(S3SinkConnector(), {**QUICKSTART, **given}, tmp_path, structs(1, "s3_topic"))
    assert names == [f"{BUCKET}/topics/s3_topic/partition=0/s3_topic+0+0000000000{ending}"]


def test_bytes_have_their_extension_and_compression(tmp_path: Path) -> None:
    raw = {"format.class": f"{FORMAT}.bytearray.ByteArrayFormat", "s3.compression.type": "gzip"}
    names = exported(S3SinkConnector(), {**QUICKSTART, **raw}, tmp_path, numbered([b"a", b"b"]))
    assert names == [f"{BUCKET}/topics/t/partition=0/t+0+0000000000.bin.gz"]


def test_objects_of_folders_are_named_by_their_own_first_offset(tmp_path: Path) -> None:
    fields = {
        "partitioner.class": "io.confluent.connect.storage.partitioner.FieldPartitioner",
        "partition.field.name": "f1",
        "topics.dir": "lake/raw",
        "file.delim": "-",
        "filename.offset.zero.pad.width": "4",
        "flush.size": "100",
    }
    names = exported(S3SinkConnector(), {**QUICKSTART, **fields}, tmp_path, structs(3, "s3_topic"))
    folder = f"{BUCKET}/lake/raw/s3_topic"
    assert names == [f"{folder}/f1=value{number + 1}/s3_topic-0-000{number}.avro" for number in range(3)]


def test_a_range_exported_again_has_the_same_names(tmp_path: Path) -> None:
    first = exported(S3SinkConnector(), QUICKSTART, tmp_path, structs(5, "s3_topic"))
    assert exported(S3SinkConnector(), QUICKSTART, tmp_path, structs(5, "s3_topic"), structs(5, "s3_topic")) == first
    assert len(first) == 2


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format.class", "com.example.MyFormat", "use one of AvroFormat, JsonFormat"),
        ("format.class", "../../x", "use one of AvroFormat"),
        ("s3.bucket.name", "../../x", "not a bucket name"),
        ("s3.bucket.name", "", "non-empty"),
        ("topics.dir", "../x", "no part of it may begin with a period"),
        ("file.delim", "/", "it is part of file names"),
        ("directory.delim", "-", "folders are separated by /"),
        ("flush.size", "0", "at least 1"),
        ("flush.size", "many", "flush.size"),
        ("store.kafka.keys", "true", "include.key"),
        ("behavior.on.null.values", "write", "set ignore or fail"),
        ("schema.compatibility", "SIDEWAYS", "must be one of: NONE, BACKWARD"),
        ("parquet.codec", "lzo", "possible values are: none, snappy"),
        ("s3.compression.type", "zip", "possible values are: none, gzip"),
        ("s3.wan.mode", "true", "store.url"),
        ("s3.credentials.provider.class", "com.example.Mine", "aws.access.key.id"),
        ("timezone", "Mars/Phobos", "time zone"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_key_value_and_remedy(key: str, value: str, message: str) -> None:
    by_time = {
        "partitioner.class": "io.confluent.connect.storage.partitioner.HourlyPartitioner",
        "timestamp.extractor": "Record",
    }
    found = errors_of(S3SinkConnector(), {**QUICKSTART, **by_time, key: value})
    assert list(found) == [key]
    assert message in found[key][0]
    assert not value or value in found[key][0]


def test_what_is_not_needed_is_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = {**QUICKSTART, "s3.elastic.buffer.enable": "true", "retry.backoff.ms": "1"}
    exported(S3SinkConnector(), config, tmp_path, structs(1, "s3_topic"))
    told = [record.getMessage() for record in caplog.records if "is not needed here" in record.getMessage()]
    assert [text.split(":")[1].split()[0] for text in told] == [
        "retry.backoff.ms",
        "s3.elastic.buffer.enable",
        "storage.class",
    ]
    keys = S3SinkConnector().config().config_keys()
    assert (keys["retry.backoff.ms"].doc or "").startswith("Not needed here: ")


def test_json_is_that_of_connect(tmp_path: Path) -> None:
    """Logical types as Connect's JsonConverter has them."""
    schema = (
        SchemaBuilder.struct()
        .field("at", Timestamp.SCHEMA)
        .field("day", Date.SCHEMA)
        .field("time", Time.SCHEMA)
        .field("price", Decimal.schema(2))
        .field("prices", SchemaBuilder.array(Decimal.schema(0)).build())
        .build()
    )
    value = Struct(schema).put("at", Instant(1_700_000_000_123)).put("day", Instant(86_400_000 * 3))
    value.put("time", Instant(3_723_004)).put("price", decimal.Decimal("-1.28"))
    value.put("prices", [decimal.Decimal(number) for number in (0, 127, 128, -129)])
    records = numbered([value], "s3_topic", value_schema=schema)
    config = {**QUICKSTART, "format.class": f"{FORMAT}.json.JsonFormat"}
    (name,) = exported(S3SinkConnector(), config, tmp_path, records)
    assert json.loads((tmp_path / name).read_text()) == {
        "at": 1_700_000_000_123,
        "day": 3,
        "time": 3_723_004,
        "price": "gA==",
        "prices": ["AA==", "fw==", "AIA=", "/38="],
    }
    (name,) = exported(S3SinkConnector(), {**config, "json.decimal.format": "numeric"}, tmp_path / "b", records)
    assert '"price":-1.28,"prices":[0,127,128,-129]' in (tmp_path / "b" / name).read_text()


SECOND = SchemaBuilder.struct().field("f1", STRING_SCHEMA).field("late", OPTIONAL_INT64_SCHEMA).build()
OTHER = SchemaBuilder.struct().field("f1", OPTIONAL_INT64_SCHEMA).build()


def evolving() -> list[SinkRecord]:
    """Return records of a schema, of one with a field more, again of the first, and of one whose type conflicts."""
    values = [
        Struct(VALUE).put("f1", "a"),
        Struct(SECOND).put("f1", "b").put("late", 1),
        Struct(VALUE).put("f1", "c"),
        Struct(OTHER).put("f1", 4),
    ]
    return [numbered([value] * 4, "s3_topic", value_schema=value.schema)[at] for at, value in enumerate(values)]


@pytest.mark.parametrize(
    ("policy", "files"),
    [
        ("NONE", {0: [{"f1": "a"}], 1: [{"f1": "b", "late": 1}], 2: [{"f1": "c"}], 3: [{"f1": 4}]}),
        *(
            (
                policy,
                {0: [{"f1": "a", "late": None}, {"f1": "b", "late": 1}, {"f1": "c", "late": None}], 3: [{"f1": 4}]},
            )
            for policy in ("BACKWARD", "FORWARD", "FULL")
        ),
    ],
)
def test_schemas_that_do_not_fit_have_files_of_their_own(
    tmp_path: Path, policy: str, files: dict[int, list[dict[str, Any]]]
) -> None:
    many = {"format.class": f"{FORMAT}.parquet.ParquetFormat", "flush.size": "100", "schema.compatibility": policy}
    names = exported(S3SinkConnector(), {**QUICKSTART, **many}, tmp_path, evolving())
    folder = f"{BUCKET}/topics/s3_topic/partition=0"
    assert names == [f"{folder}/s3_topic+0+{first:010}.snappy.parquet" for first in files]
    assert [pq.ParquetFile(tmp_path / name).read().to_pylist() for name in names] == list(files.values())


def test_rotation_by_time_says_which_schedule_does_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = {**QUICKSTART, "rotate.schedule.interval.ms": "3600000", "rotate.interval.ms": "600000"}
    exported(S3SinkConnector(), config, tmp_path / "a", structs(1, "s3_topic"))
    assert "set schedule=@hourly" in caplog.text
    assert "set schedule=PT600S" in caplog.text
    caplog.clear()
    exported(S3SinkConnector(), {**config, "schedule": "@hourly"}, tmp_path / "b", structs(1, "s3_topic"))
    assert "set schedule=" not in caplog.text


def test_keys_of_old_and_mistyped_names_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    old = {"schema.generator.class": "io.confluent.connect.storage.hive.schema.DefaultSchemaGenerator"}
    mistyped = {"partition.field.names": "f1", "rotate.interval": "1", "value.converter.schemas.enable": "false"}
    exported(S3SinkConnector(), {**QUICKSTART, **old, **mistyped}, tmp_path, structs(1, "s3_topic"))
    assert "schema.generator.class is not needed here: no schema is generated" in caplog.text
    for key in ("partition.field.names", "rotate.interval"):
        assert f"{key} is not needed here: this key is not known here and has no effect" in caplog.text
    assert "value.converter" not in caplog.text


@pytest.mark.parametrize(
    "provider",
    [
        "com.amazonaws.auth.InstanceProfileCredentialsProvider",
        "com.amazonaws.auth.profile.ProfileCredentialsProvider",
        "com.amazonaws.auth.EC2ContainerCredentialsProviderWrapper",
        "software.amazon.awssdk.auth.credentials.WebIdentityTokenFileCredentialsProvider",
    ],
)
def test_a_provider_of_the_usual_chain_is_the_chain(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, provider: str
) -> None:
    config = {**QUICKSTART, "s3.credentials.provider.class": provider}
    assert len(exported(S3SinkConnector(), config, tmp_path, structs(1, "s3_topic"))) == 1
    assert f"the usual chain is asked, which contains {provider}" in caplog.text

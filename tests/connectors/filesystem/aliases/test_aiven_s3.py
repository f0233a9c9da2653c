"""Aiven's S3 sink: its configurations start unchanged, objects have the names of the template."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from connect_core.api import SinkRecord
from connect_core.api.data import BYTES_SCHEMA, STRING_SCHEMA
from connect_core.connectors.filesystem import choices
from connect_core.connectors.filesystem.aliases.aiven_s3 import AivenKafkaConnectS3SinkConnector
from tests.connectors.filesystem.aliases.exports import FolderStorage, errors_of, exported, structs

EXAMPLE = {
    "name": "s3",
    "connector.class": "io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
    "format.output.type": "jsonl",
    "topics": "topic1,topic2",
    "aws.access.key.id": "id",
    "aws.secret.access.key": "secret",
    "aws.s3.region": "us-east-1",
    "file.name.template": "dir1/dir2/{{topic}}-{{partition:padding=true}}-{{start_offset:padding=true}}.gz",
    "aws.s3.bucket.name": "my-bucket",
    "format.output.fields": "key,value,offset,timestamp",
    "format.output.envelope": "true",
    "file.compression.type": "gzip",
    "timestamp.timezone": "Europe/Berlin",
    "timestamp.source": "wallclock",
}
"""The example of the original's page, whole."""
PLAIN = {"connector.class": EXAMPLE["connector.class"], "topics": "t", "aws.s3.bucket.name": "my-bucket"}


@pytest.fixture(autouse=True)
def bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(choices.STORAGES.built_in, "s3", FolderStorage)


def record(offset: int, value: Any, **more: Any) -> SinkRecord:
    given = {"key": f"k{offset}", "key_schema": STRING_SCHEMA, "timestamp": 1_583_020_800_000 + offset, **more}
    return SinkRecord("topic1", 3, value=value, kafka_offset=offset, **given)


def test_example_starts_unchanged_and_writes_the_documented_objects(tmp_path: Path) -> None:
    records = [record(0, {"name": "John"}), record(1, None)]
    (name,) = exported(AivenKafkaConnectS3SinkConnector(), EXAMPLE, tmp_path, records)
    assert name == "my-bucket/dir1/dir2/topic1-0000000003-00000000000000000000.gz"
    lines = gzip.decompress((tmp_path / name).read_bytes()).splitlines()
    assert [json.loads(line) for line in lines] == [
        {"key": "k0", "value": {"name": "John"}, "offset": 0, "timestamp": "2020-03-01T00:00:00Z"},
        {"key": "k1", "value": None, "offset": 1, "timestamp": "2020-03-01T00:00:00.001Z"},
    ]


def test_defaults_are_gzipped_lines_of_values_in_base64(tmp_path: Path) -> None:
    records = [record(number, b"v%d" % number, value_schema=BYTES_SCHEMA) for number in range(3)]
    config = {**PLAIN, "file.max.records": "2"}
    names = exported(AivenKafkaConnectS3SinkConnector(), config, tmp_path, records)
    assert names == ["my-bucket/topic1-3-0.gz", "my-bucket/topic1-3-2.gz"]
    assert gzip.decompress((tmp_path / names[0]).read_bytes()) == b"djA=\ndjE=\n"


def test_plain_lines_have_parts_in_the_order_asked_for(tmp_path: Path) -> None:
    records = [
        record(5, b"a,b", value_schema=BYTES_SCHEMA),
        record(6, None, key=None, timestamp=None, value_schema=BYTES_SCHEMA),
    ]
    records[0].headers.add("h", b"x", BYTES_SCHEMA)
    fields = {"format.output.fields": "offset,key,value,timestamp,headers", "file.compression.type": "none"}
    config = {**PLAIN, **fields, "format.output.fields.value.encoding": "none"}
    (name,) = exported(AivenKafkaConnectS3SinkConnector(), config, tmp_path, records)
    assert name == "my-bucket/topic1-3-5"
    key = base64.b64encode(b"k5").decode()
    assert (tmp_path / name).read_text() == f"5,{key},a,b,1583020800005,aA==:eA==;\n6,,,,\n"


def test_units_of_time_are_those_of_the_record_where_events_are_asked_for(tmp_path: Path) -> None:
    day = "{{timestamp:unit=yyyy}}/{{timestamp:unit=MM}}-{{timestamp:unit=dd}}"
    times = {
        "file.name.template": f"{day}/{{{{topic}}}}/{{{{partition}}}}+{{{{start_offset}}}}",
        "file.name.timestamp.source": "event",
        "file.name.timestamp.timezone": "Europe/Berlin",
        "format.output.type": "jsonl",
        "format.output.envelope": "false",
        "file.compression.type": "none",
    }
    records = [record(0, "a"), record(1, "b", timestamp=1_583_020_800_000 + 23 * 3_600_000), record(2, "c")]
    names = exported(AivenKafkaConnectS3SinkConnector(), {**PLAIN, **times}, tmp_path, records)
    assert names == ["my-bucket/2020/03-01/topic1/3+0", "my-bucket/2020/03-02/topic1/3+1"]
    assert (tmp_path / names[0]).read_text() == '"a"\n"c"\n'


def test_prefix_of_old_configurations_stands_before_padded_names(tmp_path: Path) -> None:
    old = {"connector.class": PLAIN["connector.class"], "aws_s3_bucket": "my-bucket", "aws_s3_prefix": "logs/"}
    config = {**old, "output_compression": "none", "output_fields": "value,offset", "topics": "t"}
    records = [record(7, b"v", value_schema=BYTES_SCHEMA)]
    (name,) = exported(AivenKafkaConnectS3SinkConnector(), config, tmp_path, records)
    assert name == "my-bucket/logs/topic1-3-00000000000000000007"
    assert (tmp_path / name).read_text() == "dg==,7\n"


def test_parquet_of_values_alone(tmp_path: Path) -> None:
    value = {"format.output.type": "parquet", "format.output.envelope": "false"}
    names = exported(AivenKafkaConnectS3SinkConnector(), {**PLAIN, **value}, tmp_path, structs(2, "t"))
    assert names == ["my-bucket/t-0-0.gz"]
    assert pq.ParquetFile(tmp_path / names[0]).read().to_pylist() == [{"f1": "value1"}, {"f1": "value2"}]


@pytest.mark.parametrize(
    ("given", "key", "message"),
    [
        ({"file.name.template": "k{{key}}"}, "file.name.template", "key is not a variable"),
        ({"file.name.template": "{{topic}}"}, "file.name.template", "add {{partition}} and {{start_offset}}"),
        ({"file.name.template": "../{{topic}}-{{partition}}-{{start_offset}}"}, "file.name.template", "below the root"),
        ({"aws.s3.prefix": "_connect/"}, "file.name.template", "below the root"),
        ({"file.compression.type": "snappy"}, "file.compression.type", "use one of none, gzip, zstd"),
        ({"format.output.type": "json"}, "format.output.type", "choose jsonl"),
        ({"format.output.type": "parquet"}, "format.output.type", "format.output.envelope to false"),
        ({"format.output.fields": "value,size"}, "format.output.fields", "must be one of"),
        ({"format.output.fields": "key,value", "format.output.envelope": "false", "format.output.type": "jsonl"},
         "format.output.envelope", "several parts"),
        ({"aws.s3.bucket.name": "a/b"}, "aws.s3.bucket.name", "name the bucket"),
        ({"aws.sts.role.arn": "arn:aws:iam::1:role/x"}, "aws.sts.role.arn", "assume the role"),
        ({"timestamp.source": "header", "file.name.template":
          "{{timestamp:unit=yyyy}}{{topic}}{{partition}}{{start_offset}}"}, "timestamp.source", "wallclock, event"),
        ({"file.name.template": "{{topic}}/{{partition}}{{start_offset}}"}, "file.name.template", "the same name"),
        ({"file.name.template": "{{topic}}{{partition}}/{{start_offset}}"}, "file.name.template", "the same name"),
        ({"file.name.template": "{{topic}}/{{partition}}{{timestamp:unit=HH}}7{{start_offset}}"},
         "file.name.template", "separate {{partition}} and {{start_offset}}"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_refused_by_key_value_and_remedy(given: dict[str, str], key: str, message: str) -> None:
    found = errors_of(AivenKafkaConnectS3SinkConnector(), {**PLAIN, **given})
    assert list(found) == [key]
    assert message in found[key][0]


def test_numbers_of_a_fixed_width_need_nothing_between_them(tmp_path: Path) -> None:
    template = "{{partition:padding=true}}{{start_offset:padding=true}}{{topic}}"
    names = exported(
        AivenKafkaConnectS3SinkConnector(), {**PLAIN, "file.name.template": template}, tmp_path, [record(7, "a")]
    )
    assert names == [f"my-bucket/{3:010d}{7:020d}topic1"]


def test_dates_of_a_prefix_are_those_of_the_day(tmp_path: Path) -> None:
    days = [datetime.now(UTC).strftime("%Y-%m-%d")]
    prefix = {"aws.s3.prefix": "raw/{{ utc_date }}/{{local_date}}/{{timestamp:unit=YYYY}}/"}
    names = exported(AivenKafkaConnectS3SinkConnector(), {**PLAIN, **prefix}, tmp_path, [record(7, "a")])
    days.append(datetime.now(UTC).strftime("%Y-%m-%d"))
    assert names[0] in [f"my-bucket/raw/{day}/{day}/{day[:4]}/topic1-3-00000000000000000007.gz" for day in days]


@pytest.mark.parametrize(
    "given", [{"timestamp.source": "event"}, {"file.name.timestamp.timezone": "Asia/Tokyo"}], ids=["source", "zone"]
)
def test_dates_of_another_time_are_refused(given: dict[str, str]) -> None:
    config = {**PLAIN, "aws_s3_prefix": "{{ utc_date }}/", **given}
    (message,) = errors_of(AivenKafkaConnectS3SinkConnector(), config)["aws_s3_prefix"]
    assert "are of the wall clock" in message

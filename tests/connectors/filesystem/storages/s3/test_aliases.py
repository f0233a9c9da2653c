"""Configurations of other makers' sinks for S3, on stores that speak it."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import fastavro
import pytest

from connect_core.api import WorkerLimits
from connect_core.api.data import STRING_SCHEMA
from connect_core.connectors.filesystem.aliases.aiven_s3 import AivenKafkaConnectS3SinkConnector
from connect_core.connectors.filesystem.aliases.confluent_s3 import S3SinkConnector
from tests.connectors.filesystem.aliases.exports import run_intervals, structs
from tests.connectors.filesystem.aliases.test_confluent_s3 import QUICKSTART
from tests.connectors.filesystem.export import numbered
from tests.connectors.filesystem.storages.s3.servers import ACCESS, SECRET, S3Server

pytestmark = pytest.mark.slow


def reached(server: S3Server) -> dict[str, str]:
    """Return the quickstart of Confluent's sink and what leads to a store that is not Amazon's."""
    login = {"aws.access.key.id": ACCESS, "aws.secret.access.key": SECRET}
    return {**QUICKSTART, "s3.bucket.name": server.bucket, "store.url": server.url, **login}


def data_of(server: S3Server) -> list[str]:
    return [key for key in server.objects() if not key.startswith("_connect/") and not key.endswith("_SUCCESS")]


def test_confluent_quickstart_writes_the_documented_objects_once(server: S3Server, tmp_path: Path) -> None:
    config = reached(server)
    assert S3SinkConnector().validate_live(config, WorkerLimits((tmp_path,))) == {}
    run_intervals(S3SinkConnector(), config, tmp_path, structs(9, "s3_topic"))
    names = [f"topics/s3_topic/partition=0/s3_topic+0+{first:010}.avro" for first in (0, 3, 6)]
    assert data_of(server) == names
    rows = [row for name in names for row in fastavro.reader(io.BytesIO(server.content(name)))]
    assert rows == [{"f1": f"value{number}"} for number in range(1, 10)]
    assert server.uploads() == []
    run_intervals(S3SinkConnector(), config, tmp_path, structs(9, "s3_topic"), structs(9, "s3_topic"))
    assert data_of(server) == names


def test_confluent_codecs_and_folders(server: S3Server, tmp_path: Path) -> None:
    config = {
        **reached(server),
        "format.class": "io.confluent.connect.s3.format.json.JsonFormat",
        "s3.compression.type": "gzip",
        "partitioner.class": "io.confluent.connect.storage.partitioner.TimeBasedPartitioner",
        "path.format": "'year'=YYYY/'month'=MM/'day'=dd/'hour'=HH",
        "partition.duration.ms": "3600000",
        "timestamp.extractor": "Record",
        "locale": "en-US",
        "timezone": "UTC",
    }
    run_intervals(S3SinkConnector(), config, tmp_path, numbered([{"a": 1}], "s3_topic"))
    (name,) = data_of(server)
    assert name == "topics/s3_topic/year=1970/month=01/day=01/hour=00/s3_topic+0+0000000000.json.gz"
    assert json.loads(gzip.decompress(server.content(name))) == {"a": 1}


def test_aiven_template_names_objects(server: S3Server, tmp_path: Path) -> None:
    config = {
        "connector.class": "io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector",
        "topics": "t",
        "aws.s3.bucket.name": server.bucket,
        "aws.s3.endpoint": server.url,
        "aws.access.key.id": ACCESS,
        "aws.secret.access.key": SECRET,
        "format.output.type": "jsonl",
        "format.output.fields": "key,value",
        "file.name.template": "dir1/{{topic}}-{{partition}}-{{start_offset:padding=true}}.gz",
    }
    records = numbered(["v"], key="k", key_schema=STRING_SCHEMA, value_schema=STRING_SCHEMA)
    run_intervals(AivenKafkaConnectS3SinkConnector(), config, tmp_path, records)
    assert data_of(server) == ["dir1/t-0-00000000000000000000.gz"]
    assert json.loads(gzip.decompress(server.content(data_of(server)[0]))) == {"key": "k", "value": "v"}


def test_missing_bucket_is_told_under_the_key_of_the_original(server: S3Server, tmp_path: Path) -> None:
    config = {**reached(server), "s3.bucket.name": "no-such-bucket"}
    found = S3SinkConnector().validate_live(config, WorkerLimits((tmp_path,)))
    assert list(found) == ["s3.bucket.name"]
    assert "no-such-bucket" in found["s3.bucket.name"][0]

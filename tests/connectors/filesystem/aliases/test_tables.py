"""Each key of an original is accounted for, once, and its page says how."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from connect_core.api.config import NO_DEFAULT, ConfigType
from connect_core.connectors.filesystem import aliases
from connect_core.connectors.filesystem.aliases.aiven_s3 import AIVEN_S3_SINK
from connect_core.connectors.filesystem.aliases.confluent_azure import AZURE_SINK
from connect_core.connectors.filesystem.aliases.confluent_gcs import GCS_SINK
from connect_core.connectors.filesystem.aliases.confluent_hdfs import HDFS_SINK
from connect_core.connectors.filesystem.aliases.confluent_s3 import S3_SINK
from connect_core.connectors.filesystem.aliases.key import Treatment
from connect_core.connectors.filesystem.aliases.original import Original
from connect_core.connectors.filesystem.choices import STORAGES
from connect_core.connectors.filesystem.sink.config import CONFIG, PATH
from connect_core.errors import ConfigError

README = Path(aliases.__file__).parent / "README.md"
HEAD = "| Key | Type | Default | Here | What it does |\n|---|---|---|---|---|\n"

CONFLUENT_SHARED = """
format.class flush.size rotate.interval.ms rotate.schedule.interval.ms schema.cache.size enhanced.avro.schema.support
schema.generator.class
connect.meta.data retry.backoff.ms shutdown.timeout.ms filename.offset.zero.pad.width avro.codec
allow.optional.map.keys schema.compatibility storage.class topics.dir store.url directory.delim file.delim
partitioner.class partition.field.name partition.duration.ms path.format locale timezone timestamp.extractor
timestamp.field
"""
CONFLUENT_S3 = f"""{CONFLUENT_SHARED}
parquet.codec s3.bucket.name s3.object.tagging s3.object.tagging.key.value.pairs s3.object.behavior.on.tagging.error
s3.region s3.part.size s3.credentials.provider.class aws.access.key.id aws.secret.access.key s3.ssea.name
s3.sse.customer.key s3.sse.kms.key.id s3.acl.canned s3.wan.mode s3.compression.type s3.compression.level
json.decimal.format s3.part.retries s3.retry.backoff.ms format.bytearray.extension format.bytearray.separator
s3.proxy.url s3.proxy.user s3.proxy.password s3.http.send.expect.continue behavior.on.null.values
report.null.values.to.dlq max.write.duration.ms rotate.file.on.partition.change tombstone.encoded.partition
s3.schema.partition.affix.type s3.send.digest enable.conditional.writes max.files.scan.limit store.kafka.keys
store.kafka.headers keys.format.class headers.format.class s3.path.style.access.enabled s3.elastic.buffer.enable
s3.elastic.buffer.init.capacity partitioner.max.open.files
"""

CONFLUENT_HDFS = f"""{CONFLUENT_SHARED}
hdfs.url hadoop.conf.dir hadoop.home logs.dir hive.table.name hdfs.authentication.kerberos connect.hdfs.principal
connect.hdfs.keytab hdfs.namenode.principal kerberos.ticket.renew.period.ms topic.capture.groups.regex hive.integration
hive.metastore.uris hive.conf.dir hive.home hive.database
"""
CONFLUENT_GCS = f"""{CONFLUENT_SHARED}
gcs.bucket.name gcs.part.size gcs.part.retries gcs.retry.backoff.ms gcs.credentials.path gcs.credentials.json
gcs.proxy.url gcs.proxy.user gcs.proxy.password gcs.compression.type format.bytearray.extension
format.bytearray.separator parquet.codec json.decimal.format behavior.on.null.values report.null.values.to.dlq
tombstone.encoded.partition store.kafka.keys store.kafka.headers keys.format.class headers.format.class
"""
CONFLUENT_AZURE = f"""{CONFLUENT_SHARED}
azblob.account.name azblob.account.key azblob.sas.token azblob.container.name azblob.block.size azblob.retry.type
azblob.retry.retries azblob.retry.backoff.ms azblob.retry.max.backoff.ms azblob.connection.timeout.ms
az.compression.type format.bytearray.extension format.bytearray.separator parquet.codec json.decimal.format
behavior.on.null.values report.null.values.to.dlq tombstone.encoded.partition store.kafka.keys store.kafka.headers
keys.format.class headers.format.class
"""
AIVEN_S3 = """
aws.access.key.id aws.secret.access.key aws.credentials.provider aws.s3.bucket.name aws.s3.sse.algorithm aws.s3.endpoint
aws.s3.region aws.s3.prefix aws.s3.part.size.bytes aws.s3.fetch.page.size aws.s3.fetch.buffer.size aws.sts.role.arn
aws.sts.role.external.id aws.sts.role.session.name aws.sts.role.session.duration aws.sts.config.endpoint
aws.s3.backoff.delay.ms aws.s3.backoff.max.delay.ms aws.s3.backoff.max.retries kafka.retry.backoff.ms
aws_access_key_id aws_secret_access_key aws_s3_bucket aws_s3_endpoint aws_s3_region aws_s3_prefix output_fields
output_compression file.name.template file.prefix.template file.compression.type file.max.records
file.name.timestamp.timezone file.name.timestamp.source timestamp.timezone timestamp.source format.output.type
format.output.fields format.output.fields.value.encoding format.output.envelope
"""
ORIGINALS = [
    ("S3SinkConnector", S3_SINK, CONFLUENT_S3),
    ("HdfsSinkConnector", HDFS_SINK, CONFLUENT_HDFS),
    ("GcsSinkConnector", GCS_SINK, CONFLUENT_GCS),
    ("AzureBlobStorageSinkConnector", AZURE_SINK, CONFLUENT_AZURE),
    ("AivenKafkaConnectS3SinkConnector", AIVEN_S3_SINK, AIVEN_S3),
]
each = pytest.mark.parametrize(("name", "original", "keys"), ORIGINALS, ids=[name for name, *_ in ORIGINALS])


def key_table(original: Original) -> str:
    rows = [HEAD]
    for key in original.keys:
        if key.default is NO_DEFAULT:
            default = "required"
        elif key.default is None:
            default = "none"
        else:
            default = f"`{str(key.default).lower() if key.type is ConfigType.BOOLEAN else key.default}`"
        rows.append(f"| `{key.name}` | {key.type.value} | {default} | {key.treatment.value} | {key.doc} |\n")
    for prefix in original.prefixes:
        rows.append(f"| `{prefix.text}…` | | | not needed | {prefix.why} |\n")
    return "".join(rows)


@each
def test_each_key_is_accounted_for_once(name: str, original: Original, keys: str) -> None:
    names = [key.name for key in original.keys]
    assert sorted(names) == sorted(keys.split())
    assert all(key.doc and key.treatment in Treatment for key in original.keys)


@each
def test_keys_become_settings_there_are(name: str, original: Original, keys: str) -> None:
    """A key that is mapped to a setting nobody reads would be ignored."""
    assert original.settings.keys() <= CONFIG.names()
    for key in original.keys:
        if key.treatment is Treatment.UNNEEDED:
            assert dict(key.read("anything")) == {}
    assert PATH not in original.definition.names()


SCHEMES = {
    "S3SinkConnector": "s3",
    "HdfsSinkConnector": "hdfs",
    "GcsSinkConnector": "gs",
    "AzureBlobStorageSinkConnector": "abfss",
}


@each
def test_what_a_key_becomes_is_read_by_somebody(name: str, original: Original, keys: str) -> None:
    """Settings of a storage are asked for where there is one."""
    if SCHEMES.get(name, "s3") not in STORAGES.built_in:
        return
    read: set[str] = set()
    for key in original.keys:
        if key.type in (ConfigType.STRING, ConfigType.PASSWORD) and not key.validator:
            with suppress(ConfigError):
                read |= key.read("x").keys()
    assert read - CONFIG.names() == set()


@each
def test_page_has_the_table(name: str, original: Original, keys: str) -> None:
    assert f"`{name}`" in README.read_text()
    assert key_table(original) in README.read_text()

"""Confluent's sink for S3."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from connect_core.api.config import NO_DEFAULT, ConfigType, NonEmptyString, Range
from connect_core.connectors.filesystem.aliases.confluent import (
    CONTENT_KEYS,
    ENCODING_KEYS,
    FAMILIES,
    LICENSE,
    NAMING_KEYS,
    PARTITIONER_KEYS,
    ROTATION_KEYS,
    compression,
    format_class,
)
from connect_core.connectors.filesystem.aliases.connector import AliasSinkConnector
from connect_core.connectors.filesystem.aliases.credentials import credentials_class
from connect_core.connectors.filesystem.aliases.key import Named
from connect_core.connectors.filesystem.aliases.original import Original, Prefix
from connect_core.errors import ConfigError

__all__ = ["S3_SINK", "S3SinkConnector"]

BOOLEAN, INT, LONG, STRING = ConfigType.BOOLEAN, ConfigType.INT, ConfigType.LONG, ConfigType.STRING
PASSWORD = ConfigType.PASSWORD

_BUCKET = "s3.bucket.name"
_PROVIDER_SETTINGS = Prefix("s3.credentials.provider.", "only custom credentials classes have settings")
_BUCKETS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,253}\Z")

_STORE_KEYS = (
    Named(_BUCKET, STRING, NO_DEFAULT, NonEmptyString()).honoured("The bucket."),
    Named("s3.region", STRING, "us-west-2").honoured("The region of the bucket."),
    Named("store.url", STRING, None).honoured("The endpoint of a server that is not Amazon's."),
    Named("s3.part.size", INT, 26_214_400, Range.between(5_242_880, None)).honoured("Size of an upload part in bytes."),
    Named("aws.access.key.id", STRING, "").honoured(
        "The access key; the usual chain of credentials if empty.", empty=False
    ),
    Named("aws.secret.access.key", PASSWORD, None).honoured("The secret of the access key.", empty=False),
    credentials_class("s3.credentials.provider.class"),
    Named("s3.ssea.name", STRING, "").honoured("How the server encrypts objects: AES256 or aws:kms.", empty=False),
    Named("s3.sse.kms.key.id", STRING, "").honoured("The key of aws:kms.", empty=False),
    Named("s3.sse.customer.key", PASSWORD, None).only(
        "An encryption key that the store does not keep.",
        ("",),
        "leave it out: set s3.ssea.name to AES256 or aws:kms, whose keys the store keeps",
    ),
    Named("s3.acl.canned", STRING, None).honoured("The canned ACL of objects.", empty=False),
    Named("s3.wan.mode", BOOLEAN, False).only(
        "Whether the accelerated endpoint is used.",
        ("false",),
        "set it to false, and store.url to the accelerated endpoint",
    ),
    Named("s3.path.style.access.enabled", BOOLEAN, True).honoured(
        "Whether the bucket is in the path instead of the host name."
    ),
    Named("s3.proxy.url", STRING, "").honoured("The proxy to the store.", empty=False),
    Named("s3.proxy.user", STRING, None).honoured("The user for the proxy.", empty=False),
    Named("s3.proxy.password", PASSWORD, None).honoured("The password for the proxy.", empty=False),
    Named("s3.part.retries", INT, 3, Range.at_least(0)).honoured("How often a request is retried."),
    Named("s3.retry.backoff.ms", LONG, 200, Range.at_least(0)).honoured("How long to wait before the first retry."),
)
"""Keys of the storage itself."""

_OBJECT_KEYS = (
    Named("s3.object.tagging", BOOLEAN, False).only(
        "Whether objects are tagged with offsets and count.",
        ("false",),
        "set it to false: names contain the first offset, and manifests contain all offsets and the record count of "
        "each file",
    ),
    Named("s3.object.tagging.key.value.pairs", ConfigType.LIST, "").only(
        "More tags.", ("",), "leave it out: no tags are set"
    ),
    Named("s3.object.behavior.on.tagging.error", STRING, "ignore").unneeded("no tags are set"),
    Named("s3.http.send.expect.continue", BOOLEAN, True).unneeded("requests do not need this handshake"),
    Named("s3.send.digest", BOOLEAN, False).unneeded("each part is checked by its hash in any case"),
    Named("s3.elastic.buffer.enable", BOOLEAN, False).unneeded("parts are buffered at their full size"),
    Named("s3.elastic.buffer.init.capacity", INT, 131_072).unneeded("parts are buffered at their full size"),
    Named("enable.conditional.writes", BOOLEAN, True).unneeded("the manifest is created conditionally in any case"),
    Named("max.files.scan.limit", INT, 100).unneeded(
        "existing names are not searched for: the manifest lists what is written"
    ),
    Named("max.write.duration.ms", LONG, None).unneeded("tasks end with their interval, not with a rebalance"),
    Named("partitioner.max.open.files", INT, -1).unneeded(
        "a task has at most 64 files open, however many folders there are"
    ),
    Named("rotate.file.on.partition.change", BOOLEAN, True).unneeded(
        "each folder has its own files within an interval"
    ),
)
"""How objects are written."""

_AFFIX = Named("s3.schema.partition.affix.type", STRING, "NONE").only(
    "Whether the schema's name is part of the path.", ("none",), "set NONE: all schemas share the topic's folder"
)


def _place(config: Mapping[str, str]) -> str:
    bucket = config[_BUCKET].strip()
    if not _BUCKETS.match(bucket):
        raise ConfigError(_BUCKET, bucket, "it is not a bucket name: use letters, digits, periods and hyphens")
    return f"s3://{bucket}"


S3_SINK = Original(
    keys=(
        format_class(NO_DEFAULT, "AvroFormat", "JsonFormat", "ByteArrayFormat", "ParquetFormat"),
        *ROTATION_KEYS,
        *_STORE_KEYS,
        *_OBJECT_KEYS,
        compression("s3.compression.type"),
        Named("s3.compression.level", INT, -1).unneeded("files are compressed at the codec's own level"),
        *CONTENT_KEYS,
        _AFFIX,
        *ENCODING_KEYS,
        *NAMING_KEYS,
        *PARTITIONER_KEYS,
    ),
    place_key=_BUCKET,
    place=_place,
    settings={
        "file.name.offsets": "first",
        "parquet.codec.in.names": "true",
        "json.time.format": "number",
        "json.map.format": "arrays",
    },
    prefixes=(LICENSE, _PROVIDER_SETTINGS),
    families=(*FAMILIES, "s3."),
)


class S3SinkConnector(AliasSinkConnector):
    """Writes objects ``topics/<topic>/<folder>/<topic>+<partition>+<first offset>.<extension>``. Confluent's class."""

    original: ClassVar[Original] = S3_SINK

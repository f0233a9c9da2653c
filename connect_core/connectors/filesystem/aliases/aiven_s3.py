"""Aiven's sink for S3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from connect_core.api.config import ConfigType, Range
from connect_core.connectors.filesystem.aliases.aiven import FILE_KEYS, FORMAT_KEYS, PREFIX_KEYS, file_settings
from connect_core.connectors.filesystem.aliases.connector import AliasSinkConnector
from connect_core.connectors.filesystem.aliases.credentials import credentials_class
from connect_core.connectors.filesystem.aliases.key import Key, Named
from connect_core.connectors.filesystem.aliases.original import Original
from connect_core.errors import ConfigError

__all__ = ["AIVEN_S3_SINK", "AivenKafkaConnectS3SinkConnector"]

INT, LONG, PASSWORD, STRING = ConfigType.INT, ConfigType.LONG, ConfigType.PASSWORD, ConfigType.STRING

_BUCKET, _OLD_BUCKET = "aws.s3.bucket.name", "aws_s3_bucket"
_REGIONS = ("aws.s3.region", "aws_s3_region")
_NO_ROLE = "leave it out: let the environment or profile of the workers assume the role"


def _renamed(name: str, type: ConfigType, to: str, doc: str, default: object = None) -> Key:
    return Named(name, type, default).mapped(f"{doc} ({to})", lambda value: {to: value} if value else {})


_STORE_KEYS = (
    # The old names come first: if both are given, the new one wins.
    _renamed("aws_access_key_id", PASSWORD, "aws.access.key.id", "Old name of the access key."),
    _renamed("aws_secret_access_key", PASSWORD, "aws.secret.access.key", "Old name of the secret."),
    _renamed("aws_s3_endpoint", STRING, "store.url", "Old name of the endpoint."),
    Named(_REGIONS[1], STRING, None).mapped("Old name of the region.", lambda value: {}),
    Named(_OLD_BUCKET, STRING, None).mapped("Old name of the bucket.", lambda value: {}),
    Named("aws.access.key.id", PASSWORD, None).honoured("The access key; the usual chain of credentials if not set."),
    Named("aws.secret.access.key", PASSWORD, None).honoured("The secret of the access key."),
    credentials_class("aws.credentials.provider"),
    Named(_BUCKET, STRING, None).mapped("The bucket.", lambda value: {}),
    _renamed("aws.s3.endpoint", STRING, "store.url", "The endpoint of a server that is not Amazon's."),
    Named(_REGIONS[0], STRING, None).mapped(
        "The region of the bucket; us-east-1 if not set. (s3.region)", lambda value: {}
    ),
    _renamed("aws.s3.sse.algorithm", STRING, "s3.ssea.name", "How the server encrypts objects."),
    Named("aws.s3.part.size.bytes", INT, 5_242_880, Range.between(1, 2_000_000_000)).mapped(
        "Size of an upload part in bytes, at least 5 MB. (s3.part.size)",
        lambda value: {"s3.part.size": str(max(5_242_880, int(value)))},
    ),
    Named("aws.s3.backoff.delay.ms", LONG, 100, Range.at_least(1)).mapped(
        "How long to wait before the first retry. (s3.retry.backoff.ms)",
        lambda value: {"s3.retry.backoff.ms": value},
    ),
    Named("aws.s3.backoff.max.retries", INT, 3, Range.between(1, 30)).mapped(
        "How often a request is retried. (s3.part.retries)", lambda value: {"s3.part.retries": value}
    ),
    Named("aws.s3.backoff.max.delay.ms", LONG, 20_000).unneeded("the client limits its own waits"),
    Named("aws.sts.role.arn", STRING, None).only("The role to assume.", ("",), _NO_ROLE),
    Named("aws.sts.role.session.name", STRING, None).only("The session of the role.", ("",), _NO_ROLE),
    Named("aws.sts.role.external.id", STRING, None).only("The external id of the role.", ("",), _NO_ROLE),
    Named("aws.sts.role.session.duration", INT, 3600).unneeded("no role is assumed"),
    Named("aws.sts.config.endpoint", STRING, "https://sts.amazonaws.com").unneeded("no role is assumed"),
    Named("aws.s3.fetch.page.size", INT, 10).unneeded("it applies to the source only"),
    Named("aws.s3.fetch.buffer.size", INT, 1000).unneeded("it applies to the source only"),
    Named("kafka.retry.backoff.ms", LONG, None).unneeded("a failed run is retried by Airflow, see schedule.retries"),
)


def _place(config: Mapping[str, str]) -> str:
    bucket = (config.get(_BUCKET) or config.get(_OLD_BUCKET) or "").strip()
    if not bucket or set(bucket) & set("/?#:@ ") or bucket[0] in "._-":
        raise ConfigError(_BUCKET, bucket, "name the bucket: use letters, digits, periods and hyphens")
    return f"s3://{bucket}"


def _derived(config: Mapping[str, str]) -> Mapping[str, str]:
    region = next((config[key] for key in _REGIONS if config.get(key)), "us-east-1")
    return {**file_settings(config), "s3.region": region}


AIVEN_S3_SINK = Original(
    keys=(*_STORE_KEYS, *FORMAT_KEYS, *FILE_KEYS, *PREFIX_KEYS),
    place_key=_BUCKET,
    place=_place,
    settings={"json.time.format": "number", "json.map.format": "arrays", "json.decimal.format": "BASE64"},
    derived=_derived,
    families=("aws.", "aws_", "file.", "format."),
)


class AivenKafkaConnectS3SinkConnector(AliasSinkConnector):
    """Writes objects named by ``file.name.template``. Aiven's class name."""

    original: ClassVar[Original] = AIVEN_S3_SINK

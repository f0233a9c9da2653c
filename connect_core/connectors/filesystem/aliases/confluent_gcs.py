"""Confluent's sink for Google Cloud Storage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from connect_core.api.config import NO_DEFAULT, ConfigType, NonEmptyString
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
from connect_core.connectors.filesystem.aliases.key import Named
from connect_core.connectors.filesystem.aliases.original import Original
from connect_core.errors import ConfigError

__all__ = ["GCS_SINK", "GcsSinkConnector"]

INT, LONG, PASSWORD, STRING = ConfigType.INT, ConfigType.LONG, ConfigType.PASSWORD, ConfigType.STRING

_BUCKET = "gcs.bucket.name"
_REPEATED = "requests are retried by Google's client"
_PROXY = "leave it out: set HTTPS_PROXY in the environment of the workers"

_STORE_KEYS = (
    Named(_BUCKET, STRING, NO_DEFAULT, NonEmptyString()).mapped("The bucket.", lambda value: {}),
    Named("gcs.credentials.path", STRING, "").honoured(
        "The file of a service account's key; the machine's own account if empty.", empty=False
    ),
    Named("gcs.credentials.json", PASSWORD, None).honoured("A service account's key as JSON.", empty=False),
    Named("gcs.part.size", INT, 26_214_400).unneeded("parts are as large as the storage makes them"),
    Named("gcs.part.retries", INT, 3).unneeded(_REPEATED),
    Named("gcs.retry.backoff.ms", LONG, 200).unneeded(_REPEATED),
    Named("gcs.proxy.url", STRING, "").only("The proxy to the store.", ("",), _PROXY),
    Named("gcs.proxy.user", STRING, None).only("The user for the proxy.", ("",), _PROXY),
    Named("gcs.proxy.password", PASSWORD, None).only("The password for the proxy.", ("",), _PROXY),
    Named("store.url", STRING, None).mapped(
        "A different address for the API. (gcs.endpoint)", lambda value: {"gcs.endpoint": value} if value else {}
    ),
)


def _place(config: Mapping[str, str]) -> str:
    bucket = config[_BUCKET].strip()
    if set(bucket) & set("/?#:@\\ ") or bucket[0] in "._-":
        raise ConfigError(_BUCKET, bucket, "it is not a bucket name: use letters, digits, periods, _ and hyphens")
    return f"gs://{bucket}"


GCS_SINK = Original(
    keys=(
        format_class(NO_DEFAULT, "AvroFormat", "JsonFormat", "ByteArrayFormat", "ParquetFormat"),
        *ROTATION_KEYS,
        *_STORE_KEYS,
        compression("gcs.compression.type"),
        *CONTENT_KEYS,
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
    prefixes=(LICENSE,),
    families=(*FAMILIES, "gcs."),
)


class GcsSinkConnector(AliasSinkConnector):
    """Writes objects ``topics/<topic>/<folder>/<topic>+<partition>+<first offset>.<extension>``. Confluent's class."""

    original: ClassVar[Original] = GCS_SINK

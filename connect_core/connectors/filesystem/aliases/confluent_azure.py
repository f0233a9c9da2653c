"""Confluent's sink for Azure Blob Storage."""

from __future__ import annotations

import re
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
from connect_core.connectors.filesystem.aliases.key import Key, Named
from connect_core.connectors.filesystem.aliases.original import Original
from connect_core.errors import ConfigError

__all__ = ["AZURE_SINK", "AzureBlobStorageSinkConnector"]

INT, LONG, PASSWORD, STRING = ConfigType.INT, ConfigType.LONG, ConfigType.PASSWORD, ConfigType.STRING

_ACCOUNT, _CONTAINER = "azblob.account.name", "azblob.container.name"
_ACCOUNTS = re.compile(r"[a-z0-9]{3,24}\Z")
_CONTAINERS = re.compile(r"[a-z0-9$][a-z0-9-]{2,62}\Z")
_REPEATED = "requests are retried by Azure's client"


def _secret(name: str, to: str, doc: str) -> Key:
    return Named(name, PASSWORD, None).mapped(f"{doc} ({to})", lambda value: {to: value} if value else {})


_STORE_KEYS = (
    Named(_ACCOUNT, STRING, NO_DEFAULT, NonEmptyString()).mapped("The storage account.", lambda value: {}),
    Named(_CONTAINER, STRING, "default").mapped("The container.", lambda value: {}),
    _secret("azblob.account.key", "azure.account.key", "The key of the account."),
    _secret("azblob.sas.token", "azure.sas.token", "A token instead of the key."),
    Named("store.url", STRING, None).mapped(
        "A different address for the account's blobs. (azure.endpoint)",
        lambda value: {"azure.endpoint": value} if value else {},
    ),
    Named("azblob.block.size", INT, 26_214_400).unneeded("blocks are as large as the storage makes them"),
    Named("azblob.retry.type", STRING, "EXPONENTIAL").unneeded(_REPEATED),
    Named("azblob.retry.retries", INT, 3).unneeded(_REPEATED),
    Named("azblob.retry.backoff.ms", LONG, 4000).unneeded(_REPEATED),
    Named("azblob.retry.max.backoff.ms", LONG, 120_000).unneeded(_REPEATED),
    Named("azblob.connection.timeout.ms", LONG, 30_000).unneeded(_REPEATED),
)


def _place(config: Mapping[str, str]) -> str:
    account, container = config[_ACCOUNT].strip(), config[_CONTAINER].strip()
    if not _ACCOUNTS.match(account):
        raise ConfigError(_ACCOUNT, account, "it is not an account name: use 3 to 24 lowercase letters and digits")
    if not _CONTAINERS.match(container):
        raise ConfigError(
            _CONTAINER, container, "it is not a container name: use lowercase letters, digits and hyphens"
        )
    return f"abfss://{container}@{account}.dfs.core.windows.net"


AZURE_SINK = Original(
    keys=(
        format_class(NO_DEFAULT, "AvroFormat", "JsonFormat", "ByteArrayFormat", "ParquetFormat"),
        *ROTATION_KEYS,
        *_STORE_KEYS,
        compression("az.compression.type"),
        *CONTENT_KEYS,
        *ENCODING_KEYS,
        *NAMING_KEYS,
        *PARTITIONER_KEYS,
    ),
    place_key=_ACCOUNT,
    place=_place,
    settings={
        "file.name.offsets": "first",
        "parquet.codec.in.names": "true",
        "json.time.format": "number",
        "json.map.format": "arrays",
    },
    prefixes=(LICENSE,),
    families=(*FAMILIES, "azblob.", "az."),
)


class AzureBlobStorageSinkConnector(AliasSinkConnector):
    """Writes blobs ``topics/<topic>/<folder>/<topic>+<partition>+<first offset>.<extension>``. Confluent's class."""

    original: ClassVar[Original] = AZURE_SINK

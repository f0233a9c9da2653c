"""Confluent's sinks for HDFS 2 and HDFS 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from connect_core.api.config import ConfigType
from connect_core.connectors.filesystem.aliases.confluent import (
    ENCODING_KEYS,
    FAMILIES,
    LICENSE,
    NAMING_KEYS,
    PARTITIONER_KEYS,
    ROTATION_KEYS,
    format_class,
)
from connect_core.connectors.filesystem.aliases.connector import AliasSinkConnector
from connect_core.connectors.filesystem.aliases.key import Named
from connect_core.connectors.filesystem.aliases.original import Original
from connect_core.errors import ConfigError

__all__ = ["HDFS_SINK", "Hdfs3SinkConnector", "HdfsSinkConnector"]

BOOLEAN, LONG, STRING = ConfigType.BOOLEAN, ConfigType.LONG, ConfigType.STRING

_URL, _OLD_URL = "store.url", "hdfs.url"
_NO_HIVE_CLIENT = "the metastore is called directly, at hive.metastore.uris"
_NO_KERBEROS = "Kerberos is not used"


def _topics_dir(value: str) -> Mapping[str, str]:
    if "${" in value:
        text = "topic names are not part of it; each topic has its own folder below it, so leave the placeholder out"
        raise ConfigError("topics.dir", value, text)
    return {"topics.dir": value.lstrip("/")}


_PLACE_KEYS = (
    Named(_URL, STRING, None).mapped("The NameNode: hdfs://host:port, optionally with a folder.", lambda value: {}),
    Named(_OLD_URL, STRING, None).mapped("Old name of the same setting; store.url takes precedence.", lambda value: {}),
    Named("hadoop.conf.dir", STRING, "").honoured(
        "The folder of core-site.xml and hdfs-site.xml; HADOOP_CONF_DIR if empty.", empty=False
    ),
    Named("hadoop.home", STRING, "").unneeded(
        "settings come from hadoop.conf.dir, programs from HADOOP_HOME if at all"
    ),
    Named("logs.dir", STRING, "logs").unneeded("there is no write-ahead log: the manifest is the commit"),
    Named("topics.dir", STRING, "topics").mapped(
        "The folder that contains the topics' folders; also with a slash before it.", _topics_dir
    ),
    Named("topic.capture.groups.regex", STRING, None).only(
        "Parts of the topic's name used in topics.dir.", ("",), "leave it out: each topic has a folder of its name"
    ),
)

_SECURITY_KEYS = (
    Named("hdfs.authentication.kerberos", BOOLEAN, False).only(
        "Whether Kerberos is used.",
        ("false",),
        "set it to false: Kerberos login is not supported yet",
    ),
    Named("connect.hdfs.principal", STRING, "").unneeded(_NO_KERBEROS),
    Named("connect.hdfs.keytab", STRING, "").unneeded(_NO_KERBEROS),
    Named("hdfs.namenode.principal", STRING, "").unneeded(_NO_KERBEROS),
    Named("kerberos.ticket.renew.period.ms", LONG, 3_600_000).unneeded(_NO_KERBEROS),
)

_HIVE_KEYS = (
    Named("hive.integration", BOOLEAN, False).honoured(
        "Whether each topic's files are a table in a Hive Metastore, which gets new partitions and columns after an "
        "interval's files are published; schema.compatibility is then BACKWARD, FORWARD or FULL."
    ),
    Named("hive.metastore.uris", STRING, "").honoured(
        "The metastore, as thrift://host:port; several, separated by commas, are tried in order."
    ),
    Named("hive.conf.dir", STRING, "").unneeded(_NO_HIVE_CLIENT),
    Named("hive.home", STRING, "").unneeded(_NO_HIVE_CLIENT),
    Named("hive.database", STRING, "default").honoured("The database of the tables; it must exist."),
    Named("hive.table.name", STRING, "${topic}").honoured("The name of a topic's table; it contains ${topic}."),
)


def _place(config: Mapping[str, str]) -> str:
    url = config.get(_URL, "").strip() or config.get(_OLD_URL, "").strip()
    if not url.startswith("hdfs://"):
        raise ConfigError(_URL, url, "give the NameNode as hdfs://host:port, here or as hdfs.url")
    return url


HDFS_SINK = Original(
    keys=(
        *_PLACE_KEYS,
        format_class(
            "io.confluent.connect.hdfs.avro.AvroFormat",
            *("AvroFormat", "JsonFormat", "ParquetFormat", "OrcFormat", "StringFormat"),
        ),
        *ROTATION_KEYS,
        *ENCODING_KEYS,
        *(key for key in NAMING_KEYS if key.name != "topics.dir"),
        *PARTITIONER_KEYS,
        *_SECURITY_KEYS,
        *_HIVE_KEYS,
    ),
    place_key=_URL,
    place=_place,
    settings={
        "file.name.offsets": "first-last",
        "json.time.format": "number",
        "json.map.format": "arrays",
        "json.decimal.format": "BASE64",
        "parquet.codec": "snappy",
    },
    prefixes=(LICENSE,),
    families=(*FAMILIES, "hdfs.", "hadoop.", "connect.hdfs.", "kerberos."),
)


class HdfsSinkConnector(AliasSinkConnector):
    """Writes files ``topics/<topic>/<folder>/<topic>+<partition>+<first>+<last>.<extension>``, named by offsets."""

    original: ClassVar[Original] = HDFS_SINK


class Hdfs3SinkConnector(HdfsSinkConnector):
    """The same with the class name for HDFS 3, whose keys are those for HDFS 2."""

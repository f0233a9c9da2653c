"""The keys that Confluent's sinks for files and objects share."""

from __future__ import annotations

import re
from collections.abc import Mapping

from connect_core.api.config import NO_DEFAULT, CaseInsensitiveValidString, ConfigType, Range, ValidString
from connect_core.connectors.filesystem.aliases.key import Key, Named, choice
from connect_core.connectors.filesystem.aliases.original import Prefix
from connect_core.errors import ConfigError

__all__ = [
    "CONTENT_KEYS",
    "ENCODING_KEYS",
    "FAMILIES",
    "FORMATS",
    "LICENSE",
    "NAMING_KEYS",
    "PARTITIONER_KEYS",
    "ROTATION_KEYS",
    "compression",
    "format_class",
]

BOOLEAN, INT, LONG, STRING = ConfigType.BOOLEAN, ConfigType.INT, ConfigType.LONG, ConfigType.STRING

LICENSE = Prefix("confluent.", "no license is stored, so no topic is needed")

FAMILIES = (
    *("avro.", "behavior.on.", "directory.", "file.delim", "filename.", "flush.", "format.", "headers.format", "hive."),
    *("keys.format", "parquet.", "partition.", "partitioner.", "path.", "rotate.", "schema.generator", "storage."),
    *("store.", "timestamp.", "tombstone.", "topics.dir"),
)
"""Prefixes of the shared keys, also of unknown versions."""

FORMATS: Mapping[str, Mapping[str, str]] = {
    "AvroFormat": {"format": "avro"},
    "JsonFormat": {"format": "json"},
    "ByteArrayFormat": {"format": "raw"},
    "ParquetFormat": {"format": "parquet"},
    "OrcFormat": {"format": "orc"},
    "StringFormat": {"format": "raw", "format.bytearray.extension": ".txt"},
}
"""Format classes by their simple names."""

_CLASS = re.compile(r"(?:io\.confluent\.connect\.[\w.]+\.)?(\w+)\Z")


def format_class(default: object, *known: str) -> Key:
    """Return the key that names the class of the format; ``known``: the simple names of the supported classes."""

    def read(value: str) -> Mapping[str, str]:
        found = _CLASS.match(value.strip())
        if found is None or found[1] not in known:
            raise ConfigError("format.class", value, f"use one of {', '.join(known)}")
        return FORMATS[found[1]]

    doc = f"The format of the files: {', '.join(known)} (of io.confluent.connect) are mapped to formats here."
    return Named("format.class", STRING, default).mapped(doc, read)


_PRESETS = {3600: "@hourly", 86_400: "@daily", 604_800: "@weekly"}


def _hint(config: Mapping[str, str], name: str) -> str:
    """Return the hint that intervals replace closing files by time, if this is configured."""
    seconds = int(config[name]) // 1000
    if seconds < 1 or "schedule" in config:
        return ""
    wanted = _PRESETS.get(seconds, f"PT{seconds}S")
    text = "every interval ends its files, and intervals follow each other while there is data"
    return f"{name}: {text}; for one set of files in {seconds} s set schedule={wanted}"


def _rotation(name: str) -> Key:
    """Return a key that closes files by time, which is done by intervals here."""

    def read(value: str) -> Mapping[str, str]:
        return {}

    doc = (
        "Every interval ends its files, so that none waits for records to come; intervals follow each other while "
        "there is data. Set schedule (such as @hourly) for fewer and larger files."
    )
    return Named(name, LONG, -1).mapped(doc, read, _hint)


ROTATION_KEYS = (
    Named("flush.size", INT, NO_DEFAULT, Range.at_least(1)).honoured(
        "Maximum number of records in a file; the end of an interval ends it earlier. Counted for "
        "each file, also where a partition has several folders."
    ),
    _rotation("rotate.interval.ms"),
    _rotation("rotate.schedule.interval.ms"),
    Named("schema.compatibility", STRING, "NONE", ValidString.one_of("NONE", "BACKWARD", "FORWARD", "FULL")).honoured(
        "NONE: each change of the schema begins a file. BACKWARD, FORWARD, FULL: records of several schemas share "
        "files, which have the columns of all: no field is dropped, missing ones are null. Conflicting types begin one."
    ),
    Named("schema.cache.size", INT, 1000).unneeded("schemas are not converted one by one, so none are cached"),
    Named("retry.backoff.ms", LONG, 5000).unneeded("a failed run is retried by Airflow, see schedule.retries"),
    Named("shutdown.timeout.ms", LONG, 3000).unneeded(
        "an interval is completed or repeated as a whole, whenever it is stopped"
    ),
)
"""When files end."""

ENCODING_KEYS = (
    Named("avro.codec", STRING, "null", ValidString.one_of("null", "deflate", "snappy", "bzip2")).honoured(
        "Compression of blocks in Avro files; snappy needs the package cramjam."
    ),
    Named("enhanced.avro.schema.support", BOOLEAN, True).unneeded(
        "Avro schemas are made from columns; Connect has no enums"
    ),
    Named("schema.generator.class", STRING, None).unneeded(
        "no schema is generated: files, and tables of hive.integration, have the columns of their records"
    ),
    Named("connect.meta.data", BOOLEAN, True).unneeded(
        "files have columns with the types of their format, without Connect's names"
    ),
    Named("allow.optional.map.keys", BOOLEAN, False).unneeded(
        "maps with keys that may be null are written in any case"
    ),
)
"""How files are encoded."""

_NO_OTHER_FILES = "set it to false, and include.{} to true: {} are then a column of the same files"


def compression(name: str) -> Key:
    """Return the key of this name for the compression of JSON and byte files."""
    doc = "Compression of JSON and byte files; with gzip, names end in .gz."
    known = {codec: {"compression.type": codec} for codec in ("none", "gzip")}
    return choice(name, "none", doc, known, "choose one of the available ones")


CONTENT_KEYS = (
    choice(
        "parquet.codec",
        "snappy",
        "Compression of Parquet pages; it is part of names: .snappy.parquet, .gz.parquet, .zstd.parquet.",
        {
            **{name: {"parquet.codec": name} for name in ("none", "snappy", "gzip", "zstd")},
            "lz4_raw": {"parquet.codec": "lz4"},
        },
        "choose a codec that all readers support",
    ),
    Named("format.bytearray.extension", STRING, ".bin").honoured("Suffix of the names of byte files."),
    Named("format.bytearray.separator", STRING, None).honoured(
        "Separator after each value in byte files: a line feed if not set."
    ),
    Named("json.decimal.format", STRING, "BASE64", CaseInsensitiveValidString.one_of("BASE64", "NUMERIC")).honoured(
        "How JSON represents decimals: BASE64 (their unscaled bytes) or NUMERIC."
    ),
    choice(
        "behavior.on.null.values",
        "fail",
        "What happens to records whose value is null.",
        {"fail": {"behavior.on.null.values": "fail"}, "ignore": {"behavior.on.null.values": "ignore"}},
        "files of keys alone are not supported; set ignore or fail",
    ),
    Named("report.null.values.to.dlq", BOOLEAN, True).unneeded(
        "rejected records go to the dead letter queue if errors are tolerated"
    ),
    Named("tombstone.encoded.partition", STRING, "tombstone").unneeded("files of keys alone are not supported"),
    Named("store.kafka.keys", BOOLEAN, False).only(
        "Whether keys are written to separate files.", ("false",), _NO_OTHER_FILES.format("key", "keys")
    ),
    Named("store.kafka.headers", BOOLEAN, False).only(
        "Whether headers are written to separate files.", ("false",), _NO_OTHER_FILES.format("headers", "headers")
    ),
    Named("keys.format.class", STRING, None).unneeded("keys are not written to separate files"),
    Named("headers.format.class", STRING, None).unneeded("headers are not written to separate files"),
)
"""What files contain."""

NAMING_KEYS = (
    Named("topics.dir", STRING, "topics").honoured("The folder that contains the topics' folders."),
    Named("directory.delim", STRING, "/").only(
        "The separator between folders.", ("/",), "leave it out: folders are separated by /"
    ),
    Named("file.delim", STRING, "+").honoured("The separator between topic, partition and offsets in file names."),
    Named("filename.offset.zero.pad.width", INT, 10, Range.between(1, 20)).honoured(
        "Minimum number of digits of the offsets in file names."
    ),
    Named("storage.class", STRING, None).unneeded("the storage follows from the connector class"),
)
"""The names of files."""

PARTITIONER_KEYS = (
    Named("partitioner.class", STRING, "io.confluent.connect.storage.partitioner.DefaultPartitioner").honoured(
        "The class of the partitioner: Default, Field, TimeBased, Daily or HourlyPartitioner of "
        "io.confluent.connect.storage.partitioner, or one from another installed package."
    ),
    Named("partition.field.name", ConfigType.LIST, "").honoured(
        "The fields whose values name the folders of FieldPartitioner."
    ),
    Named("partition.duration.ms", LONG, -1).honoured(
        "The time that a folder of TimeBasedPartitioner covers, in milliseconds."
    ),
    Named("path.format", STRING, "").honoured("The names of TimeBasedPartitioner's folders, as a Joda-Time pattern."),
    Named("locale", STRING, "").honoured(
        "The language of month and day names in folders; English if empty.", empty=False
    ),
    Named("timezone", STRING, "").honoured("The time zone of time-based folders; UTC if empty.", empty=False),
    Named("timestamp.extractor", STRING, "Wallclock").honoured(
        "The time of a record: Wallclock, Record or RecordField."
    ),
    Named("timestamp.field", STRING, "timestamp").honoured("The field of RecordField."),
)
"""The folders of files."""

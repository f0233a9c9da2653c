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
    "FORMATS",
    "LICENSE",
    "NAMING_KEYS",
    "PARTITIONER_KEYS",
    "ROTATION_KEYS",
    "compression",
    "format_class",
]

BOOLEAN, INT, LONG, STRING = ConfigType.BOOLEAN, ConfigType.INT, ConfigType.LONG, ConfigType.STRING

LICENSE = Prefix("confluent.", "there is no license to keep, in no topic")

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
            raise ConfigError("format.class", value, f"there are: {', '.join(known)}; choose one of these")
        return FORMATS[found[1]]

    doc = f"The format of the files: {', '.join(known)} (of io.confluent.connect) stand for formats of ours."
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
        "After how many records a file ends and another begins; the end of an interval ends it earlier. Counted for "
        "each file, also where a partition has several folders."
    ),
    _rotation("rotate.interval.ms"),
    _rotation("rotate.schedule.interval.ms"),
    Named("schema.compatibility", STRING, "NONE", ValidString.one_of("NONE", "BACKWARD", "FORWARD", "FULL")).honoured(
        "NONE: each change of the schema begins a file. BACKWARD, FORWARD, FULL: records of several schemas share "
        "files, which have the columns of all: no field is dropped, missing ones are null. Conflicting types begin one."
    ),
    Named("schema.cache.size", INT, 1000).unneeded("schemas are not converted one by one, so that none is cached"),
    Named("retry.backoff.ms", LONG, 5000).unneeded("a failed run is tried again by Airflow, see schedule.retries"),
    Named("shutdown.timeout.ms", LONG, 3000).unneeded(
        "an interval is ended or repeated as a whole, whenever it is stopped"
    ),
)
"""When files end."""

ENCODING_KEYS = (
    Named("avro.codec", STRING, "null", ValidString.one_of("null", "deflate", "snappy", "bzip2")).honoured(
        "How blocks of Avro files are compressed; snappy needs the wheel cramjam."
    ),
    Named("enhanced.avro.schema.support", BOOLEAN, True).unneeded(
        "Avro schemas are made from columns; Connect has no enums"
    ),
    Named("connect.meta.data", BOOLEAN, True).unneeded(
        "files carry columns with the types of their format, no Connect names"
    ),
    Named("allow.optional.map.keys", BOOLEAN, False).unneeded(
        "maps with keys that may be null are written in any case"
    ),
)
"""How files are encoded."""

_NO_OTHER_FILES = "set it to false, and include.{} to true: {} are then a column of the same files"


def compression(name: str) -> Key:
    """Return the key of this name for the compression of JSON and byte files."""
    doc = "How JSON and byte files are compressed; gzip ends their names in .gz."
    known = {codec: {"compression.type": codec} for codec in ("none", "gzip")}
    return choice(name, "none", doc, known, "choose one of those there are")


CONTENT_KEYS = (
    choice(
        "parquet.codec",
        "snappy",
        "How Parquet pages are compressed; it stands in names: .snappy.parquet, .gz.parquet, .zstd.parquet.",
        {
            **{name: {"parquet.codec": name} for name in ("none", "snappy", "gzip", "zstd")},
            "lz4_raw": {"parquet.codec": "lz4"},
        },
        "choose a codec that all readers have",
    ),
    Named("format.bytearray.extension", STRING, ".bin").honoured("How names of byte files end."),
    Named("format.bytearray.separator", STRING, None).honoured(
        "What follows each value in byte files: a line feed if not set."
    ),
    Named("json.decimal.format", STRING, "BASE64", CaseInsensitiveValidString.one_of("BASE64", "NUMERIC")).honoured(
        "How JSON has decimals: BASE64 (their unscaled bytes) or NUMERIC."
    ),
    choice(
        "behavior.on.null.values",
        "fail",
        "What becomes of records whose value is null.",
        {"fail": {"behavior.on.null.values": "fail"}, "ignore": {"behavior.on.null.values": "ignore"}},
        "there are no files of keys alone; set ignore or fail",
    ),
    Named("report.null.values.to.dlq", BOOLEAN, True).unneeded(
        "refused records go to the dead letters if errors are tolerated"
    ),
    Named("tombstone.encoded.partition", STRING, "tombstone").unneeded("there are no files of keys alone"),
    Named("store.kafka.keys", BOOLEAN, False).only(
        "Whether keys have files of their own.", ("false",), _NO_OTHER_FILES.format("key", "keys")
    ),
    Named("store.kafka.headers", BOOLEAN, False).only(
        "Whether headers have files of their own.", ("false",), _NO_OTHER_FILES.format("headers", "headers")
    ),
    Named("keys.format.class", STRING, None).unneeded("keys have no files of their own"),
    Named("headers.format.class", STRING, None).unneeded("headers have no files of their own"),
)
"""What files contain."""

NAMING_KEYS = (
    Named("topics.dir", STRING, "topics").honoured("The folder that holds the topics' folders."),
    Named("directory.delim", STRING, "/").only(
        "What stands between folders.", ("/",), "leave it out: folders are told by /"
    ),
    Named("file.delim", STRING, "+").honoured("What stands between topic, partition and offsets in names of files."),
    Named("filename.offset.zero.pad.width", INT, 10, Range.between(1, 20)).honoured(
        "How many digits the offsets in names of files have at least."
    ),
    Named("storage.class", STRING, None).unneeded("the storage follows from the connector class"),
)
"""The names of files."""

PARTITIONER_KEYS = (
    Named("partitioner.class", STRING, "io.confluent.connect.storage.partitioner.DefaultPartitioner").honoured(
        "The class of the partitioner: Default, Field, TimeBased, Daily or HourlyPartitioner of "
        "io.confluent.connect.storage.partitioner, or one that another wheel brings."
    ),
    Named("partition.field.name", ConfigType.LIST, "").honoured(
        "The fields whose values name the folders of FieldPartitioner."
    ),
    Named("partition.duration.ms", LONG, -1).honoured("How many milliseconds a folder of TimeBasedPartitioner holds."),
    Named("path.format", STRING, "").honoured(
        "How folders of TimeBasedPartitioner are called, a pattern of Joda-Time."
    ),
    Named("locale", STRING, "").honoured("The language of months and days in folders; English if empty.", empty=False),
    Named("timezone", STRING, "").honoured("The time zone of folders by time; UTC if empty.", empty=False),
    Named("timestamp.extractor", STRING, "Wallclock").honoured(
        "The time of a record: Wallclock, Record or RecordField."
    ),
    Named("timestamp.field", STRING, "timestamp").honoured("The field of RecordField."),
)
"""The folders of files."""

"""Aiven's keys for the names and contents of files."""

from __future__ import annotations

import re
from collections.abc import Mapping

from connect_core.api.config import ConfigType, Range
from connect_core.connectors.filesystem.aliases.key import Key, Named
from connect_core.connectors.filesystem.sink.name_template import TIME_FOLDERS
from connect_core.errors import ConfigError

__all__ = ["FILE_KEYS", "FORMAT_KEYS", "PREFIX_KEYS", "file_settings"]

BOOLEAN, INT, LIST, STRING = ConfigType.BOOLEAN, ConfigType.INT, ConfigType.LIST, ConfigType.STRING

_TYPE, _FIELDS, _OLD_FIELDS = "format.output.type", "format.output.fields", "output_fields"
_ENVELOPE = "format.output.envelope"
_COMPRESSION, _OLD_COMPRESSION = "file.compression.type", "output_compression"
_TEMPLATE, _PREFIX, _OLD_PREFIX = "file.name.template", "aws.s3.prefix", "aws_s3_prefix"
_ZONES = ("file.name.timestamp.timezone", "timestamp.timezone")
_SOURCES = ("file.name.timestamp.source", "timestamp.source")

_ENDINGS = {"none": "", "gzip": ".gz", "zstd": ".zst"}
_EXTRACTORS = {"wallclock": "Wallclock", "event": "Record"}
_DATES = re.compile(r"\{\{\s*(utc_date|local_date)\s*\}\}")
_DATE = "{{timestamp:unit=yyyy}}-{{timestamp:unit=MM}}-{{timestamp:unit=dd}}"
_HOUR, _DAY = 3_600_000, 86_400_000


def _read_together(name: str, type: ConfigType, default: object, doc: str) -> Key:
    """Return a key whose value is read by ``file_settings``."""
    return Named(name, type, default).mapped(doc, lambda value: {})


FORMAT_KEYS = (
    _read_together(
        _TYPE,
        STRING,
        "csv",
        "The format of objects: csv (the format plain), jsonl (the format envelope); avro and parquet with "
        "format.output.fields=value and format.output.envelope=false.",
    ),
    _read_together(
        _FIELDS, LIST, None, "The parts of a record to write: key, value, offset, timestamp, headers; value if not set."
    ),
    _read_together(_OLD_FIELDS, LIST, None, "Old name of the same setting."),
    Named("format.output.fields.value.encoding", STRING, "base64").honoured("How csv encodes values: base64 or none."),
    Named(_ENVELOPE, BOOLEAN, True).honoured("Whether the parts of a record are written under their names."),
)
FILE_KEYS = (
    _read_together(
        _TEMPLATE,
        STRING,
        None,
        "The names of objects: {{topic}}-{{partition}}-{{start_offset}} and the compression's suffix if not set. "
        "{{key}} is refused: objects that later ones replace are not a record of a topic.",
    ),
    _read_together(_COMPRESSION, STRING, None, "How objects are compressed: gzip (if not set), zstd or none."),
    _read_together(_OLD_COMPRESSION, STRING, None, "Old name of the same setting."),
    Named("file.max.records", INT, 0, Range.at_least(0)).mapped(
        "Maximum number of records in an object; the end of an interval ends it earlier. (flush.size)",
        lambda value: {"flush.size": value},
    ),
    _read_together(_ZONES[0], STRING, None, "The time zone of {{timestamp}}; UTC if not set."),
    _read_together(_ZONES[1], STRING, None, "Old name of the same setting."),
    _read_together(_SOURCES[0], STRING, None, "The time of {{timestamp}}: wallclock (if not set) or event."),
    _read_together(_SOURCES[1], STRING, None, "Old name of the same setting."),
    Named("file.prefix.template", STRING, None).unneeded("it applies to the source only"),
)
PREFIX_KEYS = (
    _read_together(
        _PREFIX,
        STRING,
        None,
        "The text before {{topic}}-{{partition}}-{{start_offset:padding=true}}. {{utc_date}} and {{local_date}} are "
        "the day on which the object is written; the latter is in the zone of file.name.timestamp.timezone.",
    ),
    _read_together(_OLD_PREFIX, STRING, None, "Old name of the same setting."),
)


def file_settings(config: Mapping[str, str]) -> dict[str, str]:
    """Return format, compression and names. Raises ConfigError naming key, value and remedy."""
    compression = _chosen(config, (_COMPRESSION, _OLD_COMPRESSION), "gzip", tuple(_ENDINGS))
    form = _format(config, compression)
    template = _template(config, form["format"], _ENDINGS[compression])
    settings = {**form, "file.name.template": template}
    if "timestamp" not in template:
        return settings
    source = _chosen(config, _SOURCES, "wallclock", tuple(_EXTRACTORS))
    return {
        **settings,
        "partitioner": "time",
        "path.format": TIME_FOLDERS,
        "partition.duration.ms": str(_HOUR if "HH" in template else _DAY),
        "timestamp.extractor": _EXTRACTORS[source],
        "timezone": _zone(config),
    }


def _format(config: Mapping[str, str], compression: str) -> dict[str, str]:
    kind = config[_TYPE].strip().lower()
    fields = config.get(_FIELDS) or config.get(_OLD_FIELDS) or "value"
    own = {"format.output.fields": fields, "compression.type": compression}
    if kind in ("csv", "jsonl"):
        return {"format": "plain" if kind == "csv" else "envelope", **own}
    if kind not in ("avro", "parquet"):
        text = "there are csv, jsonl, avro and parquet; for arrays of JSON choose jsonl, a line a record"
        raise ConfigError(_TYPE, config[_TYPE], text)
    if fields.strip().lower() != "value" or config[_ENVELOPE].strip().lower() != "false":
        text = f"columns are those of the value: set {_FIELDS} to value and {_ENVELOPE} to false, or choose jsonl"
        raise ConfigError(_TYPE, config[_TYPE], text)
    codecs = {"none": "null", "gzip": "deflate", "zstd": "zstandard"}
    return {"format": kind, "parquet.codec": compression, "avro.codec": codecs[compression]}


def _template(config: Mapping[str, str], form: str, ending: str) -> str:
    ending = f".avro{ending}" if form == "avro" else ending
    prefix = next((key for key in (_PREFIX, _OLD_PREFIX) if config.get(key)), "")
    if prefix:
        given = f"{_dated(config, prefix)}{{{{topic}}}}-{{{{partition}}}}-{{{{start_offset:padding=true}}}}{ending}"
    else:
        given = config.get(_TEMPLATE) or f"{{{{topic}}}}-{{{{partition}}}}-{{{{start_offset}}}}{ending}"
    # The week-based year is read as the calendar year, as this is what users mean.
    return given.replace("YYYY", "yyyy")


def _dated(config: Mapping[str, str], key: str) -> str:
    """Return a prefix whose dates are written as units of time. Raises ConfigError for dates of another time."""
    prefix = config[key]
    found = {date[1] for date in _DATES.finditer(prefix)}
    is_other = _chosen(config, _SOURCES, "wallclock", tuple(_EXTRACTORS)) != "wallclock"
    if found and (is_other or ("utc_date" in found and _zone(config) != "UTC")):
        text = "{{utc_date}} and {{local_date}} are of the wall clock, the former in UTC; use {{timestamp:unit=yyyy}}"
        raise ConfigError(key, prefix, f"{text} and MM, dd for the time of {_ZONES[0]} and {_SOURCES[0]}")
    return _DATES.sub(_DATE, prefix)


def _zone(config: Mapping[str, str]) -> str:
    return next((config[key] for key in _ZONES if config.get(key)), "UTC")


def _chosen(config: Mapping[str, str], keys: tuple[str, str], default: str, known: tuple[str, ...]) -> str:
    key = next((key for key in keys if config.get(key)), keys[0])
    value = (config.get(key) or default).strip().lower()
    if value not in known:
        raise ConfigError(key, config[key], f"use one of {', '.join(known)}")
    return value

"""Selected parts of each record, not only its value: as JSON, or as plain text."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Batch, Data
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, ValidList, ValidString
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.formats.compression import COMPRESSION, COMPRESSION_KEYS, ENDINGS
from connect_core.connectors.filesystem.formats.json.format import JsonLinesFormat
from connect_core.connectors.filesystem.formats.json.values import json_bytes
from connect_core.connectors.filesystem.formats.lines import LineFormat
from connect_core.errors import ConfigError, DataError

__all__ = ["EnvelopeFormat", "PlainFormat"]

_FIELDS = "format.output.fields"
_ENVELOPE = "format.output.envelope"
_ENCODING = "format.output.fields.value.encoding"
_PARTS = ("key", "value", "offset", "timestamp", "headers")
_FIELD_KEYS = ConfigDef().define(
    _FIELDS,
    ConfigType.LIST,
    "value",
    validator=ValidList.one_of(*_PARTS, empty_allowed=False),
    importance=Importance.LOW,
    doc="The parts of a record in files of the formats envelope and plain, in this order.",
)


def _joined_keys(first: ConfigDef, second: ConfigDef) -> ConfigDef:
    joined = ConfigDef(first)
    for key in second.config_keys().values():
        joined.define_key(key)
    return joined


class EnvelopeFormat(JsonLinesFormat):
    """One line of JSON per record: ``{"key": …, "value": …, "offset": 7}``; a single part may be without its name."""

    reader = None
    has_fields = False
    definition = _joined_keys(JsonLinesFormat.definition, _FIELD_KEYS).define(
        _ENVELOPE,
        ConfigType.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether the format envelope writes the parts of a record under their names; false: only the single part.",
    )

    def setup(self, settings: AbstractConfig) -> None:
        """Read the settings. Raises ConfigError for several parts without names."""
        super().setup(settings)
        self._parts = settings.get_list(_FIELDS) or []
        self._named = bool(settings.get_boolean(_ENVELOPE))
        if not self._named and len(self._parts) > 1:
            raise ConfigError(_ENVELOPE, "false", f"{_FIELDS} has several parts; use one, or set this to true")

    def encoded(self, batch: Batch, extras: Extras) -> pa.Array:
        """Return the selected parts as JSON. Raises DataError."""
        makers: Mapping[str, Callable[[], Sequence[Any]]] = {
            "key": lambda: self._values(batch.key),
            "value": lambda: self._values(batch.value),
            "offset": lambda: batch.offset.to_pylist(),
            "timestamp": lambda: [_instant(millis) for millis in batch.timestamp.to_pylist()],
            "headers": lambda: [_listed(headers) for headers in batch.headers or [()] * len(batch)],
        }
        rows = zip(*(makers[part]() for part in self._parts), strict=True)
        if not self._named:
            return pa.array([json_bytes(row[0]) for row in rows], pa.binary())
        return pa.array([json_bytes(dict(zip(self._parts, row, strict=True))) for row in rows], pa.binary())


class PlainFormat(LineFormat):
    """A line of comma-separated parts: keys and values in base64, times in milliseconds, null as an empty text."""

    has_fields = False
    definition = _joined_keys(COMPRESSION_KEYS, _FIELD_KEYS).define(
        _ENCODING,
        ConfigType.STRING,
        "base64",
        validator=ValidString.one_of("base64", "none"),
        importance=Importance.LOW,
        doc="How the format plain encodes values: base64, or none (as they are).",
    )

    @property
    def extension(self) -> str:
        """``csv``, with the ending of the compression."""
        return f"csv{ENDINGS[self.codec]}"

    def setup(self, settings: AbstractConfig) -> None:
        """Read the settings."""
        self.codec = settings.get_string(COMPRESSION) or "none"
        self._parts = settings.get_list(_FIELDS) or []
        self._is_encoded = settings.get_string(_ENCODING) == "base64"

    def encoded(self, batch: Batch, extras: Extras) -> pa.Array:
        """Return the lines. Raises DataError for keys, values and headers that are neither bytes nor texts."""
        makers: Mapping[str, Callable[[], Sequence[bytes]]] = {
            "key": lambda: [base64.b64encode(key) for key in _bytes(batch.key, "key")],
            "value": lambda: self._encoded(_bytes(batch.value, "value")),
            "offset": lambda: [str(offset).encode() for offset in batch.offset.to_pylist()],
            "timestamp": lambda: [b"" if at is None else str(at).encode() for at in batch.timestamp.to_pylist()],
            "headers": lambda: [_joined(headers) for headers in batch.headers or [()] * len(batch)],
        }
        rows = zip(*(makers[part]() for part in self._parts), strict=True)
        return pa.array([b",".join(row) for row in rows], pa.binary())

    def _encoded(self, values: Sequence[bytes]) -> Sequence[bytes]:
        return [base64.b64encode(value) for value in values] if self._is_encoded else values


def _instant(millis: int | None) -> str | None:
    if millis is None:
        return None
    try:
        moment = datetime.fromtimestamp(millis // 1000, UTC).replace(microsecond=millis % 1000 * 1000)
    except (ValueError, OverflowError, OSError) as error:
        raise DataError(f"the timestamp {millis} is outside the years 1 to 9999 that JSON supports") from error
    return moment.isoformat(timespec="milliseconds" if millis % 1000 else "seconds").replace("+00:00", "Z")


def _listed(headers: Iterable[Any]) -> list[dict[str, Any]]:
    return [{"key": header.key, "value": header.value} for header in headers]


def _joined(headers: Iterable[Any]) -> bytes:
    pairs = ((header.key.encode(), _plain(header.value, "header")) for header in headers)
    return b"".join(base64.b64encode(key) + b":" + base64.b64encode(value) + b";" for key, value in pairs)


def _bytes(data: Data, what: str) -> list[bytes]:
    return [_plain(value, what) for value in data.to_objects().values]


def _plain(value: Any, what: str) -> bytes:
    if value is None:
        return b""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes | memoryview):
        return bytes(value)
    text = f"the {what} is neither bytes nor a string, which the format plain needs; set {what}.converter to"
    raise DataError(f"{text} ByteArrayConverter, or choose another format")

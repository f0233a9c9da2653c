"""Whole JSON messages to schema and value: envelope, bare payload, or plain.

A strict parser is used if its result is provably the same as Jackson's, otherwise
the exact one. Connect: ``JsonConverter.toConnectData``.
"""

from __future__ import annotations

import math
from typing import Any

import orjson

from connect_core.api.data import Schema, SchemaAndValue
from connect_core.converters.bounded_cache import BoundedCache
from connect_core.converters.json.config import JsonSettings
from connect_core.converters.json.read.numbers import InexactError
from connect_core.converters.json.read.parser import MISSING, exact_fraction, parse_json
from connect_core.converters.json.read.schemas import schema_of
from connect_core.converters.json.read.values import Read, reader, schemaless
from connect_core.errors import DataError, SerializationError
from connect_core.java.numbers import wrap

__all__ = ["JsonReader", "has_special_numbers", "is_modest", "is_plain", "parse", "parse_exactly", "parse_schemaless"]

_UNREADABLE = "Converting byte[] to Kafka Connect data failed due to serialization error: "
_BAD_CONTENT = "Failed to parse schema in converter config due to serialization error: "
_NO_ENVELOPE = (
    'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain additional fields.'
    " If you are trying to deserialize plain JSON data, set schemas.enable=false in your converter configuration."
)
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19
_NEGATIVE_ZEROS = (b":-0", b",-0", b"[-0", b" -0", b"\t-0", b"\n-0", b"\r-0")
_MARKS = (b'{"schema":', b',"payload":')


class JsonReader:
    """Reads messages with one converter's settings."""

    def __init__(self, settings: JsonSettings) -> None:
        self._settings = settings
        self._known: BoundedCache[bytes, tuple[Schema | None, Read]] = BoundedCache(settings.cache_size)
        self._prefix = b""
        self._content = None
        if settings.schema_content is not None:
            node = _parse(settings.schema_content.encode(), _BAD_CONTENT)
            self._content = self._compile(None if node is MISSING else node)

    @property
    def is_schemaless(self) -> bool:
        """Whether messages are plain JSON."""
        return not self._settings.schemas_enabled

    @property
    def replace_nulls(self) -> bool:
        """Whether a null is replaced by the default if there is one."""
        return self._settings.replace_nulls

    def read(self, data: bytes) -> SchemaAndValue:
        """Return schema and value. Raise DataError for anything but such a message."""
        if not self._settings.schemas_enabled:
            return SchemaAndValue(None, parse_schemaless(data))
        if self._content is not None:
            schema, read = self._content
            return SchemaAndValue(schema, _read(data, read))
        known = self._known.get(self._prefix) if data.startswith(self._prefix) and self._prefix else None
        if known is not None and data.endswith(b"}"):
            payload = data[len(self._prefix) : -1]
            try:
                if is_modest(payload):
                    return SchemaAndValue(known[0], known[1](orjson.loads(payload)))
            except (orjson.JSONDecodeError, InexactError):
                pass
        return self._read_envelope(data)

    def split(self, data: bytes) -> tuple[bytes, Schema | None] | None:
        """Return the bytes before the payload and their schema, if the schema precedes the payload.

        Any message that starts with these bytes, ends with ``}`` and has one
        JSON value between is an envelope with this schema. Without bytes, the schema
        is a setting, and messages are bare payloads.
        """
        self.read(data)
        if self._content is not None:
            return b"", self._content[0]
        known = self._known.get(self._prefix) if data.startswith(self._prefix) and self._prefix else None
        return None if known is None else (self._prefix, known[0])

    def _read_envelope(self, data: bytes) -> SchemaAndValue:
        try:
            return self._envelope(data, parse(data))
        except InexactError:
            return self._envelope(data, _parse(data, _UNREADABLE))

    def _envelope(self, data: bytes, node: Any) -> SchemaAndValue:
        if type(node) is not dict or node.keys() != {"schema", "payload"}:
            raise DataError(_NO_ENVELOPE)
        schema, read = self._compile(node["schema"])
        value = read(node["payload"])
        self._remember(data, node["schema"], (schema, read))
        return SchemaAndValue(schema, value)

    def _remember(self, data: bytes, node: Any, compiled: tuple[Schema | None, Read]) -> None:
        start, end = _MARKS
        at = data.find(end)
        while data.startswith(start) and at > 0:
            if _same_json(data[len(start) : at], node):
                self._prefix = data[: at + len(end)]
                self._known.put(self._prefix, compiled)
                return
            at = data.find(end, at + 1)

    def _compile(self, node: Any) -> tuple[Schema | None, Read]:
        schema = schema_of(node, self._settings.replace_nulls)
        return (None, schemaless) if schema is None else (schema, reader(schema, self._settings.replace_nulls))


def parse_schemaless(data: bytes) -> Any:
    """Return a message as schemaless data. Raise DataError if it is not JSON."""
    try:
        node = orjson.loads(data)
    except orjson.JSONDecodeError:
        node = MISSING
    if node is not MISSING and (is_plain(data) or (is_modest(data) and _is_exact(node))):
        return node
    exact = _parse(data, _UNREADABLE, _whole, _double)
    return None if exact is MISSING else exact


def parse(data: bytes) -> Any:
    """Return a message as nodes, with floats that may have lost digits. Raise DataError if it is not JSON."""
    if is_modest(data):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError:
            pass
    return _parse(data, _UNREADABLE)


def parse_exactly(data: bytes) -> Any:
    """Return a message as nodes with all digits of its numbers. Raise DataError if it is not JSON."""
    return _parse(data, _UNREADABLE)


def is_modest(data: bytes) -> bool:
    """Return whether a text is certainly within Jackson's limits on depth and length of numbers."""
    if len(data) < 1000:
        return True
    return data.count(b"[") + data.count(b"{") < 1000 and b"0" * 300 not in data.translate(_DIGITS)


def is_plain(data: bytes) -> bool:
    """Return whether a strict parser gives the same result as Jackson: no special numbers, within limits."""
    return not has_special_numbers(data) and is_modest(data)


def has_special_numbers(data: bytes) -> bool:
    """Return whether a text may contain a number beyond 64 bits or a negative zero."""
    if data.startswith(b"-0") or _LONG_NUMBER in data.translate(_DIGITS):
        return True
    return b"-0" in data and any(mark in data for mark in _NEGATIVE_ZEROS)


def _is_exact(node: Any) -> bool:
    """Whether all parsed numbers equal Java's; only for data that is not nested."""
    kind = type(node)
    if kind is dict:
        return all(map(_is_exact_value, node.values()))
    return all(map(_is_exact_value, node)) if kind is list else _is_exact_value(node)


def _is_exact_value(node: Any) -> bool:
    kind = type(node)
    if kind is int:
        return bool(node < 1 << 63)
    if kind is float:
        return bool(abs(node) < 1e15 and (node != 0 or math.copysign(1, node) > 0))
    return kind is not dict and kind is not list


def _parse(data: bytes, problem: str, *numbers: Any) -> Any:
    try:
        return parse_json(data, *numbers)
    except DataError as error:
        raise DataError(problem) from SerializationError(str(error))


def _read(data: bytes, read: Read) -> Any:
    try:
        return read(parse(data))
    except InexactError:
        return read(_parse(data, _UNREADABLE))


def _whole(text: str) -> int:
    return wrap(int(text), 64)


def _double(text: str) -> float:
    return float(exact_fraction(text))


def _same_json(data: bytes, node: Any) -> bool:
    try:
        return bool(orjson.loads(data) == node)
    except orjson.JSONDecodeError:
        return False

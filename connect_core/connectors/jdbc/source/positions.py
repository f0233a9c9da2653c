"""The position of a stream: the values of its order, in offsets compatible with Connect's JDBC source.

``{"incrementing": 17, "timestamp": 1700000000123, "timestamp_nanos": 123456000}``,
with ``"key"`` for the primary key that distinguishes rows of one timestamp.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal as PythonDecimal
from enum import Enum
from typing import Any
from uuid import UUID

from connect_core.api.data import Date, Decimal, SchemaType, Time, Timestamp
from connect_core.connectors.jdbc.source.columns import ReadColumn
from connect_core.connectors.jdbc.source.driver_values import in_zone
from connect_core.errors import ConnectError, DataError

__all__ = [
    "INCREMENTING",
    "KEY",
    "TIMESTAMP",
    "TIMESTAMP_NANOS",
    "Order",
    "OrderPart",
    "Position",
    "Role",
    "from_json",
    "plain_key",
    "to_json",
]

INCREMENTING = "incrementing"
TIMESTAMP = "timestamp"
TIMESTAMP_NANOS = "timestamp_nanos"
TIMESTAMP_RAW = "timestamp_raw"
"""The column's own value, given only if milliseconds and nanoseconds would mean another one."""
KEY = "key"

Position = tuple[Any, ...]
"""Values of the order's parts, in the driver's form; fewer values than parts: after all rows that begin with them."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Role(Enum):
    """The role of a part of the order."""

    TIMESTAMP = "timestamp"
    INCREMENTING = "incrementing"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class OrderPart:
    """One expression that rows are ordered by: a column, or the first of several that is not null."""

    role: Role
    columns: tuple[ReadColumn, ...]

    @property
    def column(self) -> ReadColumn:
        """The first column, whose type applies to all."""
        return self.columns[0]


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a stream; ``zone`` is that of timestamps without one."""

    parts: tuple[OrderPart, ...]
    zone: tzinfo
    is_untyped: bool = False
    """Whether the database returns values as they were written (SQLite)."""
    source: str = "the stream"
    """What is ordered, for a message."""

    @property
    def has_timestamp(self) -> bool:
        """Whether timestamps come first."""
        return bool(self.parts) and self.parts[0].role is Role.TIMESTAMP

    @property
    def may_tie(self) -> bool:
        """Whether nothing distinguishes rows of one timestamp."""
        return len(self.parts) == 1 and self.has_timestamp

    def to_offset(self, position: Position) -> dict[str, Any]:
        """Return a position as part of a source offset."""
        offset: dict[str, Any] = {}
        keys: list[Any] = []
        for part, value in zip(self.parts, position, strict=False):
            if part.role is Role.TIMESTAMP:
                offset |= self._timestamp_offset(part, value)
            elif part.role is Role.INCREMENTING:
                offset[INCREMENTING] = int(value)
            else:
                keys.append(plain_key(value))
        return offset | ({KEY: to_json(keys)} if keys else {})

    def from_offset(self, offset: Mapping[str, Any]) -> Position | None:
        """Return the position of an offset, ``None`` if it has none. Raises ConnectError."""
        keys = from_json(offset.get(KEY))
        position: list[Any] = []
        for part in self.parts:
            if part.role is Role.KEY:
                if not keys:
                    break
                position.append(self._key_value(part.column, keys.pop(0)))
                continue
            value = self._leading(part, offset)
            if value is None:
                break
            position.append(value)
        return tuple(position) or None

    def to_text(self, position: Position) -> str:
        """Return a position as a single text."""
        return to_json([plain_key(value) for value in position])

    def from_text(self, text: str) -> Position:
        """Return the position in a text of ``to_text``."""
        return tuple(
            self._key_value(part.column, value) for part, value in zip(self.parts, from_json(text), strict=False)
        )

    def at_millis(self, millis: int) -> Position:
        """Return the position after all rows up to a point in time. The order begins with timestamps."""
        return (self._at_micros(self.parts[0], millis * 1000),)

    def earlier(self, position: Position, seconds: float) -> Position:
        """Return the position that is this many seconds before another one."""
        micros = self._micros(position[0]) - int(seconds * 1_000_000)
        return (self._at_micros(self.parts[0], micros),)

    def _leading(self, part: OrderPart, offset: Mapping[str, Any]) -> Any:
        if part.role is Role.INCREMENTING:
            return _whole(offset, INCREMENTING)
        if offset.get(TIMESTAMP_RAW) is not None:
            return self._key_value(part.column, offset[TIMESTAMP_RAW])
        millis = _whole(offset, TIMESTAMP)
        if millis is None:
            return None
        nanos = _whole(offset, TIMESTAMP_NANOS)
        micros = millis * 1000 if nanos is None else millis // 1000 * 1_000_000 + nanos // 1000
        try:
            return self._at_micros(part, micros)
        except (OverflowError, ValueError) as error:
            raise ConnectError(
                f"The offset's timestamp {millis} of {self.source} is not within the years 1 to 9999; alter the "
                "connector's offset, or reset it"
            ) from error

    def _timestamp_offset(self, part: OrderPart, value: Any) -> dict[str, Any]:
        try:
            micros = self._micros(value)
            is_same = self._at_micros(part, micros) == value
        except (OverflowError, ValueError) as error:
            raise DataError(
                f"{self.source}: value {str(value)!r:.80} of column {' or '.join(one.name for one in part.columns)} is "
                "no time within the years 1 to 9999, so rows cannot be found by it; correct these rows"
            ) from error
        offset: dict[str, Any] = {TIMESTAMP: micros // 1000, TIMESTAMP_NANOS: micros % 1_000_000 * 1000}
        if not is_same:
            offset[TIMESTAMP_RAW] = plain_key(value)
        return offset

    def _micros(self, value: Any) -> int:
        if isinstance(value, int | float):
            return int(value) * 1000
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        elif not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        return (in_zone(value, self.zone) - _EPOCH) // _MICROSECOND

    def _at_micros(self, part: OrderPart, micros: int) -> Any:
        moment = _EPOCH + timedelta(microseconds=micros)
        column = part.column
        if column.is_zoned:
            is_aware = bool(getattr(column.type, "timezone", False))
            return moment if is_aware else moment.replace(tzinfo=None)
        local = moment.astimezone(self.zone).replace(tzinfo=None, fold=0)
        if column.schema.name == Date.LOGICAL_NAME:
            return local.date().isoformat() if self.is_untyped else local.date()
        return local.isoformat(" ") if self.is_untyped else local

    def _key_value(self, column: ReadColumn, value: Any) -> Any:
        """Return a value from an offset in the form that the driver accepts."""
        if not isinstance(value, str):
            return value
        if column.schema.type is SchemaType.BYTES and column.schema.name is None:
            return bytes.fromhex(value)
        read = _FROM_TEXT.get(column.schema.name)
        return value if read is None or self.is_untyped else read(value)


_FROM_TEXT: dict[str | None, Any] = {
    Decimal.LOGICAL_NAME: PythonDecimal,
    Date.LOGICAL_NAME: date.fromisoformat,
    Time.LOGICAL_NAME: time.fromisoformat,
    Timestamp.LOGICAL_NAME: datetime.fromisoformat,
}


def plain_key(value: Any) -> Any:
    """Return a driver's value in an exact JSON form."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, PythonDecimal | UUID):
        return str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    return value


def to_json(values: Sequence[Any]) -> str:
    """Return key values as the text in an offset."""
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False)


def from_json(text: Any) -> list[Any]:
    """Return the key values in a text of ``to_json``. Raises ConnectError."""
    if text is None:
        return []
    try:
        values = json.loads(text)
    except (TypeError, ValueError):
        values = None
    if not isinstance(values, list):
        raise ConnectError(f"The offset's key {text!r} is not a JSON list; alter the connector's offset, or reset it")
    return values


def _whole(offset: Mapping[str, Any], name: str) -> int | None:
    value = offset.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise ConnectError(f"The offset's {name} {value!r} is not a whole number; alter the connector's offset")
    return value

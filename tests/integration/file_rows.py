"""Records of every type that files hold, and what each format makes of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

__all__ = ["COLUMNS", "COUNT", "PARTITIONS", "ROWS", "Row", "as_csv", "as_json", "stored_country", "value_of"]

COUNT, PARTITIONS = 48, 3
Row = Mapping[str, Any]

_BEGAN = datetime(2023, 11, 14, 22, 13, 20, 250_000, UTC)
_TEXTS = ['a "quote", comma', "line\nfeed\r\n", "", "Ünï ☃ 𝄞", None, " spaced ", "tab\t\\back", "null"]
_COUNTRIES = ["de", "../../x", "Österreich", "a b=c"]
_DAY_0 = date(1970, 1, 1)

_LOGICAL = {"Decimal": {"scale": "4"}, "Date": {}, "Time": {}, "Timestamp": {}}
_KINDS: Mapping[str, Any] = {
    "n": {"type": "int64"},
    "small": {"type": "int8"},
    "short": {"type": "int16", "optional": True},
    "number": {"type": "int32"},
    "single": {"type": "float"},
    "double": {"type": "double", "optional": True},
    "flag": {"type": "boolean", "optional": True},
    "text": {"type": "string", "optional": True},
    "country": {"type": "string"},
    "data": {"type": "bytes", "optional": True},
    "amount": {"type": "bytes", "name": "Decimal", "optional": True},
    "day": {"type": "int32", "name": "Date"},
    "at": {"type": "int64", "name": "Timestamp"},
    "moment": {"type": "int32", "name": "Time", "optional": True},
    "tags": {"type": "array", "items": {"type": "string", "optional": True}, "optional": True},
    "attrs": {
        "type": "map",
        "keys": {"type": "string"},
        "values": {"type": "int32", "optional": True},
        "optional": True,
    },
    "place": {
        "type": "struct",
        "fields": [{"field": "city", "type": "string"}, {"field": "zip", "type": "int32", "optional": True}],
        "optional": True,
    },
}
COLUMNS = tuple(_KINDS)


def row_of(number: int) -> Row:
    """Return what the record of a number holds, as Python has it; every ninth has nulls wherever they may be."""
    row = {
        "n": 2**53 + number,
        "small": number - 24,
        "short": -(2**15) + number,
        "number": 2**31 - 1 - number,
        "single": number / 4,
        "double": -number / 3,
        "flag": number % 2 == 0,
        "text": _TEXTS[number % len(_TEXTS)],
        "country": _COUNTRIES[number % len(_COUNTRIES)],
        "data": bytes([0, 10, 34, 255, number]),
        "amount": Decimal(number * 10**9 - 7).scaleb(-4),
        "day": _DAY_0 + timedelta(days=number * 1000 - 20_000),
        "at": _BEGAN + timedelta(hours=number // 16 * 13, milliseconds=number),
        "moment": (datetime.min + timedelta(milliseconds=number * 1_799_999)).time(),
        "tags": ["x", None, f'"{number}"'][: number % 4],
        "attrs": {"ä": number, "b": None},
        "place": {"city": f"Bonn\n{number}", "zip": None if number % 2 else number},
    }
    is_bare = number % 9 == 8
    return {name: None if is_bare and _KINDS[name].get("optional") else value for name, value in row.items()}


ROWS = [row_of(number) for number in range(COUNT)]


def value_of(row: Row) -> bytes:
    """Return a record's value as JsonConverter reads it, with its schema."""
    fields = [{"field": name, **_schema(kind)} for name, kind in _KINDS.items()]
    payload = {name: _connect(value) for name, value in row.items()}
    return json.dumps({"schema": {"type": "struct", "fields": fields}, "payload": payload}).encode()


def _schema(kind: Mapping[str, Any]) -> dict[str, Any]:
    name = kind.get("name")
    if name is None:
        return dict(kind)
    logical = {"name": f"org.apache.kafka.connect.data.{name}", "version": 1, "parameters": _LOGICAL[name]}
    return {**kind, **logical}


def _connect(value: Any) -> Any:
    """Return a value as Connect's JsonConverter writes it."""
    if isinstance(value, Decimal):
        unscaled = int(value.scaleb(4))
        value = unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return round((value - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))
    if isinstance(value, date):
        return (value - _DAY_0).days
    if isinstance(value, time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
    return value


def as_json(value: Any) -> Any:
    """Return a value as the format json has it."""
    if isinstance(value, Mapping):
        return {name: as_json(part) for name, part in value.items()}
    if isinstance(value, list):
        return [as_json(part) for part in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.isoformat(timespec="milliseconds")
    return value


def as_csv(row: Row) -> Row:
    """Return a row whose bytes are texts, and whose lists and maps are read from the JSON they are written as."""
    return {name: as_json(value) if isinstance(value, bytes) else value for name, value in row.items()}


def stored_country(country: str) -> str:
    """Return a country as folders name it."""
    return {"../../x": "..%2F..%2Fx", "a b=c": "a b%3Dc"}.get(country, country)

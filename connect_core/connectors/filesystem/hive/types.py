"""Kinds of columns as Hive's types, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from connect_core.connectors.filesystem.columns import Kind
from connect_core.errors import DataError

__all__ = ["hive_type", "kind_of_hive_type"]

_SCALARS = {
    "bool": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "binary",
    str(pa.date32()): "date",
    str(pa.timestamp("ms", "UTC")): "timestamp",
}
_KINDS = {text: kind for kind, text in _SCALARS.items()} | {"integer": "int32"}
_DECIMAL = re.compile(r"decimal(?:128|256)\((\d+), ?(-?\d+)\)\Z")
_HIVE_DECIMAL = re.compile(r"decimal(?:\((\d+)(?:,(\d+))?\))?\Z")
_TEXTS = re.compile(r"(?:varchar|char)\(\d+\)\Z")
_MOST_DIGITS = 38
_NESTED_NAME = re.compile(r"[\w.$ ]+\Z", re.ASCII)


def hive_type(kind: Kind) -> str:
    """Return the type of a column in a table. Raises DataError for one that Hive does not have."""
    if isinstance(kind, str):
        return _SCALARS.get(kind) or _decimal(kind)
    if kind[0] == "list":
        return f"array<{hive_type(kind[1])}>"
    if kind[0] == "map":
        return f"map<{_key(kind[1])},{hive_type(kind[2])}>"
    return f"struct<{','.join(f'{_name(name)}:{hive_type(part)}' for name, part in kind[1])}>"


def kind_of_hive_type(text: str) -> Kind:
    """Return the kind of a table's column. Raises DataError for a type that no exported file has."""
    text = text.strip().lower()
    head, bracket, inner = text.partition("<")
    if not bracket:
        return _scalar(text)
    parts = list(_parts(inner.removesuffix(">")))
    if head == "array" and len(parts) == 1:
        return "list", kind_of_hive_type(parts[0])
    if head == "map" and len(parts) == 2:
        return "map", kind_of_hive_type(parts[0]), kind_of_hive_type(parts[1])
    if head == "struct":
        fields = (part.partition(":") for part in parts)
        return "struct", tuple((name.strip(), kind_of_hive_type(kind)) for name, _, kind in fields)
    raise _unknown(text)


def _decimal(kind: str) -> str:
    found = _DECIMAL.match(kind)
    if found is None:
        raise DataError(f"Hive has no type for {kind}; cast it with a transform, to a timestamp or an integer")
    precision, scale = int(found[1]), int(found[2])
    if precision > _MOST_DIGITS or not 0 <= scale <= precision:
        text = f"Hive's decimals have at most {_MOST_DIGITS} digits and a scale from 0 to that"
        raise DataError(f"{text}, and this is {kind}; cast it with a transform")
    return f"decimal({precision},{scale})"


def _key(kind: Kind) -> str:
    if not isinstance(kind, str):
        raise DataError("keys of Hive's maps are scalars; change the map with a transform")
    return hive_type(kind)


def _name(name: str) -> str:
    if not _NESTED_NAME.match(name):
        raise DataError(f"the name {name!r} cannot be a field of Hive's structs; rename it with a transform")
    return name


def _scalar(text: str) -> Kind:
    if text in _KINDS:
        return _KINDS[text]
    if _TEXTS.match(text):
        return "string"
    found = _HIVE_DECIMAL.match(text.replace(" ", ""))
    if found is None:
        raise _unknown(text)
    return f"decimal128({found[1] or 10}, {found[2] or 0})"


def _parts(text: str) -> Iterator[str]:
    """Yield the parts between the commas that are not within brackets."""
    depth, begin = 0, 0
    for at, char in enumerate(text):
        depth += (char in "<(") - (char in ">)")
        if char == "," and depth == 0:
            yield text[begin:at]
            begin = at + 1
    yield text[begin:]


def _unknown(text: Any) -> DataError:
    return DataError(f"the table's type {text} is not one of exported files")

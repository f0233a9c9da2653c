"""Converts kinds of columns to Avro's schema."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pyarrow as pa

from connect_core.connectors.filesystem.columns import ColumnKinds, Kind, to_type

__all__ = ["avro_schema"]

_SCALARS: dict[str, Any] = {
    "null": "null",
    "bool": "boolean",
    "int8": "int",
    "int16": "int",
    "int32": "int",
    "int64": "long",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "bytes",
    str(pa.date32()): {"type": "int", "logicalType": "date"},
    str(pa.time32("ms")): {"type": "int", "logicalType": "time-millis"},
    str(pa.timestamp("ms", "UTC")): {"type": "long", "logicalType": "timestamp-millis"},
}


def avro_schema(columns: ColumnKinds) -> dict[str, Any]:
    """Return the schema of records of these columns; each is nullable, with null as default."""
    return _record(columns, count())


def _record(columns: ColumnKinds, numbers: Iterator[int]) -> dict[str, Any]:
    # Names of records must be unique within a file: those of nested ones are numbered.
    number = next(numbers)
    fields = [{"name": name, "type": _optional(kind, numbers), "default": None} for name, kind in columns]
    return {"type": "record", "name": f"record_{number}" if number else "record", "fields": fields}


def _optional(kind: Kind, numbers: Iterator[int]) -> Any:
    return "null" if kind == "null" else ["null", _type(kind, numbers)]


def _type(kind: Kind, numbers: Iterator[int]) -> Any:
    if isinstance(kind, str):
        return _SCALARS[kind] if kind in _SCALARS else _decimal(to_type(kind))
    if kind[0] == "list":
        return {"type": "array", "items": _optional(kind[1], numbers)}
    if kind[0] == "struct":
        return _record(kind[1], numbers)
    if kind[1] == "string":
        return {"type": "map", "values": _optional(kind[2], numbers)}
    return {"type": "array", "items": _record((("key", kind[1]), ("value", kind[2])), numbers)}


def _decimal(kind: pa.DataType) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": kind.precision, "scale": kind.scale}

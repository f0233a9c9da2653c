"""Checks of the data that transforms get. Connect: ``Requirements``."""

from __future__ import annotations

from typing import Any

from connect_core.api.data import Schema, Struct
from connect_core.api.records import ConnectRecord, SinkRecord
from connect_core.errors import DataError

__all__ = [
    "require_map",
    "require_map_or_null",
    "require_schema",
    "require_sink_record",
    "require_struct",
    "require_struct_or_null",
]


def require_schema(schema: Schema | None, purpose: str) -> Schema:
    """Return the schema. Raise DataError if there is none."""
    if schema is None:
        raise DataError(f"Schema required for [{purpose}]")
    return schema


def require_map(value: Any, purpose: str) -> dict[Any, Any]:
    """Return a map. Raise DataError for anything else."""
    if isinstance(value, dict):
        return value
    raise DataError(f"Only Map objects supported in absence of schema for [{purpose}], found: {_class_name(value)}")


def require_map_or_null(value: Any, purpose: str) -> dict[Any, Any] | None:
    """Return a map or ``None``. Raise DataError for anything else."""
    return None if value is None else require_map(value, purpose)


def require_struct(value: Any, purpose: str) -> Struct:
    """Return a struct. Raise DataError for anything else."""
    if isinstance(value, Struct):
        return value
    raise DataError(f"Only Struct objects supported for [{purpose}], found: {_class_name(value)}")


def require_struct_or_null(value: Any, purpose: str) -> Struct | None:
    """Return a struct or ``None``. Raise DataError for anything else."""
    return None if value is None else require_struct(value, purpose)


def require_sink_record(record: ConnectRecord, purpose: str) -> SinkRecord:
    """Return a sink record. Raise DataError for another kind."""
    if isinstance(record, SinkRecord):
        return record
    raise DataError(f"Only SinkRecord supported for [{purpose}], found: {_class_name(record)}")


def _class_name(value: Any) -> str:
    return "null" if value is None else type(value).__name__

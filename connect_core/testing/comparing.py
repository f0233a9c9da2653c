"""Converts plugin data to plain facts for comparison: equal facts mean equal data of equal types."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from connect_core.api.data import Schema, SchemaType, Struct
from connect_core.api.headers import Headers
from connect_core.api.records import ConnectRecord

__all__ = ["facts", "record_facts", "records_facts"]


def facts(value: Any, schema: Schema | None = None) -> Any:
    """Return a value as tuples in which 1, 1.0 and True differ, and NaN equals NaN.

    Without a schema the width of a number counts too, as only its type shows it.
    """
    if isinstance(value, Struct):
        fields = zip(value.schema.fields, value.values, strict=True)
        return "struct", value.schema, tuple(facts(item, field.schema) for field, item in fields)
    if isinstance(value, Mapping):
        sides = (schema.key_schema, schema.value_schema) if schema and schema.type is SchemaType.MAP else (None, None)
        return "map", tuple((facts(key, sides[0]), facts(item, sides[1])) for key, item in value.items())
    if isinstance(value, list | tuple):
        item_schema = schema.value_schema if schema and schema.type is SchemaType.ARRAY else None
        return "array", tuple(facts(item, item_schema) for item in value)
    if isinstance(value, Headers):
        return "headers", tuple((one.key, one.schema, facts(one.value, one.schema)) for one in value)
    return _scalar(value, schema)


def record_facts(record: ConnectRecord, without: Collection[str] = ()) -> dict[str, Any]:
    """Return every field of a record as facts, except those in ``without``."""
    names = [field.name for field in dataclasses.fields(record) if field.name not in without]
    found = {name: getattr(record, name) for name in names if name.endswith("_schema")}
    return {name: found.get(name) or facts(getattr(record, name), found.get(f"{name}_schema")) for name in names}


def records_facts(records: Iterable[ConnectRecord], without: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return the facts of each record."""
    return [record_facts(record, without) for record in records]


def _scalar(value: Any, schema: Schema | None) -> tuple[str, Any]:
    if isinstance(value, bytes | bytearray | memoryview):
        return "bytes", bytes(value)
    if schema is not None and isinstance(value, int | float):
        plain = next(kind for kind in (bool, int, float) if isinstance(value, kind))
        return plain.__name__, repr(plain(value))
    return type(value).__name__, repr(value)

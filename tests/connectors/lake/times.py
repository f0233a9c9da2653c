"""Rows with a time that tables cannot hold, in each place where one may be."""

from __future__ import annotations

from typing import Any

from connect_core.api import SchemaBuilder, Struct
from connect_core.api.data import INT32_SCHEMA, Date, Instant, Schema, Timestamp

__all__ = ["PLACES", "beyond_the_calendar"]

PLACES = ("at", "day", "all", "inner")


def beyond_the_calendar(place: str) -> tuple[Schema, list[Struct]]:
    """Return a schema and three rows, numbered in ``id``; the second has a time before the year 1 or after 9999."""
    inner = SchemaBuilder.struct().field("at", Timestamp.SCHEMA).build()
    parts: dict[str, tuple[Schema, Any, Any]] = {
        "at": (Timestamp.SCHEMA, Instant(0), Instant(253_402_300_800_000)),
        "day": (Date.SCHEMA, Instant(0), Instant(-86_400_000 * 719_163)),
        "all": (SchemaBuilder.array(Timestamp.SCHEMA).build(), [], [Instant(-62_135_596_800_001)]),
        "inner": (inner, Struct(inner).put("at", Instant(0)), Struct(inner).put("at", Instant(10**15))),
    }
    schema, good, bad = parts[place]
    row = SchemaBuilder.struct().field("id", INT32_SCHEMA).field(place, schema).build()
    return row, [Struct(row).put("id", number).put(place, value) for number, value in enumerate((good, bad, good))]

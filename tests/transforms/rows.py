"""A struct schema with a nested and a defaulted field, and rows of it."""

from __future__ import annotations

from connect_core.api.data import INT32_SCHEMA, INT64_SCHEMA, OPTIONAL_INT64_SCHEMA, SchemaBuilder, Struct

__all__ = ["DEFAULTED", "SCHEMA", "row"]

INNER = SchemaBuilder.struct().field("x", OPTIONAL_INT64_SCHEMA).optional().build()
DEFAULTED = INT32_SCHEMA.replace(optional=True, default=7)
SCHEMA = SchemaBuilder.struct().name("row").field("a", INT64_SCHEMA).field("n", INNER).field("d", DEFAULTED).build()


def row(a: int, x: int | None = None, inner: bool = True, d: int | None = None) -> Struct:
    """Return a row; ``x`` is the nested field, absent with its struct if not ``inner``."""
    nested = Struct(INNER).put("x", x) if inner else None
    return Struct.of_values(SCHEMA, [a, nested, d])

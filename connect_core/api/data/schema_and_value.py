"""A value together with its schema."""

from __future__ import annotations

from typing import Any

from connect_core.api.data.schema import Schema
from connect_core.api.data.validation import normalize
from connect_core.java.equality import hash_value, same_value

__all__ = ["SchemaAndValue"]


class SchemaAndValue:
    """A schema (``None``: schemaless) and a value; dates become Instants. Treat as immutable."""

    __slots__ = ("schema", "value")

    def __init__(self, schema: Schema | None, value: Any) -> None:
        self.schema = schema
        self.value = value if schema is None else normalize(schema, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SchemaAndValue):
            return False
        return self.schema == other.schema and same_value(self.value, other.value)

    def __hash__(self) -> int:
        return hash((self.schema, hash_value(self.value)))

    def __repr__(self) -> str:
        return f"SchemaAndValue{{schema={self.schema}, value={self.value}}}"

"""Avro schemas as immutable values, with names resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

__all__ = ["ABSENT", "ANYTHING", "NULL", "AvroField", "AvroKind", "AvroType", "Json", "optional_of"]

Json = Any


class AvroKind(Enum):
    """A kind of schema; the value is Avro's name for it. ANYTHING is Connect's record for schemaless values."""

    NULL = "null"
    BOOLEAN = "boolean"
    INT = "int"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    BYTES = "bytes"
    STRING = "string"
    RECORD = "record"
    ENUM = "enum"
    FIXED = "fixed"
    ARRAY = "array"
    MAP = "map"
    UNION = "union"
    ANYTHING = "anything"

    # Members are compared by identity; the default hash of Enum runs Python code.
    __hash__ = object.__hash__


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""Marks a missing default, because null is a valid default."""


@dataclass(frozen=True, slots=True)
class AvroField:
    """A field of a record; ``default`` is JSON or ABSENT."""

    name: str
    type: AvroType
    default: Json = ABSENT
    doc: str | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class AvroType:
    """A schema; compared by identity, and shared by all references to its name.

    name: full name of a record, enum or fixed; props: properties that Avro does not define;
    items: of an array, or a map's values; size: number of bytes of a fixed.
    """

    kind: AvroKind
    name: str | None = None
    doc: str | None = None
    props: Mapping[str, Json] = field(default_factory=dict)
    fields: tuple[AvroField, ...] = ()
    items: AvroType | None = None
    branches: tuple[AvroType, ...] = ()
    symbols: tuple[str, ...] = ()
    default_symbol: str | None = None
    size: int = 0

    @property
    def parts(self) -> tuple[AvroType, ...]:
        """The schemas it consists of."""
        inner = () if self.items is None else (self.items,)
        return (*(one.type for one in self.fields), *inner, *self.branches)

    def part(self) -> AvroType:
        """Return the schema of an array's items or a map's values."""
        assert self.items is not None
        return self.items


NULL = AvroType(AvroKind.NULL)
ANYTHING = AvroType(AvroKind.ANYTHING)


def optional_of(union: AvroType) -> tuple[int, int] | None:
    """Return the positions of null and of the other branch if a union has exactly these two, else ``None``."""
    if union.kind is not AvroKind.UNION or len(union.branches) != 2:
        return None
    nulls = [one.kind is AvroKind.NULL for one in union.branches]
    return (nulls.index(True), nulls.index(False)) if any(nulls) and not all(nulls) else None

"""Types of columns found in data, and their common types.

A ``Kind`` is a hashable value: the name of a scalar type, ``("list", kind)``, ``("map", key, value)`` or ``("struct",
((name, kind), …))``. ``"null"`` is the kind of only nulls: merged with any other, it gives the other. Kinds form a
semilattice: in whatever order they are merged, the result has the same types.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeAlias

import pyarrow as pa

from connect_core.errors import DataError

__all__ = [
    "ColumnKinds",
    "Kind",
    "KindConflict",
    "check_levels",
    "columns_of_texts",
    "field_names",
    "kind_of_array",
    "kind_of_type",
    "kind_parts",
    "merge_columns",
    "merge_kinds",
    "most_of",
    "stored",
    "texts_of_columns",
    "to_kind",
    "to_text",
    "to_type",
    "with_shared",
]

Kind: TypeAlias = str | tuple[Any, ...]
ColumnKinds: TypeAlias = tuple[tuple[str, Kind], ...]
"""Columns in order; hashable."""

_INTEGERS = ("int8", "int16", "int32", "int64")
_FLOATS = ("float", "double")
_TYPES: dict[str, pa.DataType] = {
    str(kind): kind
    for kind in (
        pa.null(),
        pa.bool_(),
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.float32(),
        pa.float64(),
        pa.string(),
        pa.binary(),
        pa.date32(),
        pa.time32("ms"),
        pa.timestamp("ms", "UTC"),
    )
}
_MOST_LEVELS = 90
"""Readers of Parquet refuse a schema of more than 100; a list or a map is two."""
_DECIMALS = {"decimal128": (38, pa.decimal128), "decimal256": (76, pa.decimal256)}


class KindConflict(DataError):
    """One field has values of types without a common type."""

    def __init__(self, field: str, first: Kind, second: Kind) -> None:
        super().__init__(f"field {field} holds {_shown(second)} where {_shown(first)} is stored")
        self.field, self.first, self.second = field, first, second


def kind_of_type(kind: pa.DataType) -> Kind:
    """Return the kind of a declared type. Raises DataError for a type that no Connect schema has."""
    if pa.types.is_struct(kind):
        return "struct", tuple((field.name, kind_of_type(field.type)) for field in kind.fields)
    if pa.types.is_list(kind):
        return "list", kind_of_type(kind.value_type)
    if pa.types.is_map(kind):
        return "map", kind_of_type(kind.key_type), kind_of_type(kind.item_type)
    if pa.types.is_dictionary(kind):
        return kind_of_type(kind.value_type)
    text = str(kind).removeprefix("large_")
    if text not in _TYPES and not pa.types.is_decimal(kind):
        raise DataError(f"a column of Arrow's type {kind} cannot be stored; cast it first")
    return text


def kind_of_array(array: pa.Array) -> Kind:
    """Return the kind of schemaless values, whatever the type of their nulls."""
    if array.null_count == len(array):
        return "null"
    if pa.types.is_struct(array.type):
        children = zip(array.type.names, array.flatten(), strict=True)
        return "struct", tuple((name, kind_of_array(child)) for name, child in children)
    if pa.types.is_list(array.type):
        return "list", kind_of_array(array.flatten())
    return kind_of_type(array.type)


@lru_cache(maxsize=4096)
def to_type(kind: Kind) -> pa.DataType:
    """Return the Arrow type of a kind; every field may be null."""
    if isinstance(kind, str):
        return _TYPES.get(kind) or _decimal_type(kind)
    if kind[0] == "list":
        return pa.list_(to_type(kind[1]))
    if kind[0] == "map":
        return pa.map_(to_type(kind[1]), to_type(kind[2]))
    return pa.struct([pa.field(name, to_type(part)) for name, part in kind[1]])


@lru_cache(maxsize=4096)
def merge_columns(first: ColumnKinds, second: ColumnKinds) -> ColumnKinds:
    """Return the columns of both, those of ``first`` first. Raises KindConflict."""
    return _merge_fields(first, second, "")


def merge_kinds(first: Kind, second: Kind, field: str = "") -> Kind:
    """Return the kind that can hold the values of both. Raises KindConflict."""
    if first == second or second == "null":
        return first
    if first == "null":
        return second
    if isinstance(first, tuple) and isinstance(second, tuple) and first[0] == second[0]:
        return _merge_nested(first, second, field)
    merged = _merge_scalars(first, second) if isinstance(first, str) and isinstance(second, str) else None
    if merged is None:
        raise KindConflict(field, first, second)
    return merged


def most_of(kind: pa.DataType) -> Decimal:
    """Return the number that is too large for a decimal type, as are all above it."""
    return Decimal(1).scaleb(kind.precision - kind.scale)


def stored(columns: ColumnKinds) -> ColumnKinds:
    """Return the columns that have a type; those with only nulls are left out."""
    known = ((name, _known(kind)) for name, kind in columns)
    return tuple((name, kind) for name, kind in known if kind is not None)


def with_shared(own: ColumnKinds, shared: ColumnKinds) -> ColumnKinds:
    """Return the columns of both, or only ``own`` if they conflict."""
    try:
        return merge_columns(own, shared)
    except KindConflict:
        return own


def check_levels(columns: ColumnKinds) -> None:
    """Raise DataError for a column that is nested too deeply for readers."""
    for name, kind in columns:
        waiting: list[tuple[Kind, int]] = [(kind, 1)]
        while waiting:
            part, level = waiting.pop()
            if level > _MOST_LEVELS:
                raise DataError(f"field {name} is nested too deeply: columns have at most {_MOST_LEVELS} levels")
            if not isinstance(part, str):
                inner = [one for _, one in part[1]] if part[0] == "struct" else part[1:]
                waiting += [(one, level + (1 if part[0] == "struct" else 2)) for one in inner]


def to_text(kind: Kind) -> str:
    """Return a kind as text: Arrow's name, or JSON if it has parts."""
    return kind if isinstance(kind, str) else json.dumps(kind, separators=(",", ":"), ensure_ascii=False)


def to_kind(text: str) -> Kind:
    """Return the kind in a text of ``to_text``."""
    return _frozen(json.loads(text)) if text.startswith("[") else text


def columns_of_texts(texts: Iterable[Sequence[str]]) -> ColumnKinds:
    """Return columns from their texts."""
    return tuple((name, to_kind(text)) for name, text in texts)


def texts_of_columns(columns: ColumnKinds) -> list[list[str]]:
    """Return columns as texts; see ``columns_of_texts``."""
    return [[name, to_text(kind)] for name, kind in columns]


def kind_parts(kind: Kind) -> Iterator[str]:
    """Return the scalar kinds a kind is made of."""
    if isinstance(kind, str):
        yield kind
    elif kind[0] == "struct":
        for _, part in kind[1]:
            yield from kind_parts(part)
    else:
        for part in kind[1:]:
            yield from kind_parts(part)


def field_names(columns: ColumnKinds) -> Iterator[str]:
    """Return the names of columns and of all fields in them."""
    for name, kind in columns:
        yield name
        for part in () if isinstance(kind, str) else kind[1:]:
            yield from field_names(part if kind[0] == "struct" else (("value", part),))


def _merge_nested(first: tuple[Any, ...], second: tuple[Any, ...], field: str) -> Kind:
    if first[0] == "struct":
        return "struct", _merge_fields(first[1], second[1], f"{field}.")
    parts = zip(first[1:], second[1:], strict=True)
    return first[0], *(merge_kinds(one, other, f"{field}[]") for one, other in parts)


def _merge_fields(first: ColumnKinds, second: ColumnKinds, prefix: str) -> ColumnKinds:
    merged = dict(first)
    for name, kind in second:
        merged[name] = merge_kinds(merged[name], kind, f"{prefix}{name}") if name in merged else kind
    return tuple(merged.items())


def _merge_scalars(first: str, second: str) -> str | None:
    pair = (first, second)
    if all(kind in _INTEGERS for kind in pair):
        return max(pair, key=_INTEGERS.index)
    if all(kind in _INTEGERS or kind in _FLOATS for kind in pair):
        return "double"
    if all(kind.startswith("decimal") for kind in pair):
        return max(pair, key=lambda kind: (kind.partition("(")[0], to_type(kind).scale))
    return None


def _decimal_type(kind: str) -> pa.DataType:
    name, _, numbers = kind.partition("(")
    _, make = _DECIMALS[name]
    return make(*map(int, numbers.rstrip(")").split(",")))


def _known(kind: Kind) -> Kind | None:
    if isinstance(kind, str):
        return None if kind == "null" else kind
    if kind[0] == "struct":
        fields = stored(kind[1])
        return ("struct", fields) if fields else None
    parts = [_known(part) for part in kind[1:]]
    return None if None in parts else (kind[0], *parts)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _shown(kind: Kind) -> str:
    return kind if isinstance(kind, str) else f"a {kind[0]}"

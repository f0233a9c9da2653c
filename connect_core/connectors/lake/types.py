"""Types of a table's columns, and how new rows may widen them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from connect_core.connectors.filesystem.rows import VALUE
from connect_core.errors import DataError

__all__ = ["Evolution", "creatable", "merged_schema", "plain_field", "plain_type", "table_type"]

_PLAIN: Mapping[pa.DataType, pa.DataType] = {
    pa.int8(): pa.int32(),
    pa.int16(): pa.int32(),
    pa.large_string(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.time32("ms"): pa.time64("us"),
    pa.timestamp("ms", "UTC"): pa.timestamp("us", "UTC"),
}
_REMEDY = "rename it or leave it out, by the transform ReplaceField"
_WIDER = {(pa.int32(), pa.int64()), (pa.float32(), pa.float64())}


@dataclass(frozen=True, slots=True)
class Evolution:
    """How written rows may change a table's columns."""

    adds: bool
    """Columns and nested fields may be added."""
    ignores_case: bool = False
    widens: bool = True
    """Columns may also be widened and made optional."""
    creates: bool = False
    """The table is yet to be created: a column that no row may lack is required."""
    takes_case: bool = True
    """Names of columns may differ in case alone."""
    takes_empty: bool = True
    """The name of a column may be empty."""


def table_type(found: pa.DataType) -> pa.DataType:
    """Return the type that both table formats have for a type of rows. Raises DataError."""
    if pa.types.is_struct(found):
        return pa.struct([pa.field(part.name, table_type(part.type), part.nullable) for part in found.fields])
    if pa.types.is_list(found) or pa.types.is_large_list(found):
        return pa.list_(found.value_field.with_type(table_type(found.value_type)).with_name("element"))
    if pa.types.is_map(found):
        return pa.map_(table_type(found.key_type), found.item_field.with_type(table_type(found.item_type)))
    if pa.types.is_decimal256(found):
        if found.precision > 38 and found.scale > 38:
            raise DataError(f"a decimal of scale {found.scale} has more digits than a table's 38")
        return pa.decimal128(38, found.scale)
    return _PLAIN.get(found, found)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return a type in the form that rows have: strings, binaries and lists are neither large nor views."""
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_struct(kind):
        return pa.struct([plain_field(part) for part in kind.fields])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(plain_field(kind.value_field))
    if pa.types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_field(kind.item_field))
    return kind


def plain_field(part: pa.Field) -> pa.Field:
    """Return a field with its type in the form that rows have."""
    return pa.field(part.name, plain_type(part.type), part.nullable)


def creatable(columns: pa.Schema) -> pa.Schema:
    """Return the columns with which a table is created: one whose type no row has told is of text."""
    return pa.schema([part.with_type(pa.string()) if pa.types.is_null(part.type) else part for part in columns])


def merged_schema(table: pa.Schema, found: pa.Schema, evolution: Evolution) -> pa.Schema:
    """Return the table's columns extended by those of the rows, by name; nullable if the rows lack one.

    While no row has a column with a type, there is one of Arrow's type of nulls, which the first others replace.

    Raises DataError for fields with names that the table cannot have, or that are one column in it.
    """
    if evolution.ignores_case:
        _ensure_distinct(list(found), "")
    standing, new = list(table), _typed(found)
    if not standing and not new:
        return pa.schema([pa.field(VALUE, pa.null())])
    if new and len(standing) == 1 and pa.types.is_null(standing[0].type):
        # Rows without any column are held: they lack the new columns too.
        standing, evolution = [], replace(evolution, creates=False)
    return pa.schema(_merged(standing, new, evolution, ""))


def _typed(fields: Iterable[pa.Field]) -> list[pa.Field]:
    """Return fields without those, and without parts of them, that have held nothing but nulls and empty lists."""
    known = []
    for part in fields:
        kind = part.type
        if pa.types.is_nested(kind):
            typed = _typed_part(kind)
            known += [] if typed is None else [part.with_type(typed)]
        elif not pa.types.is_null(kind):
            known.append(part)
    return known


def _typed_part(kind: pa.DataType) -> pa.DataType | None:
    if pa.types.is_struct(kind):
        fields = _typed(kind.fields)
        return pa.struct(fields) if fields else None
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = _typed_part(kind.value_type)
        return None if inner is None else pa.list_(kind.value_field.with_type(inner))
    if pa.types.is_map(kind):
        inner = _typed_part(kind.item_type)
        return None if inner is None else pa.map_(kind.key_type, kind.item_field.with_type(inner))
    return None if pa.types.is_null(kind) else kind


def _merged(table: Iterable[pa.Field], found: Iterable[pa.Field], evolution: Evolution, path: str) -> list[pa.Field]:
    merged = {_key(part.name, evolution): part for part in table}
    present = {_key(part.name, evolution): part for part in found}
    if not evolution.adds:
        return list(merged.values())
    added = [part for key, part in present.items() if key not in merged]
    if added:
        _ensure_possible(added, list(merged.values()), evolution, path)
    for key, part in present.items():
        existing = merged.get(key)
        if existing is None:
            merged[key] = pa.field(part.name, table_type(part.type), part.nullable or not evolution.creates)
        else:
            wider = existing.with_type(_wider(existing.type, part.type, evolution, f"{path}{part.name}"))
            merged[key] = wider.with_nullable(existing.nullable or (evolution.widens and part.nullable))
    for key in merged.keys() - present.keys() if evolution.widens else ():
        merged[key] = merged[key].with_nullable(True)
    return list(merged.values())


def _wider(table: pa.DataType, found: pa.DataType, evolution: Evolution, path: str) -> pa.DataType:
    evolution = replace(evolution, creates=False)
    if pa.types.is_struct(table) and pa.types.is_struct(found):
        return pa.struct(_merged(table.fields, found.fields, evolution, f"{path}."))
    if pa.types.is_list(table) and pa.types.is_list(found):
        inner = table.value_field
        return pa.list_(inner.with_type(_wider(inner.type, found.value_type, evolution, f"{path}[]")))
    if pa.types.is_map(table) and pa.types.is_map(found):
        inner = table.item_field
        return pa.map_(table.key_type, inner.with_type(_wider(inner.type, found.item_type, evolution, f"{path}[]")))
    wanted = table_type(found)
    return wanted if evolution.widens and (table, wanted) in _WIDER else table


def _ensure_possible(added: list[pa.Field], table: list[pa.Field], evolution: Evolution, path: str) -> None:
    """Raise DataError for new fields whose names, or names within them, the table cannot have beside its own."""
    if not evolution.takes_empty:
        _ensure_named(added, path)
    if not evolution.takes_case:
        _ensure_distinct([*table, *added], path)


def _ensure_named(fields: Iterable[pa.Field], path: str) -> None:
    for part in fields:
        if not part.name:
            where = f"field {path.removesuffix('.')} has a field" if path else "the value has a field"
            raise DataError(f"{where} whose name is empty, which no column of the table may have; {_REMEDY}")
        for inner, place in _inner(part, path):
            _ensure_named(inner, place)


def _ensure_distinct(fields: Iterable[pa.Field], path: str) -> None:
    seen: dict[str, str] = {}
    for part in fields:
        other = seen.setdefault(part.name.lower(), part.name)
        if other != part.name:
            both = f"fields {path}{other} and {path}{part.name}"
            raise DataError(f"{both} would be one column, as the case of its name is ignored; {_REMEDY}")
        for inner, place in _inner(part, path):
            _ensure_distinct(inner, place)


def _inner(part: pa.Field, path: str) -> Iterator[tuple[Iterable[pa.Field], str]]:
    """Yield the fields of each struct that a field is, or is a list or map of, with the path before their names."""
    waiting = [(part.type, f"{path}{part.name}")]
    while waiting:
        kind, place = waiting.pop()
        if pa.types.is_struct(kind):
            yield kind.fields, f"{place}."
        elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
            waiting.append((kind.value_type, f"{place}[]"))
        elif pa.types.is_map(kind):
            waiting += [(kind.key_type, f"{place} (key)"), (kind.item_type, f"{place}[]")]


def _key(name: str, evolution: Evolution) -> str:
    return name.lower() if evolution.ignores_case else name

"""The columns that a table has of the files' columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from connect_core.connectors.filesystem.columns import ColumnKinds, Kind, KindConflict, merge_columns
from connect_core.connectors.filesystem.hive.stored_as import StoredAs
from connect_core.connectors.filesystem.hive.types import hive_type
from connect_core.errors import DataError

__all__ = ["ensure_readable", "table_columns", "united"]

_UNUSABLE = re.compile(r"[,`\x00-\x1f\x7f]")


def united(files: Sequence[ColumnKinds], stored_as: StoredAs) -> ColumnKinds:
    """Return the columns of all files, as the format stores them. Raises DataError where types conflict."""
    merged: ColumnKinds = ()
    for columns in dict.fromkeys(files):
        kinds = tuple((name, stored_as.kind(kind)) for name, kind in columns)
        if stored_as.is_positional:
            merged = _longer(merged, kinds)
            continue
        try:
            merged = merge_columns(merged, kinds)
        except KindConflict as conflict:
            text = "a table has one type per column: cast the field with a transform"
            raise DataError(f"{conflict} in other files of the interval; {text}") from conflict
    for columns in dict.fromkeys(files):
        ensure_readable(columns, merged, stored_as)
    return merged


def ensure_readable(files: ColumnKinds, table: ColumnKinds, stored_as: StoredAs) -> None:
    """Raise DataError if readers do not take a column of files for the table's type."""
    kinds = dict(table)
    for name, kind in () if stored_as.takes_longs_for_floats else files:
        if name in kinds and _has_longs_for_floats(kind, kinds[name]):
            raise DataError(
                f"column {name} has 64-bit integers in some files and floats in others: Spark reads no such column of "
                f"{stored_as.name} files"
            )


def table_columns(columns: ColumnKinds, keys: Sequence[str], stored_as: StoredAs) -> ColumnKinds:
    """Return the columns of a table: in lower case, without those that folders stand for.

    Raises DataError for a name or a type that a table cannot have.
    """
    found: dict[str, Kind] = {}
    for name, kind in _lowered(columns, ""):
        if name in keys and stored_as.is_positional:
            raise DataError(f"column {name} has the name of a folder; rename it, as Hive finds CSV columns by position")
        if name in keys:
            continue
        if _UNUSABLE.search(name):
            raise DataError(f"column {name!r} cannot be one of Hive's tables; rename it with a transform")
        try:
            hive_type(kind)
        except DataError as error:
            raise DataError(f"column {name}: {error}") from error
        found[name] = kind
    if columns and not found:
        raise DataError("no column is left for the table: add fields that are not in the folders' names")
    return tuple(found.items())


def _has_longs_for_floats(files: Kind, table: Kind) -> bool:
    if isinstance(files, str) or isinstance(table, str):
        return files == "int64" and table in ("float", "double")
    if files[0] == "struct":
        kinds = dict(table[1])
        return any(name in kinds and _has_longs_for_floats(kind, kinds[name]) for name, kind in files[1])
    return any(map(_has_longs_for_floats, files[1:], table[1:]))


def _longer(first: ColumnKinds, second: ColumnKinds) -> ColumnKinds:
    shorter, longer = sorted((first, second), key=len)
    if longer[: len(shorter)] != shorter:
        names = " and ".join(", ".join(name for name, _ in columns) for columns in (first, second))
        raise DataError(f"Hive finds CSV columns by position, and files have {names}; use another format")
    return longer


def _lowered(columns: ColumnKinds, place: str) -> ColumnKinds:
    """Return columns with names in lower case, as Hive has them. Raises DataError if two become one."""
    found: dict[str, Kind] = {}
    for name, kind in columns:
        lowered = name.lower()
        if lowered in found:
            raise DataError(f"column {place}{name} occurs twice for Hive, which knows no capitals; rename one")
        found[lowered] = _lowered_kind(kind, f"{place}{name}.")
    return tuple(found.items())


def _lowered_kind(kind: Kind, place: str) -> Kind:
    if isinstance(kind, str):
        return kind
    if kind[0] == "struct":
        return "struct", _lowered(kind[1], place)
    return kind[0], *(_lowered_kind(part, place) for part in kind[1:])

"""The largest integers and decimals in rows, which decide whether their columns can still become others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.connectors.filesystem.casting import entries
from connect_core.connectors.filesystem.columns import ColumnKinds, Kind, most_of, to_type
from connect_core.errors import DataError

__all__ = ["Bounds", "changes", "named", "scalars_of"]

Place: TypeAlias = tuple[str, ...]
"""A column, and the fields in it down to a number; an item of a list is ``[]``."""

_NONE = {"min": None, "max": None}
_EXACT = 2**53
"""Up to which size a float64 holds every integer."""


@dataclass(slots=True)
class Bounds:
    """The number furthest from zero, by its place."""

    _largest: dict[Place, int | Decimal] = field(default_factory=dict)

    def add(self, name: str, kind: Kind, column: pa.Array | pa.ChunkedArray) -> None:
        """Take a column's numbers into account."""
        for place, part, numbers in scalars_of((name,), kind, column):
            ends = pc.min_max(numbers).as_py() if part.startswith(("int", "decimal")) else _NONE
            if ends["min"] is not None:
                found = max(ends.values(), key=_size)
                self._largest[place] = max(self._largest.get(place, found), found, key=_size)

    def check(self, columns: ColumnKinds) -> None:
        """Raise DataError if one of the numbers does not fit its column."""
        for place, kind in _places(columns, ()) if self._largest else ():
            found = self._largest.get(place)
            if found is not None and not _fits(found, kind):
                number = f"{found:f}" if isinstance(found, Decimal) else found
                text = f"would become {kind}, which cannot hold {number} of an earlier record"
                raise DataError(f"field {named(place)} {text}")


def named(place: Place) -> str:
    """Return a place as in error messages: ``a.b[]``."""
    return ".".join(place).replace(".[]", "[]")


def changes(before: ColumnKinds, after: ColumnKinds) -> bool:
    """Return whether a column that there was before is another one after."""
    kinds = dict(after)
    return any(kinds.get(name) != kind for name, kind in before)


def _fits(number: int | Decimal, kind: str) -> bool:
    if isinstance(number, int):
        return kind != "double" or abs(number) <= _EXACT
    return not kind.startswith("decimal") or _size(number) < most_of(to_type(kind))


def _size(number: int | Decimal) -> int | Decimal:
    # Python's abs rounds a Decimal to 28 digits.
    return number.copy_abs() if isinstance(number, Decimal) else abs(number)


def scalars_of(
    place: Place, kind: Kind, column: pa.Array | pa.ChunkedArray
) -> Iterator[tuple[Place, str, pa.Array | pa.ChunkedArray]]:
    """Return the scalars in a column that are not all null, with their places and kinds."""
    if pa.types.is_null(column.type):
        return
    if not isinstance(kind, str):
        for name, part, inner in _inner(kind, column):
            yield from scalars_of((*place, name), part, inner)
    else:
        yield place, kind, column


def _inner(kind: Kind, column: pa.Array | pa.ChunkedArray) -> Iterator[tuple[str, Kind, pa.Array]]:
    if kind[0] == "struct":
        for (name, part), inner in zip(kind[1], column.flatten(), strict=True):
            yield name, part, inner
    elif kind[0] == "list":
        yield "[]", kind[1], pc.list_flatten(column)
    else:
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            yield from zip(("key", "value"), kind[1:], entries(chunk), strict=True)


def _places(columns: Iterable[tuple[str, Kind]], place: Place) -> Iterator[tuple[Place, str]]:
    """Return the scalars of columns."""
    for name, kind in columns:
        here = (*place, name)
        if isinstance(kind, str):
            yield here, kind
        elif kind[0] == "struct":
            yield from _places(kind[1], here)
        elif kind[0] == "list":
            yield from _places([("[]", kind[1])], here)
        else:
            yield from _places([("key", kind[1]), ("value", kind[2])], here)

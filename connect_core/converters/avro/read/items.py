"""Readers of columns of lists and maps: the first items of all rows, then the second ones, and so on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connect_core.api.arrow import to_arrow_type
from connect_core.api.data import Schema
from connect_core.converters.avro.read.bodies import ITEMS_A_ROUND, Bodies, Positions, Unreadable

__all__ = ["list_reader", "map_reader"]

Read = Callable[[Bodies, Positions], tuple[pa.Array, Positions]]
_ROUNDS = 64
"""A long list among short ones is left to the record lane."""


def list_reader(schema: Schema, read_item: Read) -> Read:
    """Return a reader of lists. It raises Unreadable for lists in several blocks."""
    kind = to_arrow_type(schema)

    def read(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
        counts, items, at = _read_items(bodies, at, read_item)
        return pa.ListArray.from_arrays(_offsets(counts), items, type=kind), at

    return read


def map_reader(schema: Schema, read_entry: Read) -> Read:
    """Return a reader of maps. It raises Unreadable for maps in several blocks, and if a key occurs twice."""
    kind = to_arrow_type(schema)

    def read(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
        counts, entries, at = _read_items(bodies, at, read_entry)
        keys, items = entries.flatten()
        _check_keys(counts, keys)
        if pa.types.is_map(kind):
            return pa.MapArray.from_arrays(_offsets(counts), keys, items, type=kind), at
        whole = pa.StructArray.from_arrays([keys, items], fields=list(kind.value_type))
        return pa.ListArray.from_arrays(_offsets(counts), whole, type=kind), at

    return read


def _offsets(counts: Positions) -> pa.Array:
    return pa.array(np.concatenate(([0], np.cumsum(counts))), pa.int32())


def _check_keys(counts: Positions, keys: pa.Array) -> None:
    if pa.types.is_nested(keys.type):
        raise Unreadable("keys with parts")
    if not len(keys) or counts.max() < 2:
        return
    encoded = keys.dictionary_encode()
    number = len(encoded.dictionary)
    codes = encoded.indices.fill_null(number).to_numpy(zero_copy_only=False).astype(np.int64)
    rows = np.repeat(np.arange(len(counts)), counts)
    if len(np.unique(rows * (number + 1) + codes)) < len(keys):
        raise Unreadable("a key occurs twice in a map")


def _read_items(bodies: Bodies, at: Positions, read_item: Read) -> tuple[Positions, pa.Array, Positions]:
    """Return the number of items in each row, all items, and the ends of the rows' lists."""
    counts, at = _counts(bodies, at)
    total, rounds = int(counts.sum()), int(counts.max(initial=0))
    bodies.expect_items(total, rounds)
    if rounds > _ROUNDS and rounds * ITEMS_A_ROUND > total:
        raise Unreadable("a list much longer than the others")
    firsts = np.cumsum(counts) - counts
    chunks, places = [], []
    for number in range(max(rounds, 1)):
        rows = np.flatnonzero(counts > number)
        items, at[rows] = read_item(bodies, at[rows])
        chunks.append(items)
        places.append(firsts[rows] + number)
    _check_ends(bodies, at, counts > 0)
    return counts, _ordered(chunks, np.concatenate(places)), at


def _counts(bodies: Bodies, at: Positions) -> tuple[Positions, Positions]:
    counts, at = bodies.longs(at)
    if len(counts) and (counts.min() < -bodies.size or counts.max() > bodies.size):
        raise Unreadable("more items than bytes")
    sized = counts < 0
    if sized.any():
        _, at[sized] = bodies.longs(at[sized])
    return np.abs(counts), at


def _check_ends(bodies: Bodies, at: Positions, begun: npt.NDArray[np.bool_]) -> None:
    ends, at[begun] = bodies.longs(at[begun])
    if ends.any():
        raise Unreadable("a list in several blocks")


def _ordered(chunks: list[pa.Array], places: Positions) -> pa.Array:
    """Return the items row by row."""
    items = pa.concat_arrays(chunks)
    if len(chunks) == 1:
        return items
    order = np.empty(len(places), np.int64)
    order[places] = np.arange(len(places))
    return items.take(pa.array(order))

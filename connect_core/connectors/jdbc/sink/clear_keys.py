"""Which keys a database considers equal to no other one of a batch, however it compares them.

A collation may ignore case, accents, spaces or signs, and a type may round or have several forms of a value: a
tombstone for such a key also deletes the row of the other, so the two must not change places.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from connect_core.connectors.jdbc.catalog import Column, Table

__all__ = ["rows_with_clear_keys"]

Codes = npt.NDArray[np.int64]
_EXACT = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_date, pa.types.is_binary, pa.types.is_decimal)
_IGNORED = r"[\p{M}\p{P}\p{Z}\p{S}\p{C}]+"
"""Marks, punctuation, spaces and signs: some collations ignore them."""
_ASCII = r"^[\x00-\x7f]*$"
_LATIN = r"[\x{80}-\x{24f}\x{1e00}-\x{1eff}]"
"""Letters such as \u00e6 and \u00f8, which some collations compare as letters of ASCII."""
_OTHER = "\u4e00"
"""Stands for all texts of other scripts: which of them are equal is not known here."""


def rows_with_clear_keys(keys: pa.Table, table: Table) -> pa.Array:
    """Return for each row whether no other key of the batch may be equal to its own in the database."""
    arrays = [keys[name].combine_chunks() for name in keys.column_names]
    folded = [_folded(array, table.column(name)) for name, array in zip(keys.column_names, arrays, strict=True)]
    known = [fold for fold in folded if fold is not None]
    if len(known) < len(folded):
        return pa.repeat(False, keys.num_rows)
    if all(fold is array for fold, array in zip(known, arrays, strict=True)):
        return pa.repeat(True, keys.num_rows)
    groups, distinct = _codes(known), _codes(arrays)
    pairs = np.unique(np.stack([groups, distinct]), axis=1)
    return pa.array(np.bincount(pairs[0], minlength=1)[groups] == 1)


def _folded(array: pa.Array, column: Column | None) -> pa.Array | None:
    """Return values that are equal wherever a database may take two keys as equal; ``None`` if they are not known."""
    kind = array.type
    if any(is_kind(kind) for is_kind in _EXACT):
        return array
    if column is None or not (pa.types.is_string(kind) and isinstance(column.type, sa.String | sa.Uuid)):
        return None
    plain = pc.utf8_lower(pc.utf8_normalize(array, "NFKD"))
    bare = pc.replace_substring_regex(pc.replace_substring(plain, "\u00df", "ss"), _IGNORED, "")
    if pc.any(pc.match_substring_regex(bare, _LATIN)).as_py():
        return None
    return pc.if_else(pc.match_substring_regex(bare, _ASCII), bare, _OTHER)


def _codes(arrays: Sequence[pa.Array]) -> Codes:
    """Return a number for each row, equal where all values are."""
    codes: Codes = np.zeros(len(arrays[0]), np.int64)
    for array in arrays:
        part = array.dictionary_encode("encode").indices.to_numpy(zero_copy_only=False).astype(np.int64)
        # Numbered anew each time, so that they stay small.
        codes = np.unique(codes * (int(part.max(initial=0)) + 1) + part, return_inverse=True)[1].reshape(-1)
    return codes

"""The payloads of a batch as texts, without their schema envelopes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["Texts", "bare_texts", "payload_texts", "texts_of"]


@dataclass(frozen=True, slots=True)
class Texts:
    """UTF-8 texts, none of which is null."""

    rows: pa.StringArray

    def matches(self, pattern: str) -> pa.BooleanArray:
        """Return for each row whether ``pattern`` matches all of it. Raise ComputeError if the pattern is too big."""
        return pl.Series(self.rows).str.contains(f"^(?:{pattern})$").to_arrow()

    def contains(self, character: bytes) -> bool:
        """Return whether any row contains the byte."""
        _, cuts, text = self.rows.buffers()
        first, last = np.frombuffer(cuts, np.int32, len(self.rows) + 1, 4 * self.rows.offset)[[0, -1]].tolist()
        return text is not None and character in text.slice(first, last - first).to_pybytes()

    def lines(self) -> bytes:
        """Return all rows, with a line feed between each two."""
        count = pa.array([0, len(self.rows)], pa.int32())
        joined: bytes = pc.binary_join(pa.ListArray.from_arrays(count, self.rows), "\n")[0].as_buffer().to_pybytes()
        return joined

    def are_modest(self) -> bool:
        """Return whether every row is certainly within Jackson's limits on depth and length of numbers."""
        series = pl.Series(self.rows)
        deepest = series.str.count_matches(r"[\[{]").max()
        return isinstance(deepest, int) and deepest < 1000 and not series.str.contains("[0-9]{300}").any()

    def row(self, place: int) -> bytes:
        """Return the bytes of one row."""
        value: bytes = self.rows[place].as_buffer().to_pybytes()
        return value


def texts_of(values: pa.BinaryArray) -> Texts | None:
    """Return values without nulls as texts, or ``None`` if they are not UTF-8."""
    try:
        return Texts(values.cast(pa.string()))
    except pa.ArrowInvalid:
        return None


def payload_texts(values: pa.BinaryArray, prefix: bytes, wrap: bool) -> Texts | None:
    """Return the payloads of envelopes if all start with ``prefix``, else ``None``.

    ``wrap`` makes each payload the only member, named ``v``, of an object.
    """
    if not (
        pc.all(pc.starts_with(values, pattern=prefix)).as_py() and pc.all(pc.ends_with(values, pattern=b"}")).as_py()
    ):
        return None
    return bare_texts(pc.binary_slice(values, len(prefix), -1), wrap)


def bare_texts(payload: pa.BinaryArray, wrap: bool) -> Texts | None:
    """Return payloads without nulls as texts; ``wrap`` makes each the member ``v`` of an object."""
    if not wrap:
        return texts_of(payload)
    before, after, nothing = (pa.scalar(part, pa.binary()) for part in (b'{"v":', b"}", b""))
    return texts_of(pc.binary_join_element_wise(before, payload, after, nothing))

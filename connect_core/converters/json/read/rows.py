"""The payloads of a batch as lines of text, without the schema envelope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["Lines", "lines_of", "payload_lines"]


@dataclass(frozen=True, slots=True)
class Lines:
    """UTF-8 texts, each ended by a line feed: whole, and cut into rows."""

    text: pa.Buffer
    rows: pa.StringArray

    def matches(self, pattern: str) -> pa.BooleanArray:
        """Return for each row whether all of it matches ``pattern``. Raise ComputeError for too big a one."""
        return pl.Series(self.rows).str.contains(f"^(?:{pattern})\n$").to_arrow()

    def contains(self, character: bytes) -> bool:
        """Return whether any row holds the byte."""
        return character in memoryview(self.text).tobytes()

    def are_modest(self) -> bool:
        """Return whether every row is surely within Jackson's limits on depth and length of numbers."""
        series = pl.Series(self.rows)
        deepest = series.str.count_matches(r"[\[{]").max()
        return isinstance(deepest, int) and deepest < 1000 and not series.str.contains("[0-9]{300}").any()

    def row(self, place: int) -> bytes:
        """Return one row without its line feed."""
        value: bytes = self.rows[place].as_buffer().to_pybytes()[:-1]
        return value


def lines_of(values: Sequence[bytes]) -> Lines | None:
    """Return texts as lines, or ``None`` if they are not UTF-8."""
    text = b"\n".join([*values, b""])
    offsets = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(np.fromiter(map(len, values), dtype=np.int32, count=len(values)) + 1, out=offsets[1:])
    return _checked(pa.py_buffer(offsets), pa.py_buffer(text), len(values))


def payload_lines(values: Sequence[bytes], prefix: bytes, wrap: bool) -> Lines | None:
    """Return the payloads of envelopes that all start with ``prefix``, else ``None``.

    ``wrap`` makes each the only member, named ``v``, of an object.
    """
    whole = pa.array(values, pa.binary())
    if not (
        pc.all(pc.starts_with(whole, pattern=prefix)).as_py() and pc.all(pc.ends_with(whole, pattern=b"}")).as_py()
    ):
        return None
    payload = pc.binary_slice(whole, len(prefix), -1)
    before, after = (b'{"v":', b"}\n") if wrap else (b"", b"\n")
    parts = [pa.scalar(part, pa.binary()) for part in (before, after, b"")]
    lines = pc.binary_join_element_wise(parts[0], payload, parts[1], parts[2])
    _, offsets, text = lines.buffers()
    return _checked(offsets, text, len(values))


def _checked(offsets: pa.Buffer, text: pa.Buffer, length: int) -> Lines | None:
    rows = pa.StringArray.from_buffers(length, offsets, text)
    try:
        rows.validate(full=True)
    except pa.ArrowInvalid:
        return None
    return Lines(text, rows)

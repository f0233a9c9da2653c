"""Values read from memory addresses: as numpy words and as one Arrow column."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from connect_core.kafka.memory import Addresses, WordReader, binary_column, words_from

Values = st.lists(st.one_of(st.none(), st.binary(max_size=30), st.just(b"x" * 3000)), max_size=40)


def places(values: pa.LargeBinaryArray) -> tuple[Addresses, Addresses]:
    """Return where each value is in memory, and its length; 0 for a null."""
    cuts = np.frombuffer(values.buffers()[1], np.int64, len(values) + 1)
    data = values.buffers()[2]
    starts = (cuts[:-1] + (data.address if data is not None else 8)).astype(np.uint64)
    starts[values.is_null().to_numpy(zero_copy_only=False)] = 0
    return starts, np.diff(cuts).astype(np.uint64)


@given(Values)
def test_column_holds_the_bytes_at_each_address(values: list[bytes | None]) -> None:
    source = pa.array(values, pa.large_binary())
    column = binary_column(*places(source))
    column.validate(full=True)
    assert column.type == pa.binary()
    assert column.to_pylist() == values


def test_column_is_a_copy() -> None:
    source = np.frombuffer(bytearray(b"a" * 20), np.uint8)
    column = binary_column(np.array([source.ctypes.data], np.uint64), np.array([20], np.uint64))
    source[:] = ord("b")
    assert column.to_pylist() == [b"a" * 20]


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), min_size=1, max_size=20))
def test_words_are_those_of_each_structure(rows: list[tuple[int, int]]) -> None:
    table = np.array(rows, np.uint64)
    addresses = (table.ctypes.data + np.arange(len(rows)) * 16).astype(np.uint64)
    read = WordReader(addresses)
    assert read(0).tolist() == table[:, 0].tolist()
    assert read(1).tolist() == table[:, 1].tolist()
    assert [words.tolist() for words in read.pair(0)] == [table[:, 0].tolist(), table[:, 1].tolist()]


def test_words_can_be_written_where_they_are() -> None:
    memory = np.zeros(3, np.uint64)
    words_from(memory.ctypes.data, 2)[:] = 7, 2**64 - 1
    assert memory.tolist() == [7, 2**64 - 1, 0]


def test_short_values_at_every_place_of_a_word() -> None:
    memory = np.arange(1, 41, dtype=np.uint8)
    starts, lengths = (part.ravel() for part in np.meshgrid(np.arange(16), np.arange(14)))
    column = binary_column(np.uint64(memory.ctypes.data) + starts.astype(np.uint64), lengths.astype(np.uint64))
    column.validate(full=True)
    expected = [memory.tobytes()[start : start + length] for start, length in zip(starts, lengths, strict=True)]
    assert column.to_pylist() == expected


def test_nothing_is_read_behind_the_page_of_a_value() -> None:
    """A read beyond it would end the process."""
    length = 2 * mmap.PAGESIZE
    pages = mmap.mmap(-1, length)
    memory = np.frombuffer(pages, np.uint8)
    memory[:] = ord("x")
    address = memory.ctypes.data
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    assert protect(ctypes.c_void_p(address + mmap.PAGESIZE), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    lengths = np.arange(14, dtype=np.uint64)
    column = binary_column(np.uint64(address + mmap.PAGESIZE) - lengths, lengths)
    assert column.to_pylist() == [b"x" * length for length in range(14)]

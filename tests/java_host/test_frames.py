"""Frames come out of a pipe as they went in."""

from __future__ import annotations

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.java_host.frames import Frame, read_frame, write_frame

JSON = st.dictionaries(st.text(max_size=5), st.integers(-(2**53), 2**53) | st.text() | st.none(), max_size=4)


@given(header=JSON, buffers=st.lists(st.binary(max_size=70_000), max_size=4))
def test_a_frame_comes_back(header: dict[str, object], buffers: list[bytes]) -> None:
    read, write = os.pipe()
    try:
        thread = threading.Thread(target=write_frame, args=(write, header, buffers))
        thread.start()
        frame = read_frame(read)
        thread.join()
    finally:
        os.close(read)
        os.close(write)
    assert frame.header == header
    assert [buffer.to_pybytes() for buffer in frame.buffers] == buffers


def test_the_end_in_the_middle_is_an_end() -> None:
    read, write = os.pipe()
    os.write(write, b"\x05\x00\x00\x00")
    os.close(write)
    with pytest.raises(EOFError):
        read_frame(read)
    os.close(read)


def test_buffers_are_iterated_in_order() -> None:
    assert list(Frame({}, [b"a", b"b"]).iterate()) == [b"a", b"b"]

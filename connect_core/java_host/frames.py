"""Frames, the messages on the pipes: a JSON header and any number of buffers."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import pyarrow as pa

__all__ = ["Frame", "read_frame", "write_frame"]

_ALIGNMENT = 8
_PADDING = bytes(_ALIGNMENT)
_LARGEST_WRITE = 1 << 20


@dataclass(slots=True)
class Frame:
    """One message; ``buffers`` are bytes-like objects, or Arrow buffers once read."""

    header: dict[str, Any]
    buffers: list[Any] = field(default_factory=list)

    def iterate(self) -> Iterator[Any]:
        """Iterate over the buffers, in the order they were written."""
        return iter(self.buffers)


def write_frame(descriptor: int, header: Mapping[str, Any], buffers: Sequence[Any] = ()) -> None:
    """Write a whole frame. Raise OSError when the other side has closed the pipe."""
    text = orjson.dumps(header, option=orjson.OPT_NON_STR_KEYS)
    views = [memoryview(buffer).cast("B") for buffer in buffers]
    start = struct.pack(f"<ii{len(views)}q", len(text), len(views), *(view.nbytes for view in views))
    parts: list[Any] = [start + text + _padding(len(text))]
    for view in views:
        parts += [view, _padding(view.nbytes)]
    for part in _joined(parts):
        _write_all(descriptor, part)


def _joined(parts: list[Any]) -> Iterator[Any]:
    """Yield small parts joined, large ones separately: a system call for each costs more than a copy."""
    waiting = bytearray()
    for part in parts:
        if len(part) < 1 << 16:
            waiting += part
            continue
        yield waiting
        yield part
        waiting = bytearray()
    yield waiting


def _write_all(descriptor: int, part: Any) -> None:
    view = memoryview(part)
    while view.nbytes:
        view = view[os.write(descriptor, view[:_LARGEST_WRITE]) :]


def read_frame(descriptor: int) -> Frame:
    """Return the next frame; its buffers share one block of memory. Raise EOFError if the pipe was closed."""
    text_length, count = struct.unpack("<ii", _read(descriptor, 8))
    lengths = struct.unpack(f"<{count}q", _read(descriptor, 8 * count)) if count else ()
    text = _read(descriptor, _padded(text_length))[:text_length]
    block = pa.py_buffer(_read(descriptor, sum(map(_padded, lengths))))
    buffers, at = [], 0
    for length in lengths:
        buffers.append(block.slice(at, length))
        at += _padded(length)
    return Frame(orjson.loads(text), buffers)


def _read(descriptor: int, length: int) -> memoryview:
    block = memoryview(bytearray(length))
    at = 0
    while at < length:
        got = os.readv(descriptor, [block[at:]])
        if not got:
            raise EOFError
        at += got
    return block


def _padded(length: int) -> int:
    return -(-length // _ALIGNMENT) * _ALIGNMENT


def _padding(length: int) -> bytes:
    return _PADDING[: _padded(length) - length]

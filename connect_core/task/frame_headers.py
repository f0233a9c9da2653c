"""Frames of messages that are stored in a record header: put back on reading, moved out on writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.convert import Converter, FrameHeader
from connect_core.kafka.raw_batch import RawBatch, RawHeaders

__all__ = ["moved", "moved_batch", "restored"]


def restored(raw: RawBatch, key: Converter, value: Converter) -> RawBatch:
    """Return a batch whose messages are prefixed with their frames, from the header that the converter names."""
    if raw.headers is None:
        return raw
    keys, values = _restored(raw.headers, raw.key, key), _restored(raw.headers, raw.value, value)
    return raw if keys is raw.key and values is raw.value else replace(raw, key=keys, value=values)


def _restored(headers: Sequence[RawHeaders | None], messages: pa.BinaryArray, converter: Converter) -> pa.BinaryArray:
    header = converter.frame_header
    if header is None:
        return messages
    frames = [_last(one, header.name) for one in headers]
    if not any(frames):
        return messages
    # Null where the message is null: a Kafka null has no schema, whatever its headers contain.
    return pc.binary_join_element_wise(pa.array(frames, messages.type), messages, pa.scalar(b"", messages.type))


def _last(headers: RawHeaders | None, name: str) -> bytes:
    return next((value or b"" for key, value in reversed(headers or ()) if key == name), b"")


def moved(header: FrameHeader | None, message: bytes | None, headers: RawHeaders) -> tuple[bytes | None, RawHeaders]:
    """Return a message and its record's headers, the frame moved to the header that the converter names, if any."""
    if header is None or header.frame_size is None or message is None:
        return message, headers
    size = header.frame_size(message)
    return message[size:], [*headers, (header.name, message[:size])]


def moved_batch(
    converter: Converter, messages: pa.Array, headers: Sequence[RawHeaders] | None
) -> tuple[pa.Array, Sequence[RawHeaders] | None]:
    """Return written messages and their records' headers as ``moved`` does."""
    header = converter.frame_header
    if header is None or header.frame_size is None:
        return messages, headers
    rows = [moved(header, message, headers[row] if headers else ()) for row, message in enumerate(messages.to_pylist())]
    return pa.array([message for message, _ in rows], messages.type), [one for _, one in rows]

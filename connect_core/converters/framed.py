"""Batches of messages that name a registered schema: splitting frames from bodies, and joining them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.errors import DataError
from connect_core.schema_registry.frames import Frames
from connect_core.schema_registry.model import RegisteredSchema

__all__ = ["bodies_of", "framed", "only_id", "unreadable"]


def only_id(frames: Frames) -> int | None:
    """Return the id in all messages, ``None`` for several ids, or nulls among them."""
    ids = frames.ids
    return int(ids[0]) if len(ids) and ids[0] >= 0 and bool(np.all(ids == ids[0])) else None


def bodies_of(frames: Frames) -> pa.BinaryArray:
    """Return the bodies of all rows; empty where a row is a Kafka null."""
    starts, ends = frames.starts, frames.ends
    if not len(starts):
        return pa.array([], pa.binary())
    if starts[0] == 0 and ends[-1] == len(frames.data) and bool(np.all(starts[1:] == ends[:-1])):
        return _array(np.append(starts, ends[-1]), frames)
    if bool(np.all(starts[1:] >= ends[:-1])):
        # The bytes between bodies become separate rows, which are left out.
        between = np.empty(2 * len(starts), np.int64)
        between[0::2], between[1::2] = starts, ends
        return _array(between, frames).take(pa.array(np.arange(0, len(between) - 1, 2)))
    data = frames.data.tobytes()
    return pa.array([data[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)], pa.binary())


def _array(offsets: np.ndarray[tuple[int], np.dtype[np.int64]], frames: Frames) -> pa.BinaryArray:
    buffers = [None, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(frames.data)]
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers).cast(pa.binary())


def framed(topic: pa.Array, bodies: pa.Array, frame: Callable[[str], bytes]) -> pa.BinaryArray:
    """Return each body after the frame of its topic, null where a body is.

    topic: string or dictionary, of the same length; frame: called once per topic of a body.
    """
    names = topic if isinstance(topic, pa.DictionaryArray) else topic.dictionary_encode()
    # A frame may register a schema: not under topics whose rows were all filtered out, or are all null.
    used = set(names.indices.filter(bodies.is_valid()).to_pylist())
    frames = [frame(name or "") if place in used else b"" for place, name in enumerate(names.dictionary.to_pylist())]
    column = (
        pa.array(frames, pa.binary()).take(names.indices) if len(frames) != 1 else pa.scalar(frames[0], pa.binary())
    )
    return pc.binary_join_element_wise(column, bodies, pa.scalar(b"", pa.binary()))


@contextmanager
def unreadable(topic: str | None, language: str, registered: RegisteredSchema | None = None) -> Iterator[None]:
    """Add the topic and the schema to the message of a DataError in the block; registry errors are unchanged."""
    try:
        yield
    except (DataError, RecursionError) as error:
        schema = "" if registered is None else f", schema {f'id {registered.id}' if registered.id else registered.guid}"
        text = f"Failed to deserialize data for topic {topic} to {language}{schema}: {error}"
        raise DataError(text) from error

"""Batches of messages to columns, or to objects if they have several schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connect_core.api.arrow import to_python
from connect_core.api.batch import Columns, Objects
from connect_core.api.data import Schema
from connect_core.converters.avro.codec import Codec, Readable
from connect_core.converters.avro.read.bodies import Bodies, Unreadable
from connect_core.converters.avro.read.columns import ColumnReader, read_column
from connect_core.schema_registry.frames import Frames
from connect_core.schema_registry.serde import MessageSchemas

__all__ = ["read_batch"]

Rows = npt.NDArray[np.int64]
_NULL = -1
_FEW = 50
"""Up to this number, rows are read faster one by one than as columns."""


def read_batch(values: pa.BinaryArray, schemas: MessageSchemas, codec: Codec) -> Columns | Objects | None:
    """Return the data of all messages, ``None`` if only records can be read. Raise DataError for a malformed one."""
    frames = schemas.split_batch(values)
    ids = np.unique(frames.ids)
    if not len(ids) or ids[-1] == _NULL:
        return Columns(None, pa.nulls(len(values)))
    readable = {int(id): codec.readable(schemas.schema_of(int(id))) for id in ids if id != _NULL}
    messages = _Messages(frames, Bodies(frames.data))
    if len(ids) > 1:
        return messages.mixed(readable)
    found = readable[int(ids[0])]
    return None if found.columns is None else Columns(found.schema, messages.column(found.columns))


@dataclass(frozen=True, slots=True)
class _Messages:
    frames: Frames
    bodies: Bodies

    def column(self, read: ColumnReader, rows: Rows | None = None) -> pa.Array:
        """Return the values of some rows, by default all."""
        starts, ends = self.frames.starts, self.frames.ends
        return read_column(read, self.bodies, *((starts, ends) if rows is None else (starts[rows], ends[rows])))

    def mixed(self, readable: dict[int, Readable]) -> Columns | Objects:
        """Return values of several schemas: as columns if all have the same Connect schema."""
        rows = {id: np.flatnonzero(self.frames.ids == id) for id in readable}
        known = list(readable.values())
        is_one = all(one.columns is not None and one.schema == known[0].schema for one in known)
        if not is_one or (self.frames.ids == _NULL).any():
            return self._objects(readable, rows)
        arrays = [self.column(one.columns, rows[id]) for id, one in readable.items() if one.columns is not None]
        order = np.empty(len(self.frames.ids), np.int64)
        order[np.concatenate(list(rows.values()))] = np.arange(len(order))
        return Columns(known[0].schema, pa.concat_arrays(arrays).take(pa.array(order)))

    def _objects(self, readable: dict[int, Readable], rows: dict[int, Rows]) -> Objects:
        schemas: list[Schema | None] = [None] * len(self.frames.ids)
        values: list[Any] = [None] * len(self.frames.ids)
        for id, one in readable.items():
            for row, value in zip(rows[id].tolist(), self._values(one, rows[id]), strict=True):
                schemas[row], values[row] = one.schema, value
        return Objects(schemas, values)

    def _values(self, readable: Readable, rows: Rows) -> list[Any]:
        if readable.columns is not None and len(rows) > _FEW:
            try:
                return to_python(readable.schema, self.column(readable.columns, rows))
            except (Unreadable, pa.ArrowException):
                # Values that columns cannot hold are read as records.
                pass
        data, starts, ends = self.frames.data, self.frames.starts, self.frames.ends
        return [readable.read(data[starts[row] : ends[row]].tobytes()) for row in rows.tolist()]

"""Batches of values to messages, all rows at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Columns, Data
from connect_core.converters.avro.codec import Codec
from connect_core.converters.avro.write.columns import write_column
from connect_core.schema_registry.serde import MessageSchemas

__all__ = ["write_batch"]

_TOPICS = 100
"""With more topics, a batch is written faster row by row than topic by topic."""


def write_batch(topic: pa.Array, data: Data, schemas: MessageSchemas, codec: Codec) -> pa.Array | None:
    """Return the messages, ``None`` if only records can be written. Raise DataError for what Avro cannot express."""
    columns = data.to_columns()
    if columns is None:
        return None
    if _is_nothing(columns):
        return pa.nulls(len(columns), pa.binary())
    topics = topic.unique().to_pylist()
    if len(topics) == 1:
        return _written(topics[0] or "", columns, schemas, codec)
    if len(topics) > _TOPICS or None in topics:
        return None
    parts, places = [], []
    for one in topics:
        rows = pc.indices_nonzero(pc.equal(topic, one)).cast(pa.int64())
        part = _written(one or "", columns.take(rows), schemas, codec)
        if part is None:
            return None
        parts.append(part)
        places.append(rows.to_numpy())
    order = np.empty(len(columns), np.int64)
    order[np.concatenate(places)] = np.arange(len(columns))
    return pa.concat_arrays(parts).take(pa.array(order))


def _is_nothing(columns: Columns) -> bool:
    """Whether all rows are Kafka nulls: no schema is registered for them."""
    return columns.array.null_count == len(columns) and (columns.schema is None or columns.schema.optional)


def _written(topic: str, columns: Columns, schemas: MessageSchemas, codec: Codec) -> pa.Array | None:
    schema = columns.schema
    if _is_nothing(columns):
        return pa.nulls(len(columns), pa.binary())
    if schema is None:
        return None
    own = codec.writable(schema)
    frame, registered = schemas.to_write(topic, own.text, own.record_name)
    write = codec.written(schema, own, registered).columns
    return None if write is None else write_column(write, frame, columns.array, schema.optional)

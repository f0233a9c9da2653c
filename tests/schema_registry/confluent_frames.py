"""MessageSchemas over a registry in memory, for tests of a converter alone; written plainly, one message at a time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from connect_core.errors import DataError
from connect_core.schema_registry.frames import Frames
from connect_core.schema_registry.model import RegisteredSchema, SchemaText
from tests.schema_registry.memory import MemoryRegistry

__all__ = ["PlainSchemas"]


class PlainSchemas:
    """Confluent's frames (0, id) with the subject of the topic; every new schema is registered."""

    def __init__(self, registry: MemoryRegistry, is_key: bool = False) -> None:
        self.registry = registry
        self.suffix = "key" if is_key else "value"

    def split(self, message: bytes) -> tuple[RegisteredSchema, memoryview]:
        if len(message) < 5 or message[0] != 0:
            raise DataError("Unknown magic byte!")
        return self.schema_of(int.from_bytes(message[1:5], "big")), memoryview(message)[5:]

    def split_batch(self, messages: pa.BinaryArray) -> Frames:
        ids, starts, ends, data = [], [], [], bytearray()
        for message in messages.to_pylist():
            start = len(data)
            if message is not None:
                if len(message) < 5 or message[0] != 0:
                    raise DataError("Unknown magic byte!")
                data += message[5:]
            ids.append(-1 if message is None else int.from_bytes(message[1:5], "big"))
            starts.append(start)
            ends.append(len(data))
        id_array, start_array, end_array = (np.array(one, np.int64) for one in (ids, starts, ends))
        return Frames(id_array, start_array, end_array, np.frombuffer(bytes(data), np.uint8))

    def schema_of(self, id: int) -> RegisteredSchema:
        return self.registry.by_id(id)

    def to_write(self, topic: str, schema: SchemaText, record_name: str | None) -> tuple[bytes, RegisteredSchema]:
        found = self.registry.register(f"{topic}-{self.suffix}", schema)
        return b"\0" + found.id.to_bytes(4, "big"), found

    def close(self) -> None:
        """Nothing is open."""

"""Wire formats: how a message names its schema."""

from __future__ import annotations

import uuid
import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connect_core.errors import DataError
from connect_core.schema_registry.frames import FIRST_GUID, Frames, messages_of, refuse
from connect_core.schema_registry.model import RegisteredSchema, Registry

__all__ = ["ConfluentCodec", "GlueCodec", "IdCodec", "NumberCodec"]

_GUID = 16
_LARGEST_BODY = 64 << 20


class IdCodec(ABC):
    """A wire format. A wheel adds one by an entry point of the group ``connect_core.schema_registry.id_codecs``.

    A schema's name is a number or, as text, a GUID. Its methods are called from any thread.
    """

    @abstractmethod
    def split(self, message: bytes) -> tuple[int | str, memoryview]:
        """Return the name of a message's schema, and the message's body. Raise DataError for another format."""

    @abstractmethod
    def frame(self, schema: RegisteredSchema, registry: Registry) -> bytes:
        """Return the bytes before a body. Raise SchemaRegistryError if the schema has no such name."""

    def find(self, name: int | str, registry: Registry) -> RegisteredSchema:
        """Return the schema with a name."""
        return registry.by_guid(name) if isinstance(name, str) else registry.by_id(name)

    def split_batch(self, messages: pa.BinaryArray) -> tuple[Frames, Sequence[str]]:
        """Return a batch without names, and its GUIDs: the GUID at ``place`` has the id ``FIRST_GUID + place``.

        Raise DataError if any message is malformed. This implementation splits one message after the other.
        """
        guids: dict[str, int] = {}
        ids, bodies = np.full(len(messages), -1, np.int64), []
        for row, message in enumerate(messages.to_pylist()):
            if message is None:
                bodies.append(b"")
                continue
            name, body = self.split(message)
            ids[row] = FIRST_GUID + guids.setdefault(name, len(guids)) if isinstance(name, str) else name
            bodies.append(bytes(body))
        ends = np.cumsum([len(body) for body in bodies], dtype=np.int64)
        starts = ends - np.array([len(body) for body in bodies], np.int64)
        return Frames(ids, starts, ends, np.frombuffer(b"".join(bodies), np.uint8)), list(guids)


@dataclass(frozen=True, slots=True)
class NumberCodec(IdCodec):
    """A zero byte and a big-endian number of ``width`` bytes, 4 or 8, such as Apicurio's content ids."""

    width: int = 4

    def split(self, message: bytes) -> tuple[int | str, memoryview]:
        """Return id and body."""
        if message[:1] != b"\0":
            raise _unknown_magic(message)
        _ensure_long(message, 1 + self.width)
        found = int.from_bytes(message[1 : 1 + self.width], "big")
        if found >= FIRST_GUID:
            raise DataError(f"{found} is not a schema id: the message has a different format")
        return found, memoryview(message)[1 + self.width :]

    def frame(self, schema: RegisteredSchema, registry: Registry) -> bytes:
        """Return a zero byte and the id."""
        return b"\0" + schema.id.to_bytes(self.width, "big")

    def split_batch(self, messages: pa.BinaryArray) -> tuple[Frames, Sequence[str]]:
        """Split all messages at once."""
        found = messages_of(messages)
        size = 1 + self.width
        refuse(found, found.ends == found.starts, "An empty message has no schema id")
        magic = found.data[found.starts]
        bad = magic != 0
        refuse(found, bad, _unknown(int(magic[bad.argmax()]) if len(magic) else 0))
        refuse(found, found.ends - found.starts < size, f"A message of fewer than {size} bytes has no schema id")
        form = ">u4" if self.width == 4 else ">i8"
        ids = _read_at(found.data, found.starts + 1, form).astype(np.int64)
        refuse(found, (ids < 0) | (ids >= FIRST_GUID), "A schema id is too large: the message has a different format")
        return found.frames(ids, size), ()


@dataclass(frozen=True, slots=True)
class ConfluentCodec(IdCodec):
    """0 and a number of 4 bytes, or 1 and a GUID of 16, both as in Confluent's format.

    GUIDs are written to frames in headers, numbers before messages.
    """

    writes_guids: bool = False

    def split(self, message: bytes) -> tuple[int | str, memoryview]:
        """Return id or GUID, and body."""
        if message[:1] != b"\1":
            return NumberCodec().split(message)
        _ensure_long(message, 1 + _GUID)
        return str(uuid.UUID(bytes=message[1 : 1 + _GUID])), memoryview(message)[1 + _GUID :]

    def frame(self, schema: RegisteredSchema, registry: Registry) -> bytes:
        """Return a zero byte and the id, or 1 and the GUID. Raise DataError for a schema without one."""
        return b"\1" + _guid_of(schema, registry) if self.writes_guids else NumberCodec().frame(schema, registry)

    def split_batch(self, messages: pa.BinaryArray) -> tuple[Frames, Sequence[str]]:
        """Split all messages at once, or one after the other if any has a GUID and the batch is mixed."""
        found = messages_of(messages)
        is_filled = found.ends > found.starts
        if (found.data[found.starts if is_filled.all() else found.starts[is_filled]] == 1).any():
            return _with_guids(self, messages, 1, 1)
        return NumberCodec().split_batch(messages)


@dataclass(frozen=True, slots=True)
class GlueCodec(IdCodec):
    """AWS Glue's format: 3, a byte for the compression (0 none, 5 zlib), and a GUID of 16 bytes.

    Only the wire format: schemas are requested by GUID at ``schema.registry.url``, which Glue itself does not serve.
    """

    def split(self, message: bytes) -> tuple[int | str, memoryview]:
        """Return GUID and body."""
        if message[:1] != b"\3":
            raise _unknown_magic(message)
        _ensure_long(message, 2 + _GUID)
        body = memoryview(message)[2 + _GUID :]
        if message[1] not in (0, 5):
            raise DataError(f"The compression {message[1]} is unknown; AWS Glue's are 0 and 5")
        return str(uuid.UUID(bytes=message[2 : 2 + _GUID])), memoryview(_inflated(body)) if message[1] else body

    def frame(self, schema: RegisteredSchema, registry: Registry) -> bytes:
        """Return the bytes before an uncompressed message's body. Raise DataError for a schema without a GUID."""
        return b"\3\0" + _guid_of(schema, registry)

    def split_batch(self, messages: pa.BinaryArray) -> tuple[Frames, Sequence[str]]:
        """Split all messages at once, or one after the other if bodies are compressed."""
        return _with_guids(self, messages, 3, 2)


def _guid_of(schema: RegisteredSchema, registry: Registry) -> bytes:
    # A registration may return only the number.
    guid = schema.guid or registry.by_id(schema.id, schema.subject).guid
    if guid is None:
        text = f"The registry returned no GUID for schema {schema.id}, but this wire format identifies schemas by GUID"
        raise DataError(f"{text}: use a registry that does, or put ids before the messages")
    return uuid.UUID(guid).bytes


def _with_guids(codec: IdCodec, messages: pa.BinaryArray, magic: int, skip: int) -> tuple[Frames, Sequence[str]]:
    """Split messages at once if all have a GUID after ``skip`` bytes; otherwise one by one."""
    found = messages_of(messages)
    plain = found.ends - found.starts >= skip + _GUID
    plain[plain] = found.data[found.starts[plain]] == magic
    if skip > 1:
        plain[plain] = found.data[found.starts[plain] + 1] == 0
    if not plain.all():
        return IdCodec.split_batch(codec, messages)
    packed = _read_at(found.data, found.starts + skip, f"V{_GUID}").view(np.uint8).reshape(-1, _GUID)
    # Two numbers per GUID: they sort fast, 16 bytes do not.
    pairs = packed.view(">u8").astype(np.uint64)
    _, first, inverse = np.unique(pairs[:, 0] ^ (pairs[:, 1] * np.uint64(0x9E3779B97F4A7C15)), True, True)
    if not (pairs[first][inverse] == pairs).all():
        return IdCodec.split_batch(codec, messages)
    guids = [str(uuid.UUID(bytes=packed[place].tobytes())) for place in first]
    ids = FIRST_GUID + inverse.astype(np.int64)
    return found.frames(ids, skip + _GUID), guids


def _read_at(data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], form: str) -> npt.NDArray[Any]:
    """Return the values of a format, such as ``>u4``, that begin at some positions."""
    kind = np.dtype(form)
    if not len(starts):
        return np.zeros(0, kind)
    # Every position of the buffer as the start of a value: one access per message, at any alignment.
    windows: npt.NDArray[Any] = np.ndarray((len(data) - kind.itemsize + 1,), kind, data, strides=(1,))
    return windows[starts]


def _inflated(body: memoryview) -> bytes:
    machine = zlib.decompressobj()
    try:
        found = machine.decompress(body, _LARGEST_BODY)
    except zlib.error as error:
        raise DataError("The compressed body cannot be read: it is not zlib data") from error
    if machine.unconsumed_tail or not machine.eof:
        raise DataError(f"The compressed body is truncated, or has more than {_LARGEST_BODY >> 20} MiB")
    return found


def _ensure_long(message: bytes, size: int) -> None:
    if len(message) < size:
        raise DataError(f"A message of {len(message)} bytes has no schema id, which takes {size}")


def _unknown_magic(message: bytes) -> DataError:
    return DataError(_unknown(message[0])) if message else DataError("An empty message has no schema id")


def _unknown(magic: int) -> str:
    found = f"Unknown magic byte! It is {magic} (0x{magic:02x})"
    return f"{found}: the message does not have the format of schema.id.codec, or has no schema id"

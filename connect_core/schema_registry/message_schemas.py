"""The schema with which a message is written, and the schema of a message that is read."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from connect_core.errors import DataError
from connect_core.schema_registry.codecs import IdCodec
from connect_core.schema_registry.compatible import can_read
from connect_core.schema_registry.frames import FIRST_GUID, Frames
from connect_core.schema_registry.model import RegisteredSchema, Registry, SchemaKind, SchemaText
from connect_core.schema_registry.remembered import Remembered, schema_size
from connect_core.schema_registry.settings import RegistrySettings
from connect_core.schema_registry.subjects import SubjectNameStrategy

__all__ = ["RegistrySchemas"]

_REMEMBERED = 10_000


class RegistrySchemas:
    """``MessageSchemas`` of a registry; safe to use from any thread. ``release`` is called once, by ``close``."""

    def __init__(
        self,
        settings: RegistrySettings,
        kind: SchemaKind,
        registry: Registry,
        forms: tuple[IdCodec, SubjectNameStrategy],
        release: Callable[[], None],
    ) -> None:
        self._settings, self._kind, self._registry, self._release = settings, kind, registry, release
        self._codec, self._strategy = forms
        self._named: Remembered[RegisteredSchema] = Remembered(_REMEMBERED, weigh=schema_size)
        limits, write = settings.client.caches, settings.write
        expires = write.use_latest and not write.auto_register and limits.latest_seconds >= 0
        self._frames: Remembered[tuple[bytes, RegisteredSchema]] = Remembered(
            _REMEMBERED, limits.latest_seconds if expires else None, lambda written: schema_size(written[1])
        )
        self._guids: list[str] = []
        self._numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def split(self, message: bytes) -> tuple[RegisteredSchema, memoryview]:
        """Return the schema that a message names, and its body. Raise DataError or SchemaRegistryError."""
        name, body = self._codec.split(message)
        return self._found(name), body

    def split_batch(self, messages: pa.BinaryArray) -> Frames:
        """Return a batch without its frames. Raise DataError if any message is malformed.

        GUIDs in messages are replaced by ids that only ``schema_of`` of this object resolves.
        """
        frames, guids = self._codec.split_batch(messages)
        if not guids:
            return frames
        numbers = np.array([self._number(guid) for guid in guids], np.int64)
        ids = frames.ids.copy()
        by_guid = ids >= FIRST_GUID
        ids[by_guid] = numbers[ids[by_guid] - FIRST_GUID]
        return replace(frames, ids=ids)

    def schema_of(self, id: int) -> RegisteredSchema:
        """Return the schema with an id; cached. Raise DataError for one of another language, SchemaRegistryError."""
        return self._found(self._guids[id - FIRST_GUID] if id >= FIRST_GUID else id)

    def to_write(self, topic: str, schema: SchemaText, record_name: str | None) -> tuple[bytes, RegisteredSchema]:
        """Return the frame to put before a body, and the schema to write the body with.

        Raise DataError if the strict checks fail, and SchemaRegistryError.
        """
        subject = self._strategy.subject_name(topic, self._settings.is_key, record_name)
        known = self._frames.get((subject, schema))
        if known is not None:
            return known
        found = self._chosen(subject, schema)
        return self._frames.put((subject, schema), (self._codec.frame(found, self._registry), found))

    def chosen(self, topic: str, schema: SchemaText, record_name: str | None) -> RegisteredSchema:
        """Return the schema to write with, as the registry has it now. Raise as ``to_write`` does."""
        return self._chosen(self._strategy.subject_name(topic, self._settings.is_key, record_name), schema)

    def close(self) -> None:
        """Release the registry's connections."""
        with self._lock:
            release, self._release = self._release, lambda: None
        release()

    def _found(self, name: int | str) -> RegisteredSchema:
        known = self._named.get(name)
        return known or self._named.put(name, self._ours(self._codec.find(name, self._registry), name))

    def _number(self, guid: str) -> int:
        # Only GUIDs of the registry's schemas are kept, so their number is limited.
        self._found(guid)
        with self._lock:
            if guid not in self._numbers:
                self._numbers[guid] = FIRST_GUID + len(self._guids)
                self._guids.append(guid)
            return self._numbers[guid]

    def _ours(self, found: RegisteredSchema, name: int | str) -> RegisteredSchema:
        if found.schema.kind is not self._kind:
            kinds = f"of type {found.schema.kind.value}, not {self._kind.value}"
            raise DataError(f"Schema {name} is {kinds}: use the converter of its type")
        return found

    def _chosen(self, subject: str, schema: SchemaText) -> RegisteredSchema:
        """Return the schema to write with. Confluent: ``AbstractKafkaAvroSerializer.serializeImpl``, in its order."""
        write, registry = self._settings.write, self._registry
        if write.auto_register:
            return registry.register(subject, schema, write.normalize)
        if write.schema_id is not None:
            found = replace(self._ours(registry.by_id(write.schema_id, subject), write.schema_id), subject=subject)
            return self._ensured(found, schema, "id.compatibility.strict" if write.is_id_strict else "")
        if write.use_latest:
            found = self._ours(registry.latest(subject), f"latest of {subject}")
            return self._ensured(found, schema, "latest.compatibility.strict" if write.is_latest_strict else "")
        return registry.lookup(subject, schema, write.normalize)

    def _ensured(self, found: RegisteredSchema, schema: SchemaText, check: str) -> RegisteredSchema:
        if check and not can_read(found, schema, self._registry):
            place = f"{found.subject}, id {found.id}" + (f", version {found.version}" if found.version else "")
            remedy = f"Set {check}=false to disable this check, or register the data's schema"
            raise DataError(f"The schema to write with ({place}) cannot read what the data's schema writes. {remedy}")
        return found

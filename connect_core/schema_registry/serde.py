"""Shared by the three registry converters: the ids of written messages and the schemas of read ones.

``define_registry(ConfigDef)`` of ``settings`` adds the shared keys to a converter's definition; ``open_schemas`` parses
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

import pyarrow as pa

from connect_core.api.connector import WorkerLimits
from connect_core.schema_registry.caching import release_registry, shared_registry
from connect_core.schema_registry.choices import codec_of, strategy_of
from connect_core.schema_registry.codecs import ConfluentCodec, IdCodec
from connect_core.schema_registry.frames import Frames
from connect_core.schema_registry.message_schemas import RegistrySchemas
from connect_core.schema_registry.model import RegisteredSchema, SchemaKind, SchemaText
from connect_core.schema_registry.settings import HeaderUse, RegistrySettings
from connect_core.schema_registry.subjects import SubjectNameStrategy

__all__ = ["MessageSchemas", "forms_of", "open_schemas"]


class MessageSchemas(Protocol):
    """The schemas of one converter's messages: created by ``open_schemas(configs, is_key, kind)``."""

    def split(self, message: bytes) -> tuple[RegisteredSchema, memoryview]:
        """Return the schema that a message names, and its body. Raise DataError or SchemaRegistryError."""

    def split_batch(self, messages: pa.BinaryArray) -> Frames:
        """Return a batch without its frames. Raise DataError if any message is malformed."""

    def schema_of(self, id: int) -> RegisteredSchema:
        """Return the schema with an id; cached."""

    def to_write(self, topic: str, schema: SchemaText, record_name: str | None) -> tuple[bytes, RegisteredSchema]:
        """Return the frame to put before a body, and the schema to write the body with.

        Depending on the settings, this is the given schema, registered or looked up; the newest one of the subject
        (``use.latest.version``); or that of ``use.schema.id``. Cached per (subject, schema).
        """

    def close(self) -> None:
        """Release the registry's connections."""


def open_schemas(
    configs: Mapping[str, Any], is_key: bool, kind: str, limits: WorkerLimits | None = None
) -> MessageSchemas:
    """Return the schemas of a converter; the registry is not called yet. Raise ConfigError.

    ``kind``: AVRO, JSON or PROTOBUF. ``limits``: the hosts the worker lets connectors call. All converters of a
    process with equal settings share one client.
    """
    settings = RegistrySettings.of(configs, is_key)
    client = settings.client
    if limits is not None:
        client = client.within(limits)
    registry = shared_registry(client)
    release = partial(release_registry, client)
    return RegistrySchemas(settings, SchemaKind(kind.upper()), registry, forms_of(settings, configs), release)


def forms_of(settings: RegistrySettings, configs: Mapping[str, Any]) -> tuple[IdCodec, SubjectNameStrategy]:
    """Return the wire format and the subject names that settings choose. Raise ConfigError."""
    # With frames in headers, no other codec is allowed.
    in_header = settings.header is HeaderUse.READ_AND_WRITTEN
    codec = ConfluentCodec(writes_guids=True) if in_header else codec_of(settings.codec)
    return codec, strategy_of(settings.strategy_key, settings.strategy, configs)

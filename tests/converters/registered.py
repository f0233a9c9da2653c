"""Converters of registered schemas over a registry in memory."""

from __future__ import annotations

from typing import Any, TypeVar

import pyarrow as pa

from connect_core.api.batch import Objects
from connect_core.api.convert import Converter
from connect_core.api.data import Schema
from connect_core.schema_registry.model import SchemaKind, SchemaReference, SchemaText
from tests.schema_registry.confluent_frames import PlainSchemas
from tests.schema_registry.memory import MemoryRegistry

__all__ = ["framed", "register", "with_memory", "written_schema"]

Made = TypeVar("Made", bound=Converter)


def with_memory(kind: type[Made], registry: MemoryRegistry | None = None, /, **settings: str) -> Made:
    """Return a value converter over a registry, by default an empty one; dots of settings are underscores."""
    memory = MemoryRegistry() if registry is None else registry
    converter = kind(PlainSchemas(memory))  # type: ignore[call-arg]
    converter.configure({name.replace("_", "."): value for name, value in settings.items()}, False)
    return converter


def register(registry: MemoryRegistry, kind: SchemaKind, text: str, subject: str = "t-value", **references: str) -> int:
    """Register a schema and return its id; references: name (``__`` for a dot) → subject, of version 1."""
    named = tuple(SchemaReference(name.replace("__", "."), other, 1) for name, other in references.items())
    return registry.register(subject, SchemaText(kind, text, named)).id


def framed(id: int, body: bytes) -> bytes:
    """Return a message of Confluent's wire format."""
    return b"\0" + id.to_bytes(4, "big") + body


def written_schema(kind: type[Converter], schema: Schema, value: Any, **settings: str) -> tuple[str, bytes]:
    """Return the text that is registered as a value is written, and the body after the id."""
    registry = MemoryRegistry()
    message = with_memory(kind, registry, **settings).from_connect_data("t", schema, value)
    assert message is not None
    return registry.by_id(int.from_bytes(message[1:5], "big")).schema.text, message[5:]


def write_batch(converter: Converter, topics: list[str], schema: Schema | None, values: list[Any]) -> list[Any] | None:
    """Return what the batch lane writes for the given topics."""
    found = converter.from_connect_batch(pa.array(topics), Objects([schema] * len(values), values))
    return None if found is None else found.to_pylist()

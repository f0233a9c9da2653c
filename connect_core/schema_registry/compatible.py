"""Whether the schema written to messages can read what the data's own schema writes."""

from __future__ import annotations

import json

from connect_core.schema_registry.avro_resolution import avro_can_read
from connect_core.schema_registry.model import RegisteredSchema, Registry, SchemaKind, SchemaText

__all__ = ["can_read"]


def can_read(reader: RegisteredSchema, writer: SchemaText, registry: Registry) -> bool:
    """Whether a registered schema reads what another schema writes.

    Avro is checked by its rules of resolution; for JSON Schema and Protobuf the registry is asked whether the writer's
    schema may follow in the subject, by the subject's own compatibility level. Raise SchemaRegistryError.
    """
    if reader.schema == writer or _same_json(reader.schema, writer):
        return True
    if reader.schema.kind is SchemaKind.AVRO and not writer.references:
        return avro_can_read(reader.schema.text, [text.text for _, text in reader.resolved], writer.text)
    return registry.is_compatible(reader.subject or "", writer)


def _same_json(one: SchemaText, other: SchemaText) -> bool:
    if SchemaKind.PROTOBUF in (one.kind, other.kind) or one.references != other.references:
        return False
    try:
        return bool(json.loads(one.text) == json.loads(other.text))
    except ValueError:
        return False

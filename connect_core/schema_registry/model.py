"""Schemas as a registry keeps them, and what a converter asks of a registry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

__all__ = ["RegisteredSchema", "Registry", "SchemaKind", "SchemaReference", "SchemaText"]


class SchemaKind(Enum):
    """A schema language; the value is the registry's word for it (``schemaType``)."""

    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """Another schema that a schema uses.

    ``name`` is how it is called there (Avro: full name, JSON: URL, Protobuf: import).
    """

    name: str
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class SchemaText:
    """A schema in its language."""

    kind: SchemaKind
    text: str
    references: tuple[SchemaReference, ...] = ()


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema as the registry keeps it."""

    id: int
    schema: SchemaText
    subject: str | None = None
    version: int | None = None
    guid: str | None = None
    """Of Confluent's newer wire format, whose header carries it instead of the id."""
    resolved: Sequence[tuple[str, SchemaText]] = field(default=(), compare=False)
    """Every schema that this one refers to, directly or not, by the name used there; those needed first come first."""


class Registry(Protocol):
    """What converters ask. Every method raises SchemaRegistryError (retriable or not) for what the registry refuses."""

    def by_id(self, id: int, subject: str | None = None) -> RegisteredSchema:
        """Return the schema of an id; ``subject`` names its context where there are several."""

    def by_guid(self, guid: str) -> RegisteredSchema:
        """Return the schema of a globally unique id."""

    def register(self, subject: str, schema: SchemaText, normalize: bool = False) -> RegisteredSchema:
        """Register a schema under a subject, which does nothing when it is there already."""

    def lookup(self, subject: str, schema: SchemaText, normalize: bool = False) -> RegisteredSchema:
        """Return a schema that must be registered under the subject."""

    def latest(self, subject: str) -> RegisteredSchema:
        """Return the newest schema of a subject."""

    def version(self, subject: str, version: int) -> RegisteredSchema:
        """Return a version of a subject."""

    def is_compatible(self, subject: str, schema: SchemaText) -> bool:
        """Whether a schema may become the subject's next version."""

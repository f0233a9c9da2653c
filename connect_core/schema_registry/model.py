"""Schemas in a registry, and the requests of converters to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

__all__ = ["RegisteredSchema", "Registry", "SchemaKind", "SchemaReference", "SchemaText"]


class SchemaKind(Enum):
    """A schema language; the value is the registry's name for it (``schemaType``)."""

    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """Another schema that a schema uses.

    ``name`` is its name in that schema (Avro: full name, JSON: URL, Protobuf: import).
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
    """A schema as stored in the registry."""

    id: int
    schema: SchemaText
    subject: str | None = None
    version: int | None = None
    guid: str | None = None
    """For Confluent's newer wire format, whose header contains it instead of the id."""
    resolved: Sequence[tuple[str, SchemaText]] = field(default=(), compare=False)
    """All schemas that this one refers to, directly or not, by the name used there; dependencies come first."""


class Registry(Protocol):
    """The requests of converters. Every method raises SchemaRegistryError (retriable or not) for a failed request."""

    def by_id(self, id: int, subject: str | None = None) -> RegisteredSchema:
        """Return the schema with an id; ``subject`` determines its context if there are several."""

    def by_guid(self, guid: str) -> RegisteredSchema:
        """Return the schema with a globally unique id."""

    def register(self, subject: str, schema: SchemaText, normalize: bool = False) -> RegisteredSchema:
        """Register a schema under a subject; no effect if it is already registered."""

    def lookup(self, subject: str, schema: SchemaText, normalize: bool = False) -> RegisteredSchema:
        """Return a schema, which must be registered under the subject."""

    def latest(self, subject: str) -> RegisteredSchema:
        """Return the newest schema of a subject."""

    def version(self, subject: str, version: int) -> RegisteredSchema:
        """Return a version of a subject."""

    def is_compatible(self, subject: str, schema: SchemaText) -> bool:
        """Whether a schema is allowed as the subject's next version."""

"""The schemas that a schema refers to, directly and indirectly."""

from __future__ import annotations

from collections.abc import Callable

from connect_core.schema_registry.contexts import qualified_like
from connect_core.schema_registry.errors import SchemaRegistryError
from connect_core.schema_registry.model import RegisteredSchema, SchemaReference, SchemaText

__all__ = ["resolved_references"]

_DEPTH = 32
_COUNT = 1000
Fetch = Callable[[str, int], RegisteredSchema]


def resolved_references(schema: SchemaText, subject: str | None, fetch: Fetch) -> tuple[tuple[str, SchemaText], ...]:
    """Return all schemas that one refers to, by the name used for each; dependencies come first.

    ``fetch`` returns a version of a subject. ``subject``: that of the schema; its context applies to references
    without one. Raise SchemaRegistryError for a cycle, more than 32 levels or 1,000 schemas.
    """
    found: dict[str, SchemaText] = {}
    _walk(schema, subject, _Walk(fetch, found, ()))
    return tuple(found.items())


class _Walk:
    """The state of a walk: the schemas found, and the path from the first schema to this one."""

    def __init__(self, fetch: Fetch, found: dict[str, SchemaText], way: tuple[tuple[str, int], ...]) -> None:
        self.fetch, self.found, self.way = fetch, found, way

    def into(self, reference: SchemaReference, subject: str) -> _Walk:
        """Return the walk one level deeper. Raise SchemaRegistryError if it must not continue."""
        step = (subject, reference.version)
        if step in self.way:
            names = " → ".join(f"{one} version {version}" for one, version in (*self.way, step))
            raise SchemaRegistryError(f"Schemas reference each other in a cycle: {names}")
        if len(self.way) >= _DEPTH:
            raise SchemaRegistryError(f"References of {self.way[0][0]} go deeper than {_DEPTH} levels")
        if len(self.found) >= _COUNT:
            raise SchemaRegistryError(f"A schema refers to more than {_COUNT} others, the last being {subject}")
        return _Walk(self.fetch, self.found, (*self.way, step))


def _walk(schema: SchemaText, parent: str | None, walk: _Walk) -> None:
    for reference in schema.references:
        subject = qualified_like(parent, reference.subject)
        deeper = walk.into(reference, subject)
        if reference.name in walk.found:
            continue
        other = walk.fetch(subject, reference.version).schema
        _walk(other, subject, deeper)
        walk.found.setdefault(reference.name, other)

"""A registry in memory. Leaves out: compatibility, normalisation, contexts, deletion, and failures of a network."""

from __future__ import annotations

from connect_core.errors import DataError
from connect_core.schema_registry.model import RegisteredSchema, SchemaText

__all__ = ["MemoryRegistry"]


class MemoryRegistry:
    """Ids from 1, versions from 1 per subject."""

    def __init__(self) -> None:
        self._schemas: list[SchemaText] = []
        self._subjects: dict[str, list[int]] = {}

    def by_id(self, id: int, subject: str | None = None) -> RegisteredSchema:
        if not 0 < id <= len(self._schemas):
            raise DataError(f"Schema {id} not found")
        schema = self._schemas[id - 1]
        return RegisteredSchema(id, schema, subject, resolved=self._resolved(schema))

    def by_guid(self, guid: str) -> RegisteredSchema:
        raise DataError(f"Schema {guid} not found")

    def register(self, subject: str, schema: SchemaText, normalize: bool = False) -> RegisteredSchema:
        if schema not in self._schemas:
            self._schemas.append(schema)
        id = self._schemas.index(schema) + 1
        ids = self._subjects.setdefault(subject, [])
        if id not in ids:
            ids.append(id)
        return self._registered(subject, id)

    def lookup(self, subject: str, schema: SchemaText, normalize: bool = False) -> RegisteredSchema:
        if schema not in self._schemas or self._schemas.index(schema) + 1 not in self._subjects.get(subject, []):
            raise DataError(f"Schema not found under {subject}")
        return self._registered(subject, self._schemas.index(schema) + 1)

    def latest(self, subject: str) -> RegisteredSchema:
        if subject not in self._subjects:
            raise DataError(f"Subject {subject} not found")
        return self._registered(subject, self._subjects[subject][-1])

    def version(self, subject: str, version: int) -> RegisteredSchema:
        return self._registered(subject, self._subjects[subject][version - 1])

    def is_compatible(self, subject: str, schema: SchemaText) -> bool:
        return True

    def _registered(self, subject: str, id: int) -> RegisteredSchema:
        schema, ids = self._schemas[id - 1], self._subjects[subject]
        return RegisteredSchema(id, schema, subject, ids.index(id) + 1, resolved=self._resolved(schema))

    def _resolved(self, schema: SchemaText) -> list[tuple[str, SchemaText]]:
        found: dict[str, SchemaText] = {}
        for one in schema.references:
            other = self.version(one.subject, one.version).schema
            for name, text in [*self._resolved(other), (one.name, other)]:
                found.setdefault(name, text)
        return list(found.items())

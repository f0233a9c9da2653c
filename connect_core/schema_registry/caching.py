"""One registry client for all converters of a process, with caches of its responses."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from connect_core.schema_registry.apicurio import content_id, global_id
from connect_core.schema_registry.calls import RegistryCalls
from connect_core.schema_registry.client import RegistryClient
from connect_core.schema_registry.errors import SchemaRegistryError
from connect_core.schema_registry.model import RegisteredSchema, SchemaText
from connect_core.schema_registry.references import resolved_references
from connect_core.schema_registry.remembered import Remembered, SingleFlight, schema_size
from connect_core.schema_registry.settings import ClientSettings

__all__ = ["CachedRegistry", "release_registry", "shared_registry"]

_SHARED = 16
"""Number of registries, or logins to one, whose schemas are kept while no converter uses them."""


class CachedRegistry:
    """A ``Registry`` that requests each schema once, with its references; safe to use from any thread."""

    def __init__(self, settings: ClientSettings) -> None:
        limits = settings.caches
        self.calls = RegistryCalls(settings)
        self.client = RegistryClient(self.calls)
        self._flights = SingleFlight()
        # The schema of an id, a GUID or a version never changes.
        self._fixed: Remembered[RegisteredSchema] = Remembered(limits.schemas, weigh=schema_size)
        self._written: Remembered[RegisteredSchema] = Remembered(limits.schemas, weigh=schema_size)
        latest_seconds = None if limits.latest_seconds < 0 else limits.latest_seconds
        self._latest: Remembered[RegisteredSchema] = Remembered(limits.latest, latest_seconds, schema_size)
        self._missing = {
            kind: Remembered[SchemaRegistryError](limits.missing, seconds)
            for kind, seconds in (
                ("id", limits.missing_id_seconds),
                ("version", limits.missing_version_seconds),
                ("schema", limits.missing_schema_seconds),
            )
        }

    def by_id(self, id: int, subject: str | None = None) -> RegisteredSchema:
        """Return the schema with an id."""
        return self._ask(self._fixed, "id", ("id", id, subject), lambda: self.client.by_id(id, subject))

    def by_guid(self, guid: str) -> RegisteredSchema:
        """Return the schema with a globally unique id."""
        return self._ask(self._fixed, "id", ("guid", guid), lambda: self.client.by_guid(guid))

    def register(self, subject: str, schema: SchemaText, normalize: bool = False) -> RegisteredSchema:
        """Register a schema under a subject."""

        def question() -> RegisteredSchema:
            found = self.client.register(subject, schema, normalize)
            self._forget_changing()
            return found

        return self._ask(self._written, None, ("register", subject, schema, normalize), question)

    def lookup(self, subject: str, schema: SchemaText, normalize: bool = False) -> RegisteredSchema:
        """Return a schema, which must be registered under the subject."""
        key = ("lookup", subject, schema, normalize)
        return self._ask(self._written, "schema", key, lambda: self.client.lookup(subject, schema, normalize))

    def latest(self, subject: str) -> RegisteredSchema:
        """Return the newest schema of a subject."""
        return self._ask(self._latest, "version", ("latest", subject), lambda: self.client.latest(subject))

    def version(self, subject: str, version: int) -> RegisteredSchema:
        """Return a version of a subject."""
        found = self._plain_version(subject, version)
        return self._ask(self._fixed, None, ("whole", subject, version), lambda: found)

    def is_compatible(self, subject: str, schema: SchemaText) -> bool:
        """Whether a schema is allowed as the subject's next version."""
        return self.client.is_compatible(subject, schema)

    def by_global_id(self, id: int) -> RegisteredSchema:
        """Return the schema with one of Apicurio's global ids."""
        return self._ask(self._fixed, "id", ("global", id), lambda: self.client.by_id(content_id(self.calls, id)))

    def global_id_of(self, schema: RegisteredSchema) -> int:
        """Return Apicurio's global id of a schema under its subject; not cached."""
        return global_id(self.calls, schema)

    def forget(self) -> None:
        """Close the connections and drop cached responses that may be outdated for the next converter."""
        self.calls.close()
        self._written.clear()
        self._forget_changing()

    def _forget_changing(self) -> None:
        self._latest.clear()
        for missing in self._missing.values():
            missing.clear()

    def _plain_version(self, subject: str, version: int) -> RegisteredSchema:
        key = ("version", subject, version)
        return self._once(self._fixed, "version", key, lambda: self.client.version(subject, version))

    def _ask(
        self,
        kept: Remembered[RegisteredSchema],
        missing: str | None,
        key: Hashable,
        question: Callable[[], RegisteredSchema],
    ) -> RegisteredSchema:
        def whole() -> RegisteredSchema:
            found = question()
            return replace(found, resolved=resolved_references(found.schema, found.subject, self._plain_version))

        return self._once(kept, missing, key, whole)

    def _once(
        self,
        kept: Remembered[RegisteredSchema],
        missing: str | None,
        key: Hashable,
        question: Callable[[], RegisteredSchema],
    ) -> RegisteredSchema:
        known = kept.get(key)
        if known is not None:
            return known
        # Another thread may have received the response by the time this one requests it.
        return self._flights.ask(
            key, lambda: kept.get(key) or kept.put(key, self._unless_missing(missing, key, question))
        )

    def _unless_missing(
        self, missing: str | None, key: Hashable, question: Callable[[], RegisteredSchema]
    ) -> RegisteredSchema:
        refusals = self._missing[missing] if missing else None
        refused = refusals.get(key) if refusals else None
        if refused is not None:
            raise type(refused)(str(refused), refused.status, refused.error_code)
        try:
            return question()
        except SchemaRegistryError as error:
            if refusals and error.is_missing:
                refusals.put(key, error)
            raise


@dataclass(slots=True)
class _Shared:
    registry: CachedRegistry
    users: int = 0


_shared: dict[ClientSettings, _Shared] = {}
_lock = threading.Lock()


def shared_registry(settings: ClientSettings) -> CachedRegistry:
    """Return the registry shared by all converters of this process with these settings.

    Each user must call ``release_registry`` at the end.
    """
    with _lock:
        found = _shared.pop(settings, None) or _Shared(CachedRegistry(settings))
        _shared[settings] = found
        found.users += 1
        idle = [one for one, shared in _shared.items() if not shared.users]
        for one in idle[: max(len(idle) - _SHARED, 0)]:
            del _shared[one]
    return found.registry


def release_registry(settings: ClientSettings) -> None:
    """End a use. After the last one, connections are closed; ids stay cached, as they never change."""
    with _lock:
        found = _shared.get(settings)
        if found is None or not found.users:
            return
        found.users -= 1
        if not found.users:
            # Under the lock: else the next user's first call may lose its connection to this.
            found.registry.forget()


def _start_anew() -> None:
    """Share nothing with the process this one was forked from, which still uses its connections."""
    global _lock
    _lock = threading.Lock()
    _shared.clear()


os.register_at_fork(after_in_child=_start_anew)

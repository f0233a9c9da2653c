"""Apicurio's global ids, which name a version of a subject; its REST API in Confluent's form has content ids only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from connect_core.errors import DataError
from connect_core.schema_registry.calls import RegistryCalls, Request
from connect_core.schema_registry.codecs import NumberCodec
from connect_core.schema_registry.errors import RegistryRefusalError, SchemaRegistryError
from connect_core.schema_registry.model import RegisteredSchema, Registry

__all__ = ["GlobalIdCodec", "GlobalIds", "content_id", "global_id"]

_API = "apis/registry/v3"
_REMEDY = "; is it Apicurio 3? If not, correct schema.registry.url, or use another schema.id.codec"


@runtime_checkable
class GlobalIds(Protocol):
    """A registry that supports global ids."""

    def by_global_id(self, id: int) -> RegisteredSchema:
        """Return the schema with a global id; its ``id`` is the content's."""

    def global_id_of(self, schema: RegisteredSchema) -> int:
        """Return the global id of a schema under its subject."""


@dataclass(frozen=True, slots=True)
class GlobalIdCodec(NumberCodec):
    """A zero byte and a global id of 8 bytes: Apicurio's format until version 2."""

    width: int = 8

    def find(self, name: int | str, registry: Registry) -> RegisteredSchema:
        """Return the schema with a global id."""
        return _asked(registry).by_global_id(int(name))

    def frame(self, schema: RegisteredSchema, registry: Registry) -> bytes:
        """Return a zero byte and the global id of the schema under its subject."""
        return b"\0" + _asked(registry).global_id_of(schema).to_bytes(self.width, "big")


def content_id(calls: RegistryCalls, id: int) -> int:
    """Return the content id for a global id. Raise SchemaRegistryError, with status 404 if there is none."""
    found = _versions(calls, (("globalId", str(id)),))
    if not found:
        raise SchemaRegistryError(f"The registry has no version with the global id {id}", 404)
    return _number(found[0], "contentId")


def global_id(calls: RegistryCalls, schema: RegisteredSchema) -> int:
    """Return the global id of a schema's newest version under its subject. Raise SchemaRegistryError."""
    group = (("contentId", str(schema.id)), ("artifactId", schema.subject or ""), ("order", "desc"))
    found = [
        one for one in _versions(calls, group) if schema.version is None or _text(one, "version") == str(schema.version)
    ]
    if not found:
        raise SchemaRegistryError(f"The registry has no global id for schema {schema.id} of {schema.subject}", 404)
    return _number(found[0], "globalId")


def _versions(calls: RegistryCalls, params: tuple[tuple[str, str], ...]) -> list[Any]:
    answer = calls.call(Request("GET", "search/versions", (*params, ("limit", "100"))), _API)
    versions = answer.get("versions") if isinstance(answer, dict) else None
    if not isinstance(versions, list):
        raise RegistryRefusalError(f"The registry's answer has no versions{_REMEDY}")
    return versions


def _asked(registry: Registry) -> GlobalIds:
    if not isinstance(registry, GlobalIds):
        raise DataError("This registry has no global ids: set schema.id.codec to confluent or apicurio-content")
    return registry


def _number(version: Any, name: str) -> int:
    value = version.get(name) if isinstance(version, dict) else None
    if not isinstance(value, int):
        raise RegistryRefusalError(f"The registry's answer has no {name}{_REMEDY}")
    return value


def _text(version: Any, name: str) -> str:
    return str(version.get(name)) if isinstance(version, dict) else ""

"""A client of a schema registry: each request is a method with one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from connect_core.schema_registry.calls import RegistryCalls, Request
from connect_core.schema_registry.errors import RegistryRefusalError, SchemaRegistryError
from connect_core.schema_registry.model import RegisteredSchema, SchemaKind, SchemaReference, SchemaText

__all__ = ["RegistryClient"]

_KINDS = {kind.value: kind for kind in SchemaKind}


class RegistryClient:
    """The methods of ``Registry``, without caches and without resolving references, and some more.

    Each raises SchemaRegistryError, or UnavailableRegistryError if a later attempt may succeed.
    """

    def __init__(self, calls: RegistryCalls) -> None:
        self._calls = calls

    def by_id(self, id: int, subject: str | None = None) -> RegisteredSchema:
        """Return the schema with an id."""
        params = (("subject", subject),) if subject else ()
        request = Request("GET", f"schemas/ids/{id}", params)
        return _registered(self._calls.call(request), request, id=id, subject=subject)

    def by_guid(self, guid: str) -> RegisteredSchema:
        """Return the schema with a globally unique id; its ``id`` is 0 if the registry does not return it."""
        request = Request("GET", f"schemas/guids/{quote(guid, safe='')}")
        return _registered(self._calls.call(request), request, guid=guid)

    def register(self, subject: str, schema: SchemaText, normalize: bool = False) -> RegisteredSchema:
        """Register a schema under a subject."""
        request = Request("POST", f"subjects/{_quoted(subject)}/versions", _normalize(normalize), _body(schema))
        return _written(self._calls.call(request), request, subject, schema)

    def lookup(self, subject: str, schema: SchemaText, normalize: bool = False) -> RegisteredSchema:
        """Return a schema, which must be registered under the subject."""
        request = Request("POST", f"subjects/{_quoted(subject)}", _normalize(normalize), _body(schema))
        return _written(self._calls.call(request), request, subject, schema)

    def latest(self, subject: str) -> RegisteredSchema:
        """Return the newest schema of a subject."""
        return self._version(subject, "latest")

    def version(self, subject: str, version: int) -> RegisteredSchema:
        """Return a version of a subject."""
        return self._version(subject, str(version))

    def is_compatible(self, subject: str, schema: SchemaText) -> bool:
        """Whether a schema is allowed as the subject's next version; any is allowed as the first."""
        path = f"compatibility/subjects/{_quoted(subject)}/versions/latest"
        request = Request("POST", path, body=_body(schema))
        try:
            answer = self._calls.call(request)
        except SchemaRegistryError as error:
            if error.is_missing:
                return True
            raise
        return bool(_field(answer, "is_compatible", bool, request))

    def compatibility(self, subject: str | None = None) -> str:
        """Return the effective compatibility level, of a subject or of the whole registry."""
        path = f"config/{_quoted(subject)}" if subject else "config"
        request = Request("GET", path, (("defaultToGlobal", "true"),) if subject else ())
        return str(_field(self._calls.call(request), "compatibilityLevel", str, request))

    def mode(self) -> str:
        """Return the mode of the registry: READWRITE, READONLY, IMPORT …"""
        request = Request("GET", "mode")
        return str(_field(self._calls.call(request), "mode", str, request))

    def subjects(self) -> list[str]:
        """Return all subjects; also used to check whether the registry responds at all."""
        request = Request("GET", "subjects")
        answer = self._calls.call(request)
        if not isinstance(answer, list):
            raise _unexpected(request)
        return [str(one) for one in answer]

    def _version(self, subject: str, version: str) -> RegisteredSchema:
        request = Request("GET", f"subjects/{_quoted(subject)}/versions/{version}")
        return _registered(self._calls.call(request), request, subject=subject)


def _quoted(subject: str) -> str:
    return quote(subject, safe="")


def _normalize(normalize: bool) -> tuple[tuple[str, str], ...]:
    return (("normalize", "true"),) if normalize else ()


def _body(schema: SchemaText) -> dict[str, Any]:
    body: dict[str, Any] = {"schema": schema.text, "schemaType": schema.kind.value}
    if schema.references:
        body["references"] = [
            {"name": one.name, "subject": one.subject, "version": one.version} for one in schema.references
        ]
    return body


def _written(answer: Any, request: Request, subject: str, schema: SchemaText) -> RegisteredSchema:
    """Return the schema as given: messages are written with it, in whatever form the registry stores it."""
    return RegisteredSchema(
        _field(answer, "id", int, request),
        schema,
        subject,
        _optional(answer, "version", int),
        _optional(answer, "guid", str),
    )


def _registered(answer: Any, request: Request, **known: Any) -> RegisteredSchema:
    text = _field(answer, "schema", str, request)
    kind = _KINDS.get(str(answer.get("schemaType") or "AVRO"))
    if kind is None:
        raise SchemaRegistryError(f"{request}: schemas of type {answer.get('schemaType')} are not supported")
    rules = answer.get("ruleSet")
    if isinstance(rules, Mapping) and any(rules.values()):
        raise SchemaRegistryError(
            f"{request}: the schema has data rules, which are not executed; use a schema without rules"
        )
    found = {
        "id": _optional(answer, "id", int) or 0,
        "subject": _optional(answer, "subject", str),
        "version": _optional(answer, "version", int),
        "guid": _optional(answer, "guid", str),
    }
    given = {name: value for name, value in known.items() if value is not None}
    return RegisteredSchema(schema=SchemaText(kind, text, _references(answer, request)), **{**found, **given})


def _references(answer: Mapping[str, Any], request: Request) -> tuple[SchemaReference, ...]:
    listed = answer.get("references") or ()
    if not isinstance(listed, list | tuple):
        raise _unexpected(request)
    return tuple(
        SchemaReference(
            _field(one, "name", str, request),
            _field(one, "subject", str, request),
            _field(one, "version", int, request),
        )
        for one in listed
    )


def _field(answer: Any, name: str, kind: type, request: Request) -> Any:
    value = answer.get(name) if isinstance(answer, Mapping) else None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _unexpected(request)
    return value


def _optional(answer: Mapping[str, Any], name: str, kind: type) -> Any:
    value = answer.get(name)
    return value if isinstance(value, kind) and not isinstance(value, bool) else None


def _unexpected(request: Request) -> RegistryRefusalError:
    return RegistryRefusalError(
        f"The response to {request} does not come from a schema registry; check schema.registry.url"
    )

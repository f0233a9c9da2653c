"""The contents of a JSON Schema, keyword by keyword: one form, or several that all apply.

Follows Confluent's loader: for example, an enum with a type is an allOf of two
forms, and what describes both (title, default, connect.*) belongs to the allOf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from connect_core.converters.json_schema.schemas.documents import Document
from connect_core.errors import DataError

__all__ = ["Form", "FormKind", "form_of"]


class FormKind(Enum):
    """The kind of a form."""

    BOOLEAN = "boolean"
    NUMBER = "number"
    STRING = "string"
    NULL = "null"
    ENUM = "enum"
    CONST = "const"
    COMBINED = "combined"
    ARRAY = "array"
    OBJECT = "object"
    REFERENCE = "$ref"
    ANY = "any value"
    OTHER = "not, if or false"


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """One form: ``node`` holds its keywords, ``traits`` the JSON whose title and connect.* are its own."""

    kind: FormKind
    node: Mapping[str, Any]
    document: Document
    traits: Mapping[str, Any] = field(default_factory=dict)
    criterion: str = ""
    parts: tuple[Form, ...] = ()
    is_integer: bool = False

    def part(self, node: Any) -> Form:
        """Return the form of a part of this form."""
        return form_of(node, self.document)


_TYPES = {
    "boolean": FormKind.BOOLEAN,
    "integer": FormKind.NUMBER,
    "number": FormKind.NUMBER,
    "string": FormKind.STRING,
    "null": FormKind.NULL,
    "array": FormKind.ARRAY,
    "object": FormKind.OBJECT,
}
_ARRAY = ("items", "additionalItems", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains")
_OBJECT = (
    "properties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "dependencies",
    "patternProperties",
    "propertyNames",
)
_NUMBER = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_STRING = ("minLength", "maxLength", "pattern", "format")
_SNIFFED = (
    (FormKind.ARRAY, _ARRAY),
    (FormKind.OBJECT, _OBJECT),
    (FormKind.NUMBER, _NUMBER),
    (FormKind.STRING, _STRING),
    (FormKind.OTHER, ("if", "then", "else")),
)
_COMBINED = ("oneOf", "allOf", "anyOf")


def form_of(node: Any, document: Document) -> Form:
    """Return the form of a schema. Raise DataError if it is not a schema."""
    if isinstance(node, bool):
        return Form(FormKind.ANY if node else FormKind.OTHER, {}, document)
    if not isinstance(node, dict):
        raise DataError(f"A JSON Schema is an object, not {str(node)[:100]!r}")
    forms = list(_forms(node, document))
    if not forms:
        return Form(FormKind.ANY, node, document, node)
    if len(forms) == 1:
        return replace(forms[0], traits=node)
    return Form(FormKind.COMBINED, node, document, node, "allOf", tuple(forms))


def _forms(node: Mapping[str, Any], document: Document) -> Iterator[Form]:
    if isinstance(node.get("$ref"), str):
        yield Form(FormKind.REFERENCE, node, document)
        if not document.is_modern:
            return
    if "enum" in node:
        yield Form(FormKind.ENUM, node, document)
    for criterion in _COMBINED:
        if criterion in node:
            parts = tuple(form_of(part, document) for part in _list(node, criterion))
            yield Form(FormKind.COMBINED, node, document, {}, criterion, parts)
    yield from _of_values(node, document)


def _of_values(node: Mapping[str, Any], document: Document) -> Iterator[Form]:
    if "not" in node:
        yield Form(FormKind.OTHER, node, document)
    if "const" in node and not document.is_draft_4:
        yield Form(FormKind.CONST, node, document)
    typed = _typed(node, document) if "type" in node else None
    if typed is not None:
        yield typed
    kinds = set() if typed is None else {typed.kind, *(part.kind for part in typed.parts)}
    for kind, keywords in _SNIFFED:
        if kind not in kinds and any(keyword in node for keyword in keywords):
            yield Form(kind, node, document)


def _typed(node: Mapping[str, Any], document: Document) -> Form:
    types = node["type"]
    if isinstance(types, list):
        return Form(FormKind.COMBINED, node, document, {}, "anyOf", tuple(_of_type(t, node, document) for t in types))
    return _of_type(types, node, document)


def _of_type(name: Any, node: Mapping[str, Any], document: Document) -> Form:
    kind = _TYPES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise DataError(f"unknown type: [{str(name)[:100]}]")
    return Form(kind, node, document, is_integer=name == "integer")


def _list(node: Mapping[str, Any], keyword: str) -> list[Any]:
    found = node[keyword]
    if not isinstance(found, list):
        raise DataError(f"{keyword} of a JSON Schema is a list, not {str(found)[:100]!r}")
    return found

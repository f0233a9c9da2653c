"""The conversion of an ``allOf`` of several forms. Confluent: ``JsonSchemaData.allOfToConnectSchema``."""

from __future__ import annotations

from connect_core.converters.json_schema.schemas.forms import Form, FormKind, form_of
from connect_core.errors import DataError
from connect_core.java.hash_order import in_hash_order

__all__ = ["all_of_choice", "properties_of_all"]


def properties_of_all(form: Form) -> dict[str, tuple[Form, bool]]:
    """Return the properties of all parts of an ``allOf``, and whether each is required."""
    found: dict[str, tuple[Form, bool]] = {}
    seen: set[str] = set()
    for part in form.parts:
        _collect(part, found, seen)
    return found


def _collect(form: Form, found: dict[str, tuple[Form, bool]], seen: set[str]) -> None:
    if form.kind is FormKind.REFERENCE:
        node, document, key = form.document.resolve(form.node["$ref"])
        if key not in seen:
            seen.add(key)
            _collect(form_of(node, document), found, seen)
    elif form.kind is FormKind.COMBINED and form.criterion == "allOf":
        for part in form.parts:
            _collect(part, found, seen)
    elif form.kind is FormKind.OBJECT:
        properties, required = form.node.get("properties", {}), form.node.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            raise DataError("properties of a JSON Schema is an object, and required is a list")
        for name in in_hash_order(properties):
            found[name] = form.part(properties[name]), name in required


def all_of_choice(form: Form) -> Form:
    """Return the part that represents an ``allOf`` without properties. Raise DataError if there is none."""
    parts = {part.kind: part for part in form.parts}
    text, number = parts.get(FormKind.STRING), parts.get(FormKind.NUMBER)
    if FormKind.COMBINED in parts:
        return parts[FormKind.COMBINED]
    chosen = number or text
    if FormKind.CONST in parts:
        chosen = text or number
    elif FormKind.ENUM in parts:
        chosen = parts[FormKind.ENUM] if text is not None else number
    elif text is None:
        # A number without format is not read as a number if there are other forms.
        chosen = parts.get(FormKind.REFERENCE)
    if chosen is None:
        kinds = ", ".join(kind.value for kind in parts)
        raise DataError(f"Unsupported criterion allOf for {kinds}")
    return chosen

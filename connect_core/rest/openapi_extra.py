"""OpenAPI descriptions of request bodies, which FastAPI cannot derive as they are parsed by our own code."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

__all__ = ["query_parameters", "request_body"]


def request_body(kind: Any, *, is_required: bool = True) -> dict[str, Any]:
    """Return the ``openapi_extra`` of a route with a JSON body of this type."""
    schema = TypeAdapter(kind).json_schema(ref_template="#/components/schemas/{model}")
    nested = schema.pop("$defs", {})
    content = {"application/json": {"schema": _inlined(schema, nested)}}
    return {"requestBody": {"required": is_required, "content": content}}


def _inlined(part: Any, nested: dict[str, Any]) -> Any:
    """Return a schema with its references replaced by what they refer to."""
    if isinstance(part, dict):
        if "$ref" in part:
            return _inlined(nested[part["$ref"].rpartition("/")[2]], nested)
        return {key: _inlined(value, nested) for key, value in part.items()}
    return [_inlined(one, nested) for one in part] if isinstance(part, list) else part


def query_parameters(**parameters: str) -> list[dict[str, Any]]:
    """Return the OpenAPI description of optional query parameters, given name → description."""
    return [
        {"name": name, "in": "query", "required": False, "description": text, "schema": {"type": "string"}}
        for name, text in parameters.items()
    ]

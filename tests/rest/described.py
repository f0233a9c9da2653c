"""Whether an answer has the shape that the API's own description gives it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from connect_core.herder.context import Herder
from connect_core.rest import LoopbackAuthorizer, create_app

__all__ = ["DESCRIBED", "undescribed"]


def _never(actor: str) -> Herder:
    raise AssertionError("only described, never served")


DESCRIBED: dict[str, Any] = create_app(_never, LoopbackAuthorizer()).openapi()


def undescribed(method: str, path: str, status: int, text: str) -> Iterator[str]:
    """Return how an answer of JSON differs from its description; nothing where it is as described."""
    operation = _operation(method, path.partition("?")[0])
    responses = operation.get("responses", {}) if operation else {}
    response = responses.get(str(status), {} if status < 400 else responses.get("default", {}))
    schema = response.get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        if text and status < 400:
            yield f"{method} {path} → {status}: no description of {text[:100]}"
        return
    for error in _validator(json.dumps(schema)).iter_errors(json.loads(text)):
        yield f"{method} {path} → {status}: {error.json_path} {error.message}"


def _operation(method: str, path: str) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = None
    for template, methods in DESCRIBED["paths"].items():
        pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(template))
        # A path without parameters comes before one with them.
        if re.fullmatch(pattern, path) and (found is None or "{" not in template):
            found = methods.get(method.lower())
    return found


@cache
def _validator(schema: str) -> Draft202012Validator:
    whole = {**_closed(json.loads(schema)), "components": _closed(DESCRIBED["components"])}
    return Draft202012Validator(whole)


def _closed(part: Any) -> Any:
    """Return a schema whose objects take no other fields than those named: a new one is to be described."""
    if isinstance(part, list):
        return [_closed(one) for one in part]
    if not isinstance(part, dict):
        return part
    is_object = "properties" in part and part.get("type") == "object"
    return {key: _closed(value) for key, value in part.items()} | ({"additionalProperties": False} if is_object else {})

"""The API's documentation as a page, made from OpenAPI without scripts or external files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from connect_core.rest.access import Reader
from connect_core.rest.errors import GuardedRoute

__all__ = ["get_docs", "router"]

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
}


@router.get("/docs")
def get_docs(request: Request, herder: Reader) -> Response:
    """Return a page that lists every operation."""
    described: Mapping[str, Any] = request.app.openapi()
    return HTMLResponse("\n".join(_page(described)), headers=_HEADERS)


def _page(described: Mapping[str, Any]) -> Iterator[str]:
    info = described["info"]
    title = escape(info["title"])
    yield f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>'
    yield f"<h1>{title}</h1><p>{escape(info['description'])}</p>"
    yield '<p>Machine-readable version: <a href="openapi.json">openapi.json</a></p>'
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield from _operation(f"{method.upper()} {path}", operation)
    yield "</body></html>"


def _operation(name: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h2><code>{escape(name)}</code></h2>"
    yield f"<p>{escape(operation.get('summary', ''))}. {escape(operation.get('description', ''))}</p>"
    parameters = operation.get("parameters", [])
    if parameters:
        yield "<ul>"
        for one in parameters:
            said = escape(one.get("description", ""))
            yield f"<li><code>{escape(one['name'])}</code> ({escape(one['in'])}) {said}</li>"
        yield "</ul>"
    for title, schema in _bodies(operation):
        yield f"<p>{title}: <code>{escape(_kind(schema))}</code></p>"


def _bodies(operation: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    taken = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if taken:
        yield "Takes", taken["schema"]
    for status, answer in operation["responses"].items():
        given = answer.get("content", {}).get("application/json")
        if given and given.get("schema") and status != "default":
            yield f"Answers {escape(status)}", given["schema"]


def _kind(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}"
    return str(schema.get("title") or schema.get("type", "JSON"))

"""Responses in Connect's form: plain JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response
from typing_extensions import TypedDict

__all__ = ["ErrorMessage", "answer", "empty", "error_answer"]

JSON = "application/json"


class ErrorMessage(TypedDict):
    """Why a request was not served."""

    error_code: int
    message: str


def answer(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON response."""
    return Response(_encoded(content), status, headers, media_type=JSON)


def empty(status: int = 204) -> Response:
    """Return a response with neither body nor Content-Type."""
    return Response(b"", status)


def error_answer(
    status: int, message: str, *, headers: Mapping[str, str] | None = None, is_typed: bool = True
) -> Response:
    """Return an error response; in Connect the HTTP layer's own errors have no Content-Type (``is_typed`` false)."""
    body = ErrorMessage(error_code=status, message=message)
    return Response(_encoded(body), status, headers, media_type=JSON if is_typed else None)


def _encoded(content: Any) -> bytes:
    try:
        return orjson.dumps(content)
    except orjson.JSONEncodeError:
        # Numbers of more than 64 bits, which an operator may have put into an offset.
        return json.dumps(content, ensure_ascii=True).encode()

"""Request bodies, parsed as leniently and as strictly as Connect does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, NotRequired

from fastapi import Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request
from typing_extensions import TypedDict

from connect_core.errors import DataError
from connect_core.herder.connectors import NewConnector
from connect_core.herder.offsets import OffsetEntry
from connect_core.rest.errors import UnsupportedTypeError

__all__ = [
    "LARGEST_BODY",
    "Body",
    "Config",
    "ConfigBody",
    "CreateConnectorRequest",
    "NewConnectorBody",
    "OffsetsBody",
    "SetLevel",
    "config_body",
    "new_connector_body",
    "offsets_body",
    "read_body",
]

LARGEST_BODY = 16 * 1024 * 1024
"""Maximum number of bytes of a request body."""

_BODY_SECONDS = 30.0
_READABLE = ("application/json", "*/*", "*")
_STATES = ("RUNNING", "PAUSED", "STOPPED")


Config = dict[str, str | int | float | bool | None]
"""Settings by name; numbers and booleans become text."""


class CreateConnectorRequest(TypedDict):
    """Body of POST /connectors."""

    name: str
    config: Config
    initial_state: NotRequired[Literal["RUNNING", "PAUSED", "STOPPED"] | None]


class SetLevel(TypedDict):
    """The level to set."""

    level: str


class _Number(str):
    """A number in its original text, which is what a configuration stores."""

    __slots__ = ()


async def read_body(request: Request) -> bytes:
    """Return the body; 413 for one beyond 16 MiB, 408 for one that takes 30 s.

    Raise UnsupportedTypeError unless its Content-Type is JSON.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > LARGEST_BODY:
                    raise HTTPException(413, f"The request body is larger than {LARGEST_BODY} bytes")
    except TimeoutError:
        raise HTTPException(408, f"The request body did not arrive within {_BODY_SECONDS:.0f} s") from None
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if (body or given) and given not in _READABLE:
        raise UnsupportedTypeError
    return bytes(body)


Body = Annotated[bytes, Depends(read_body)]


def _parsed(body: bytes, *, numbers_as_text: bool) -> Any:
    options: dict[str, Any] = {"parse_int": _Number, "parse_float": _Number} if numbers_as_text else {}
    if not body.strip():
        return None
    try:
        return json.loads(body, parse_constant=_refuse_constant, **options)
    except (ValueError, RecursionError) as error:
        raise DataError(f"The request body is not JSON: {error}") from error


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


def _object(value: Any, known: Collection[str], what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{what} must be a JSON object")
    for field in value:
        if field not in known:
            raise DataError(f'Unrecognized field "{field}" in {what}; known are {", ".join(known)}')
    return value


def _text(value: Any, what: str) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A lone surrogate cannot be encoded; Java writes a question mark for it.
        return str(value).encode("utf-8", "replace").decode()
    raise DataError(f"{what} must be a string, a number, true or false")


def _config(value: Any) -> dict[str, str | None]:
    if not isinstance(value, dict):
        raise DataError("The configuration must be a JSON object with string values")
    return {str(_text(key, "A key")): _text(item, f'The value of "{key}"') for key, item in value.items()}


def config_body(body: Body) -> dict[str, str | None]:
    """Read a configuration; numbers and booleans become text."""
    return _config(_parsed(body, numbers_as_text=True))


def new_connector_body(body: Body) -> NewConnector:
    """Read Connect's ``CreateConnectorRequest``."""
    known = ("name", "config", "initial_state")
    given = _object(_parsed(body, numbers_as_text=True), known, "The request to create a connector")
    name, state = _text(given.get("name"), "name"), _text(given.get("initial_state"), "initial_state")
    if state is not None and state.upper() not in _STATES:
        raise DataError(f"initial_state {state} is none of {', '.join(_STATES)}")
    return NewConnector(name, _config(given.get("config")), state)


def offsets_body(body: Body) -> list[OffsetEntry]:
    """Read Connect's ``OffsetEntrys``."""
    given = _object(_parsed(body, numbers_as_text=False), ("offsets",), "The request to alter offsets")
    entries = given.get("offsets")
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise DataError("offsets must be a JSON array")
    return [_entry(one) for one in entries]


def _entry(value: Any) -> OffsetEntry:
    entry = _object(value, ("partition", "offset"), "An entry of offsets")
    for part in ("partition", "offset"):
        if not isinstance(entry.get(part), dict | None):
            raise DataError(f"{part} must be a JSON object or null")
    return entry


ConfigBody = Annotated[dict[str, str | None], Depends(config_body)]
NewConnectorBody = Annotated[NewConnector, Depends(new_connector_body)]
OffsetsBody = Annotated[list[OffsetEntry], Depends(offsets_body)]

"""Source partitions and offsets: what they may hold, and their canonical text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from connect_core.errors import DataError

__all__ = ["canonical", "checked_map", "parse"]

_HOLDS = "it holds texts, whole numbers, finite fractions, booleans and None only"


def canonical(partition: Mapping[str, Any]) -> str:
    """Return the canonical JSON of a source partition or offset: sorted, no spaces."""
    return json.dumps(partition, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def parse(text: str) -> dict[str, Any]:
    """Return the map of a canonical JSON text."""
    value: dict[str, Any] = json.loads(text)
    return value


def checked_map(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a copy of a source partition or offset. Raise DataError for what its JSON cannot give back.

    ``name``: what it is called in the message. Connect: ``OffsetUtils.validateFormat``, which also allows bytes: they
    would be read back as Base64.
    """
    if not isinstance(given, Mapping):
        raise DataError(f"{name} is {given!r}, {_class(given)}: return a map, such as {{'position': 1}}")
    copy = dict(given)
    for key, value in copy.items():
        # Exactly these types are by far the most frequent: the rest takes its time.
        kind = type(value)
        is_plain = value.isascii() if kind is str else kind is int or kind is bool or value is None
        if not is_plain or type(key) is not str or not key.isascii():
            return {_key(key, name): _scalar(value, f"{key!r} of {name}") for key, value in copy.items()}
    return copy


def _key(key: Any, name: str) -> str:
    if not isinstance(key, str):
        raise DataError(f"{name} has the key {key!r}, {_class(key)}: keys must be text, such as {str(key)!r}")
    return _text(key, f"the key {key!r} of {name}")


def _scalar(value: Any, name: str) -> str | int | float | bool | None:
    """Return a value as an object of exactly its JSON type, as a subclass might be written in another form."""
    match value:
        case None | bool():
            return value
        case str():
            return _text(value, f"{name} is {value!r}, which")
        case int():
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
        case float():
            raise DataError(f"{name} is {value}, which JSON does not have: return None or a text")
    raise DataError(f"{name} is {value!r}, {_class(value)}: {_HOLDS}; convert it to one of these")


def _text(text: str, name: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{name} holds half a surrogate pair, which is not valid text: escape it") from error
    return str.__str__(text)


def _class(given: object) -> str:
    return f"of class {type(given).__name__}"

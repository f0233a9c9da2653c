"""Title, description, default and connect.* of a JSON Schema as traits of Connect's schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from connect_core.api.data import SchemaBuilder
from connect_core.converters.json.read.documents import parse_exactly
from connect_core.converters.json.read.numbers import InexactError
from connect_core.converters.json.read.values import Read
from connect_core.converters.json_schema.names import CONNECT_PARAMETERS, CONNECT_VERSION
from connect_core.converters.json_schema.read import reader
from connect_core.errors import DataError
from connect_core.java.numbers import wrap

__all__ = ["add_traits"]


def add_traits(builder: SchemaBuilder, traits: Mapping[str, Any], version: int | None) -> None:
    """Add them to a builder; ``version`` applies if the schema has none. Raise DataError for one of the wrong type."""
    title = _text(traits, "title")
    if title is not None and builder.draft.name is None:
        builder.name(title)
    own = traits.get(CONNECT_VERSION)
    if own is not None and (type(own) is not int or wrap(own, 32) != own):
        raise DataError(f"{CONNECT_VERSION} is a whole number, not {str(own)[:100]!r}")
    if own is not None or version is not None:
        builder.version(version if own is None else own)
    description = _text(traits, "description")
    if description is not None:
        builder.doc(description)
    parameters = traits.get(CONNECT_PARAMETERS, {})
    if not isinstance(parameters, dict) or not all(isinstance(value, str) for value in parameters.values()):
        raise DataError(f"{CONNECT_PARAMETERS} is an object with string values")
    builder.parameters(parameters)
    if "default" in traits:
        builder.default_value(_read(reader(builder.draft), traits["default"]))


def _read(read: Read, node: Any) -> Any:
    try:
        return read(node)
    except InexactError:
        return read(parse_exactly(orjson.dumps(node)))


def _text(traits: Mapping[str, Any], name: str) -> str | None:
    found = traits.get(name)
    if found is not None and not isinstance(found, str):
        raise DataError(f"{name} of a JSON Schema is a string, not {str(found)[:100]!r}")
    return found

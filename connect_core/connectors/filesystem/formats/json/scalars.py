"""Times, decimals and maps in JSON in the form of Connect's JsonConverter, if configured."""

from __future__ import annotations

import base64
from decimal import Decimal
from typing import Any

from connect_core.api.data import Instant
from connect_core.connectors.filesystem.formats.json.values import shortest
from connect_core.connectors.filesystem.formats.maps import Form, Scalars

__all__ = ["DECIMALS", "MAPS", "TIMES", "scalars_of", "shortest_floats", "with_arrays", "with_millis"]

TIMES = ("iso8601", "number")
MAPS = ("objects", "arrays")
DECIMALS = ("NUMERIC", "BASE64")


def scalars_of(decimals: str) -> Scalars:
    """Return the conversion of scalars in columns."""
    # The kind has parameters: decimal128(38, 2).
    return lambda kind: _unscaled if decimals == "BASE64" and kind.startswith("decimal") else shortest_floats(kind)


def shortest_floats(kind: str) -> Form | None:
    """Return the conversion of 32-bit floats, which have fewer digits than the same number in 64 bits."""
    return shortest if kind == "float" else None


def with_millis(value: Any) -> Any:
    """Return a schemaless value with its timestamps as milliseconds."""
    if isinstance(value, Instant):
        return value.epoch_millis
    if isinstance(value, dict):
        return {name: with_millis(part) for name, part in value.items()}
    return [with_millis(part) for part in value] if isinstance(value, list) else value


def with_arrays(value: Any) -> Any:
    """Return a schemaless value in which a map with a key that is not text is a list of [key, value]."""
    if isinstance(value, list):
        return [with_arrays(part) for part in value]
    if not isinstance(value, dict):
        return value
    parts = {name: with_arrays(part) for name, part in value.items()}
    return parts if all(isinstance(name, str) for name in parts) else [[name, part] for name, part in parts.items()]


def _unscaled(value: Decimal) -> str:
    """Return the digits as a two's complement number in base64, like Connect's ``Decimal.fromLogical``."""
    sign, digits, _ = value.as_tuple()
    number = int("".join(map(str, digits))) * (-1 if sign else 1)
    length = ((number + 1 if number < 0 else number).bit_length() + 8) // 8
    return base64.b64encode(number.to_bytes(length, "big", signed=True)).decode()

"""Shapes: the common structure of a batch's rows, with a pattern that proves it.

A shape is the keys of an object, their order, and one type per key. Its
``pattern`` matches only texts for which a columnar parser and Jackson
agree, so that one regular expression over a batch is the proof of equality.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Any

__all__ = [
    "ArrayShape",
    "ObjectShape",
    "ScalarShape",
    "Shape",
    "merge",
    "name_is_plain",
    "object_pattern",
    "pattern_of",
    "shape_of",
    "weight_of",
    "width_of",
]


_EXPONENT = "[eE][+-]?[0-9]{1,2}"
# A tiny negative number keeps its sign, a zero has none: they differ reliably only with few digits.
_FRACTION = rf"-0\.[0-9]{{1,25}}(?:{_EXPONENT})?|(?:0|-?[1-9][0-9]*)(?:\.[0-9]+(?:{_EXPONENT})?|{_EXPONENT})"


class ScalarShape(Enum):
    """A JSON scalar, by the pattern of its text; all but ``NULL`` may also be null."""

    NULL = "null"
    BOOLEAN = "true|false"
    INTEGER = r"-?(?:0|[1-9][0-9]{0,17}|[1-8][0-9]{18}|9[01][0-9]{17})"
    FRACTION = _FRACTION
    NUMBER = rf"-?(?:0|[1-9][0-9]{{0,14}})|{_FRACTION}"
    STRING = (
        r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u(?:[0-9a-cA-CeEfF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}'
        r'|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))*"'
    )
    BASE64 = r'"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?"'


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """An array whose elements have one shape; an empty array has no known element shape."""

    item: Shape


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """An object with exactly these members, in this order."""

    members: tuple[tuple[str, Shape], ...]


Shape = ScalarShape | ArrayShape | ObjectShape
"""The shape of a JSON value."""

_NAME = re.compile(r'[^"\\\x00-\x1f]+')
_PLAIN_STRING = r'"[^"\\\x00-\x1f]*"'
_SCALARS: dict[type, Shape] = {
    type(None): ScalarShape.NULL,
    bool: ScalarShape.BOOLEAN,
    int: ScalarShape.INTEGER,
    float: ScalarShape.FRACTION,
    str: ScalarShape.STRING,
}


def shape_of(node: Any) -> Shape | None:
    """Return the shape of a parsed value, or ``None`` if columns cannot hold it."""
    if isinstance(node, dict):
        members = [(name, shape_of(value)) for name, value in node.items()]
        known = tuple((name, shape) for name, shape in members if shape is not None and name_is_plain(name))
        return ObjectShape(known) if known and len(known) == len(members) else None
    if isinstance(node, list):
        item = merge([shape_of(value) for value in node])
        return None if item is None else ArrayShape(item)
    return _SCALARS.get(type(node))


def name_is_plain(name: str) -> bool:
    """Return whether a name needs no escapes in JSON."""
    return _NAME.fullmatch(name) is not None


def merge(shapes: list[Shape | None]) -> Shape | None:
    """Return the shape that fits all of several shapes, or ``None`` if there is none."""
    result: Shape | None = ScalarShape.NULL
    for shape in shapes:
        result = None if result is None or shape is None else _merge_two(result, shape)
    return result


def _merge_two(one: Shape, other: Shape) -> Shape | None:
    if one == other or other is ScalarShape.NULL:
        return one
    if one is ScalarShape.NULL:
        return other
    if isinstance(one, ArrayShape) and isinstance(other, ArrayShape):
        item = _merge_two(one.item, other.item)
        return None if item is None else ArrayShape(item)
    if isinstance(one, ObjectShape) and isinstance(other, ObjectShape):
        return _merge_objects(one, other)
    return None


def _merge_objects(one: ObjectShape, other: ObjectShape) -> ObjectShape | None:
    if [name for name, _ in one.members] != [name for name, _ in other.members]:
        return None
    merged = [_merge_two(left, right) for (_, left), (_, right) in zip(one.members, other.members, strict=True)]
    known = [shape for shape in merged if shape is not None]
    names = [name for name, _ in one.members]
    return ObjectShape(tuple(zip(names, known, strict=True))) if len(known) == len(names) else None


def pattern_of(shape: Shape, escapes: bool) -> str:
    """Return the regular expression for a shape's text, including nulls.

    ``escapes``: whether strings may contain backslashes; without them
    the expression is faster.
    """
    if shape is ScalarShape.NULL:
        return "null"
    if isinstance(shape, ScalarShape):
        text = _PLAIN_STRING if shape is ScalarShape.STRING and not escapes else shape.value
        return f"(?:{text}|null)"
    if isinstance(shape, ArrayShape):
        item = pattern_of(shape.item, escapes)
        return rf"(?:\[(?:{item}(?:, ?{item})*)?\]|null)"
    return f"(?:{object_pattern(shape, escapes)}|null)"


def object_pattern(shape: ObjectShape, escapes: bool) -> str:
    """Return the regular expression for an object that is not null."""
    members = [f'"{re.escape(name)}": ?{pattern_of(member, escapes)}' for name, member in shape.members]
    return rf"\{{{', ?'.join(members)}\}}"


def width_of(shape: Shape) -> int:
    """Return the number of scalars in a shape."""
    if isinstance(shape, ArrayShape):
        return width_of(shape.item)
    return sum(width_of(member) for _, member in shape.members) if isinstance(shape, ObjectShape) else 1


def weight_of(shape: Shape) -> int:
    """Return the number of scalars in a shape's pattern, which holds the element of every array twice."""
    if isinstance(shape, ArrayShape):
        return 2 * weight_of(shape.item)
    return sum(weight_of(member) for _, member in shape.members) if isinstance(shape, ObjectShape) else 1

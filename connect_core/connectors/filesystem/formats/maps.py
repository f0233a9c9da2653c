"""Maps in values: Arrow uses pairs, other libraries dicts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from connect_core.connectors.filesystem.columns import Kind

__all__ = ["Form", "Scalars", "formed", "maps_to_pairs", "pairs_to_maps"]

Form: TypeAlias = Callable[[Any], Any]
"""Converts a value to another form."""
Scalars: TypeAlias = Callable[[str], Form | None]
"""Returns the conversion for values of a scalar kind, ``None`` for none."""


def formed(values: list[Any], form: Form | None) -> list[Any]:
    """Return values with a form applied to each."""
    return values if form is None else [form(value) for value in values]


def pairs_to_maps(kind: Kind, scalars: Scalars | None = None, *, has_arrays: bool = False) -> Form | None:
    """Return the conversion of Arrow's values to Python's; ``None`` if they are the same.

    A map with text keys becomes a dict, any other a list: of dicts of ``key`` and ``value``, or with ``has_arrays`` of
    lists of the two, as Connect's ``JsonConverter``. ``scalars``: the conversion of values that are neither.
    """
    return _form(kind, _to_arrays if has_arrays else _to_map, scalars)


def maps_to_pairs(kind: Kind) -> Form | None:
    """Return the reverse conversion, of Python's values to Arrow's."""
    return _form(kind, _to_pairs)


def _form(kind: Kind, of_map: Callable[[Kind, Form], Form], scalars: Scalars | None = None) -> Form | None:
    if isinstance(kind, str):
        found = scalars(kind) if scalars else None
        return found and partial(_unless_null, found)
    if kind[0] == "map":
        return partial(_unless_null, of_map(kind[1], _form(kind[2], of_map, scalars) or _same))
    if kind[0] == "list":
        inner = _form(kind[1], of_map, scalars)
        return inner and partial(_unless_null, partial(_each, inner))
    forms = {name: form for name, part in kind[1] if (form := _form(part, of_map, scalars))}
    return partial(_unless_null, partial(_fields, forms)) if forms else None


def _to_map(key: Kind, form: Form) -> Form:
    if key == "string":
        return lambda pairs: {name: form(value) for name, value in pairs}
    return lambda pairs: [{"key": name, "value": form(value)} for name, value in pairs]


def _to_arrays(key: Kind, form: Form) -> Form:
    if key == "string":
        return _to_map(key, form)
    return lambda pairs: [[name, form(value)] for name, value in pairs]


def _to_pairs(key: Kind, form: Form) -> Form:
    if key == "string":
        return lambda value: [(name, form(part)) for name, part in value.items()]
    return lambda value: [(part["key"], form(part["value"])) for part in value]


def _unless_null(form: Form, value: Any) -> Any:
    return None if value is None else form(value)


def _each(form: Form, values: list[Any]) -> list[Any]:
    return [form(value) for value in values]


def _fields(forms: dict[str, Form], value: dict[str, Any]) -> dict[str, Any]:
    return {name: forms[name](part) if name in forms else part for name, part in value.items()}


def _same(value: Any) -> Any:
    return value

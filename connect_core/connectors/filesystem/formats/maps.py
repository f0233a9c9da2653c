"""Maps in values: Arrow uses pairs, other libraries dicts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa

from connect_core.connectors.filesystem.columns import Kind, kind_of_type
from connect_core.errors import DataError

__all__ = ["Form", "Scalars", "formed", "maps_to_pairs", "pairs_to_maps", "with_entries"]

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


def with_entries(kind: pa.DataType) -> Kind:
    """Return the kind of a type; maps whose keys are texts, but optional, are told from lists, as ``entries``."""
    if pa.types.is_struct(kind):
        return "struct", tuple((field.name, with_entries(field.type)) for field in kind.fields)
    if pa.types.is_map(kind):
        return "map", with_entries(kind.key_type), with_entries(kind.item_type)
    if not pa.types.is_list(kind):
        return kind_of_type(kind)
    entry = kind.value_field
    if entry.name == "entry" and pa.types.is_struct(entry.type) and entry.type.names == ["key", "value"]:
        key, value = entry.type.fields
        if pa.types.is_string(key.type):
            return "entries", with_entries(value.type)
    return "list", with_entries(entry.type)


def maps_to_pairs(kind: Kind) -> Form | None:
    """Return the reverse conversion, of Python's values to Arrow's."""
    return _form(kind, _to_pairs)


def _form(kind: Kind, of_map: Callable[[Kind, Form], Form], scalars: Scalars | None = None) -> Form | None:
    if isinstance(kind, str):
        found = scalars(kind) if scalars else None
        return found and partial(_unless_null, found)
    if kind[0] == "map":
        return partial(_unless_null, of_map(kind[1], _form(kind[2], of_map, scalars) or _same))
    if kind[0] == "entries":
        return partial(_unless_null, partial(_to_object, _form(kind[1], of_map, scalars) or _same))
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


def _to_object(form: Form, entries: list[dict[str, Any]]) -> dict[str, Any]:
    if any(entry["key"] is None for entry in entries):
        raise DataError("a map has the key null, which no name of a JSON field can be")
    return {entry["key"]: form(entry["value"]) for entry in entries}


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

"""Commands with many options: a dataclass parameter stands for one option per field."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_type_hints

__all__ = ["spread"]


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with a signature for typer: each dataclass parameter is replaced by its fields."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)}

    def called(**given: Any) -> None:
        made = {name: kind(**{one.name: given.pop(one.name) for one in fields(kind)}) for name, kind in groups.items()}
        command(**given, **made)

    parameters = [one for name in inspect.signature(command).parameters for one in _parameters(command, name, hints)]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    called.__doc__, called.__name__ = command.__doc__, command.__name__
    return called


def _parameters(command: Callable[..., None], name: str, hints: dict[str, Any]) -> Iterator[inspect.Parameter]:
    kind = hints[name]
    if not (isinstance(kind, type) and is_dataclass(kind)):
        default = inspect.signature(command).parameters[name].default
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        return
    own = get_type_hints(kind, include_extras=True)
    for one in fields(kind):
        keyword = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(one.name, keyword, default=_default(one), annotation=own[one.name])


def _default(one: Field[Any]) -> Any:
    if one.default is not MISSING:
        return one.default
    return inspect.Parameter.empty if one.default_factory is MISSING else one.default_factory()

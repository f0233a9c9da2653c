"""Conversion between the text of a setting and its value. Connect: ``ConfigDef.parseType``."""

from __future__ import annotations

import decimal
import sys
from collections.abc import Callable
from typing import Any

from connect_core.api.config.types import ConfigType, Password
from connect_core.errors import ClassCastError, ConfigError, NotFoundError, NumberFormatError
from connect_core.java.class_names import java_class
from connect_core.java.numbers import (
    Int16,
    Int32,
    Int64,
    parse_double,
    parse_integer,
    wrap,
)
from connect_core.java.strings import trim
from connect_core.java.text import to_text

__all__ = ["ClassResolver", "class_name", "convert_to_string", "invalid", "loaded_class", "parse_type"]

ClassResolver = Callable[[str], type]
"""Returns the class for a name, or raises NotFoundError; it must not import anything else."""

_LIST_BLANKS = " \t\n\x0b\f\r"
_WIDTH_NAMES = {16: " (short)", 32: "", 64: " (long)"}
_PASSWORD = "org.apache.kafka.common.config.types.Password"


def invalid(name: str, value: Any, message: str | None) -> ConfigError:
    """Return the error for a value, with Connect's message."""
    return ConfigError(name, to_text(value), message)


def loaded_class(name: str) -> type:
    """Return a class of an already imported module, by its dotted name.

    Nothing is imported: a setting must not determine what code is loaded. Raise
    NotFoundError otherwise.
    """
    module, _, attribute = name.replace(":", ".").rpartition(".")
    found = getattr(sys.modules.get(module), attribute, None)
    if not isinstance(found, type):
        raise NotFoundError(f"Class {name} could not be found.")
    return found


def class_name(value: type) -> str:
    """Return the dotted name of a class."""
    return f"{value.__module__}.{value.__qualname__}"


def parse_type(name: str, value: Any, type: ConfigType, resolve: ClassResolver = loaded_class) -> Any:
    """Return the parsed value of a setting, given as text or as a value of its type.

    Numbers are returned as plain ``int`` and ``float``, a list as a new list.
    Raise ConfigError when the value cannot be parsed.
    """
    if value is None:
        return None
    if type is ConfigType.CLASS:
        return _parse_class(name, value, resolve)
    try:
        return _PARSERS[type](name, value)
    except NumberFormatError as error:
        raise invalid(name, value, f"Not a number of type {type}") from error


def convert_to_string(value: Any, type: ConfigType | None) -> str | None:
    """Return a parsed value as text; ``None`` stays ``None``, secrets stay hidden."""
    if value is None:
        return None
    if type is ConfigType.LIST:
        if not isinstance(value, list):
            raise ClassCastError(f"{to_text(value)} is not a list")
        return ",".join(map(to_text, value))
    if type is ConfigType.CLASS:
        if not isinstance(value, _CLASS):
            raise ClassCastError(f"{to_text(value)} is not a class")
        return class_name(value)
    return to_text(value)


_CLASS = type


def _parse_class(name: str, value: Any, resolve: ClassResolver) -> type:
    if isinstance(value, type):
        return value
    if not isinstance(value, str):
        raise invalid(name, value, "Expected a Class instance or class name.")
    try:
        return resolve(trim(value))
    except NotFoundError as error:
        raise invalid(name, value, f"Class {value} could not be found.") from error


def _parse_boolean(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    known = {"TRUE": True, "FALSE": False}.get(trim(value).upper()) if isinstance(value, str) else None
    if known is None:
        raise invalid(name, value, "Expected value to be either true or false")
    return known


def _parse_string(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _unexpected(name, value, "a string")
    return trim(value)


def _parse_password(name: str, value: Any) -> Password:
    return value if isinstance(value, Password) else Password(_parse_string(name, value))


def _parse_int(name: str, value: Any) -> int:
    return _parse_whole(name, value, (int, Int32), 32)


def _parse_short(name: str, value: Any) -> int:
    return _parse_whole(name, value, (int, Int16), 16)


def _parse_long(name: str, value: Any) -> int:
    return _parse_whole(name, value, (int, Int32, Int64), 64)


def _parse_whole(name: str, value: Any, classes: tuple[type, ...], bits: int) -> int:
    if isinstance(value, str):
        return parse_integer(trim(value), bits)
    if type(value) not in classes or wrap(value, bits) != value:
        raise _unexpected(name, value, f"a {bits}-bit integer{_WIDTH_NAMES[bits]}")
    return int(value)


def _parse_double(name: str, value: Any) -> float:
    if isinstance(value, str):
        return parse_double(value)
    if isinstance(value, bool) or not isinstance(value, int | float | decimal.Decimal):
        raise _unexpected(name, value, "a double")
    return float(value)


def _parse_list(name: str, value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    if not isinstance(value, str):
        raise invalid(name, value, "Expected a comma separated list.")
    trimmed = trim(value)
    return [part.strip(_LIST_BLANKS) for part in trimmed.split(",")] if trimmed else []


def _unexpected(name: str, value: Any, expected: str) -> ConfigError:
    kind = type(value)
    found = _PASSWORD if kind is Password else java_class(kind) or class_name(kind)
    return invalid(name, value, f"Expected value to be {expected}, but it was a {found}")


_PARSERS: dict[ConfigType, Callable[[str, Any], Any]] = {
    ConfigType.BOOLEAN: _parse_boolean,
    ConfigType.STRING: _parse_string,
    ConfigType.PASSWORD: _parse_password,
    ConfigType.INT: _parse_int,
    ConfigType.SHORT: _parse_short,
    ConfigType.LONG: _parse_long,
    ConfigType.DOUBLE: _parse_double,
    ConfigType.LIST: _parse_list,
}

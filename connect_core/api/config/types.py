"""The vocabulary of a configuration definition: types, importance, width, secrets."""

from __future__ import annotations

from enum import Enum
from typing import Final

__all__ = ["NO_DEFAULT", "ConfigType", "Importance", "NoDefault", "Password", "Width"]


class ConfigType(Enum):
    """The type a setting's text is parsed as; ``str()`` returns Connect's name."""

    BOOLEAN = "boolean"
    STRING = "string"
    INT = "int"
    SHORT = "short"
    LONG = "long"
    DOUBLE = "double"
    LIST = "list"
    CLASS = "class"
    PASSWORD = "password"

    def __str__(self) -> str:
        return self.name

    @property
    def is_sensitive(self) -> bool:
        """Whether values must not be shown."""
        return self is ConfigType.PASSWORD


class Importance(Enum):
    """How important a setting is to an operator; the value orders the documentation."""

    HIGH = 0
    MEDIUM = 1
    LOW = 2

    def __str__(self) -> str:
        return self.name


class Width(Enum):
    """The width of the input field a user interface should offer."""

    NONE = 0
    SHORT = 1
    MEDIUM = 2
    LONG = 3

    def __str__(self) -> str:
        return self.name


class NoDefault(Enum):
    """The type of ``NO_DEFAULT``."""

    NO_DEFAULT = "no default"


NO_DEFAULT: Final = NoDefault.NO_DEFAULT
"""Marks a setting as required; ``None`` is a default like any other."""


class Password:
    """A secret: shown as ``[hidden]``, readable by ``value``."""

    __slots__ = ("value",)

    HIDDEN = "[hidden]"

    def __init__(self, value: str) -> None:
        self.value = value

    def __repr__(self) -> str:
        return self.HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Password) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

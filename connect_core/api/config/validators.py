"""Checks of parsed values; ``str()`` of a validator is its text in the documentation."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from connect_core.api.config.parsing import invalid
from connect_core.errors import ClassCastError, ConfigError, IllegalArgumentError, NullValueError
from connect_core.java.hash_order import in_hash_order
from connect_core.java.text import to_text

__all__ = [
    "CaseInsensitiveValidString",
    "CompositeValidator",
    "LambdaValidator",
    "ListSize",
    "NonEmptyString",
    "NonEmptyStringWithoutControlChars",
    "NonNullValidator",
    "Range",
    "ValidList",
    "ValidString",
    "Validator",
]


class Validator(Protocol):
    """Checks a setting's parsed values, and its default when it is defined."""

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError naming the setting unless the value is valid."""


@dataclass(frozen=True, slots=True)
class Range:
    """Accepts numbers between two bounds, both included; ``None`` means no bound."""

    minimum: float | None
    maximum: float | None

    @classmethod
    def at_least(cls, minimum: float) -> Range:
        """Allow numbers from ``minimum`` on."""
        return cls(minimum, None)

    @classmethod
    def between(cls, minimum: float | None, maximum: float | None) -> Range:
        """Allow numbers from ``minimum`` to ``maximum``."""
        return cls(minimum, maximum)

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for null and for numbers outside the bounds; compared as doubles."""
        if value is None:
            raise invalid(name, None, "Value must be non-null")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ClassCastError(f"{name} is {to_text(value)}, not a number, and cannot be compared")
        if self.minimum is not None and float(value) < float(self.minimum):
            raise invalid(name, value, f"Value must be at least {to_text(self.minimum)}")
        if self.maximum is not None and float(value) > float(self.maximum):
            raise invalid(name, value, f"Value must be no more than {to_text(self.maximum)}")

    def __str__(self) -> str:
        if self.minimum is None and self.maximum is None:
            return "[...]"
        low = "..." if self.minimum is None else to_text(self.minimum)
        if self.maximum is None:
            return f"[{low},...]"
        return f"[{low},{to_text(self.maximum)}]" if self.minimum is None else f"[{low},...,{to_text(self.maximum)}]"


@dataclass(frozen=True, slots=True)
class ValidString:
    """Accepts one of the given texts."""

    valid: tuple[str, ...]

    @classmethod
    def one_of(cls, *valid: str) -> ValidString:
        """Allow these texts. Connect: ``ValidString.in``."""
        return cls(valid)

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for another text, or null."""
        if _cast(name, value, str) not in self.valid:
            raise invalid(name, value, f"String must be one of: {', '.join(self.valid)}")

    def __str__(self) -> str:
        return f"[{', '.join(self.valid)}]"


@dataclass(frozen=True, slots=True)
class CaseInsensitiveValidString:
    """Accepts one of the given texts in any case; shown in upper case, in Java's hash order."""

    valid: tuple[str, ...]

    @classmethod
    def one_of(cls, *valid: str) -> CaseInsensitiveValidString:
        """Allow these texts. Connect: ``CaseInsensitiveValidString.in``."""
        return cls(tuple(in_hash_order(text.upper() for text in valid)))

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for another text, or null."""
        text = _cast(name, value, str)
        if text is None or text.upper() not in self.valid:
            raise invalid(name, value, f"String must be one of (case insensitive): {', '.join(self.valid)}")

    def __str__(self) -> str:
        return f"(case insensitive) [{', '.join(self.valid)}]"


@dataclass(frozen=True, slots=True)
class ValidList:
    """Accepts a list without duplicates or blank elements, optionally of certain texts only.

    ``parse`` drops the duplicates of a setting with this validator.
    """

    valid: tuple[str, ...]
    empty_allowed: bool = True
    null_allowed: bool = False

    @classmethod
    def any_non_duplicate_values(cls, empty_allowed: bool, null_allowed: bool) -> ValidList:
        """Allow any elements."""
        return cls((), empty_allowed, null_allowed)

    @classmethod
    def one_of(cls, *valid: str, empty_allowed: bool = True) -> ValidList:
        """Allow these elements. Connect: ``ValidList.in``."""
        if not empty_allowed and not valid:
            raise IllegalArgumentError("At least one valid string must be provided when empty values are not allowed")
        return cls(valid, empty_allowed)

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for a list that is not valid."""
        if value is None:
            if self.null_allowed:
                return
            raise ConfigError(f"Configuration '{name}' values must not be null.")
        elements: list[Any] = _cast(name, value, list)
        if not elements and not self.empty_allowed:
            raise ConfigError(
                f"Configuration '{name}' must not be empty. Valid values include: {self or 'any non-empty value'}"
            )
        if len(set(elements)) != len(elements):
            raise ConfigError(f"Configuration '{name}' values must not be duplicated.")
        for element in elements:
            self._ensure_element(name, element)

    def _ensure_element(self, name: str, element: Any) -> None:
        if not isinstance(element, str):
            return
        if not element:
            raise ConfigError(f"Configuration '{name}' values must not be empty.")
        if self.valid:
            ValidString(self.valid).ensure_valid(name, element)

    def __bool__(self) -> bool:
        return bool(self.valid)

    def __str__(self) -> str:
        return str(ValidString(self.valid)) if self.valid else ""


@dataclass(frozen=True, slots=True)
class NonNullValidator:
    """Accepts anything but null."""

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for null."""
        if value is None:
            raise invalid(name, None, "entry must be non null")

    def __str__(self) -> str:
        return "non-null string"


@dataclass(frozen=True, slots=True)
class NonEmptyString:
    """Accepts a text that is not empty, or null."""

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for the empty text."""
        if _cast(name, value, str) == "":
            raise invalid(name, value, "String must be non-empty")

    def __str__(self) -> str:
        return "non-empty string"


@dataclass(frozen=True, slots=True)
class NonEmptyStringWithoutControlChars:
    """Accepts a text that is not empty and has no ISO control characters, or null."""

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for the empty text, or with the control characters found."""
        text = _cast(name, value, str)
        if text is None:
            return
        if not text:
            raise invalid(name, value, "String may not be empty")
        found = [str(ord(character)) for character in text if unicodedata.category(character) == "Cc"]
        if found:
            raise invalid(
                name,
                value,
                f"String may not contain control sequences but had the following ASCII chars: {', '.join(found)}",
            )

    def __str__(self) -> str:
        return "non-empty string without ISO control characters"


@dataclass(frozen=True, slots=True)
class ListSize:
    """Accepts a list up to a maximum size."""

    maximum: int

    @classmethod
    def at_most_of_size(cls, maximum: int) -> ListSize:
        """Allow up to ``maximum`` elements."""
        return cls(maximum)

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for a longer list, NullValueError for null."""
        if value is None:
            raise NullValueError(f"{name} is null, so it has no size")
        if len(_cast(name, value, list)) > self.maximum:
            raise invalid(name, value, f"exceeds maximum list size of [{self.maximum}].")

    def __str__(self) -> str:
        return f"List containing maximum of {self.maximum} elements"


@dataclass(frozen=True, slots=True)
class CompositeValidator:
    """Applies several validators in turn."""

    validators: tuple[Validator, ...]

    @classmethod
    def of(cls, *validators: Validator) -> CompositeValidator:
        """Require all of these."""
        return cls(validators)

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise what the first unsatisfied validator raises."""
        for validator in self.validators:
            validator.ensure_valid(name, value)

    def __str__(self) -> str:
        return _joined(self.validators)


@dataclass(frozen=True, slots=True)
class LambdaValidator:
    """A validator made of a function and its text."""

    check: Callable[[str, Any], None]
    text: Callable[[], str]

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise what the function raises."""
        self.check(name, value)

    def __str__(self) -> str:
        return self.text()


def _joined(validators: Sequence[Validator]) -> str:
    text = ""
    for validator in validators:
        text += f", {validator}" if text else str(validator)
    return text


def _cast(name: str, value: Any, wanted: type) -> Any:
    if value is not None and not isinstance(value, wanted):
        raise ClassCastError(f"{name} is {to_text(value)}, which is not a {wanted.__name__}")
    return value

"""The treatment of one key of another vendor's sink: honoured, mapped to settings of ours, or not needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from connect_core.api.config import ConfigType, Importance, Validator
from connect_core.errors import ConfigError

__all__ = ["Hint", "Key", "Named", "Treatment", "choice", "no_hint"]

Reading = Callable[[str], Mapping[str, str]]
"""Translates a value to settings of ours. Raises ConfigError naming key, value and remedy."""


Hint = Callable[[Mapping[str, str], str], str]
"""Takes a configuration that contains the key, and its name → a hint, or an empty text."""


def no_hint(config: Mapping[str, str], name: str) -> str:
    """Return an empty text."""
    return ""


class Treatment(Enum):
    """How this connector treats a key."""

    HONOURED = "honoured"
    MAPPED = "mapped"
    UNNEEDED = "not needed"


@dataclass(frozen=True, slots=True)
class Key:
    """One key with its vendor's default; ``doc`` describes its effect here, or why it is not needed."""

    name: str
    type: ConfigType
    default: Any
    treatment: Treatment
    doc: str
    read: Reading
    validator: Validator | None = None
    importance: Importance = Importance.MEDIUM
    hint: Hint = no_hint

    @property
    def text(self) -> str:
        """Its documentation, marked if the key is not needed."""
        return f"Not needed here: {self.doc}" if self.treatment is Treatment.UNNEEDED else self.doc


@dataclass(frozen=True, slots=True)
class Named:
    """A key as its vendor defines it; the methods set its treatment."""

    name: str
    type: ConfigType
    default: Any
    validator: Validator | None = None

    def honoured(self, doc: str, *, empty: bool = True) -> Key:
        """Return a key that is one of ours; with ``empty=False``, an empty text means our default."""
        return self._key(Treatment.HONOURED, doc, lambda value: {self.name: value} if value or empty else {})

    def mapped(self, doc: str, read: Reading, hint: Hint = no_hint) -> Key:
        """Return a key whose values are translated to settings of ours; ``hint`` is logged once if the key is given."""
        return replace(self._key(Treatment.MAPPED, doc, read), hint=hint)

    def only(self, doc: str, values: tuple[str, ...], remedy: str) -> Key:
        """Return a key that accepts only these values (in lower case), which have no effect."""

        def read(value: str) -> Mapping[str, str]:
            if value.strip().lower() not in values:
                raise ConfigError(self.name, "[hidden]" if self.type.is_sensitive else value, remedy)
            return {}

        return self._key(Treatment.HONOURED, doc, read)

    def unneeded(self, why: str) -> Key:
        """Return a key that is accepted without effect; ``why`` is logged once if it is given."""
        return self._key(Treatment.UNNEEDED, why, lambda value: {})

    def _key(self, treatment: Treatment, doc: str, read: Reading) -> Key:
        importance = Importance.LOW if treatment is Treatment.UNNEEDED else Importance.MEDIUM
        return Key(self.name, self.type, self.default, treatment, doc, read, self.validator, importance)


def choice(name: str, default: Any, doc: str, values: Mapping[str, Mapping[str, str]], remedy: str) -> Key:
    """Return a key with a fixed set of values, each translated to settings of ours; others are refused."""

    def read(value: str) -> Mapping[str, str]:
        found = values.get(value.strip().lower())
        if found is None:
            raise ConfigError(name, value, f"{remedy}; possible values are: {', '.join(filter(None, values))}")
        return found

    return Named(name, ConfigType.STRING, default).mapped(doc, read)

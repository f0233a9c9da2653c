"""One setting of a definition, the recommender of its values, and the result of validating it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypedDict

from connect_core.api.config.types import NO_DEFAULT, ConfigType, Importance, Width
from connect_core.api.config.validators import Validator

__all__ = ["ConfigKey", "ConfigValue", "KeyTraits", "Recommender"]


class Recommender(Protocol):
    """Suggests values of a setting from those of the others. Connect: ``Recommender``."""

    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> Sequence[Any]:
        """Return the values to suggest; ``parsed`` lacks settings that could not be parsed.

        A ConfigError becomes an error message of the setting.
        """

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool:
        """Return whether the setting is relevant with these values."""


class KeyTraits(TypedDict, total=False):
    """The arguments of ``ConfigDef.define`` besides name, type and default."""

    validator: Validator | None
    importance: Importance
    doc: str | None
    group: str | None
    order: int
    width: Width
    display_name: str | None
    dependents: Sequence[str]
    recommender: Recommender | None
    internal: bool
    alternative: str | None


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """A setting: ``default`` is parsed already, ``NO_DEFAULT`` means required.

    ``dependents`` are settings validated after this one; ``internal`` excludes it
    from the documentation; ``alternative`` is shown there as its default.
    """

    name: str
    type: ConfigType
    default: Any = NO_DEFAULT
    validator: Validator | None = None
    importance: Importance = Importance.HIGH
    doc: str | None = ""
    group: str | None = None
    order: int = -1
    width: Width = Width.NONE
    display_name: str | None = None
    dependents: tuple[str, ...] = ()
    recommender: Recommender | None = None
    internal: bool = False
    alternative: str | None = None

    @property
    def has_default(self) -> bool:
        """Whether the setting may be left out."""
        return self.default is not NO_DEFAULT


@dataclass(slots=True)
class ConfigValue:
    """The validation result of one setting."""

    name: str
    value: Any = None
    recommended_values: list[Any] = field(default_factory=list)
    error_messages: list[str] = field(default_factory=list)
    visible: bool = True

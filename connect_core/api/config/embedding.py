"""A setting of one definition embedded in another, under a prefix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from connect_core.api.config.key import ConfigKey, Recommender
from connect_core.api.config.validators import Validator

__all__ = ["embedded_key"]


def embedded_key(prefix: str, key: ConfigKey) -> ConfigKey:
    """Return the key under the prefix; its validator and recommender get names without it."""
    return replace(
        key,
        name=prefix + key.name,
        validator=None if key.validator is None else _EmbeddedValidator(prefix, key.validator),
        dependents=tuple(prefix + name for name in key.dependents),
        recommender=None if key.recommender is None else _EmbeddedRecommender(prefix, key.recommender),
    )


@dataclass(frozen=True, slots=True)
class _EmbeddedValidator:
    prefix: str
    base: Validator

    def ensure_valid(self, name: str, value: Any) -> None:
        self.base.ensure_valid(name[len(self.prefix) :], value)

    def __str__(self) -> str:
        return str(self.base)


@dataclass(frozen=True, slots=True)
class _EmbeddedRecommender:
    prefix: str
    base: Recommender

    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> Sequence[Any]:
        return self.base.valid_values(name[len(self.prefix) :], self._bare(parsed))

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool:
        return self.base.visible(name[len(self.prefix) :], self._bare(parsed))

    def _bare(self, parsed: Mapping[str, Any]) -> dict[str, Any]:
        size = len(self.prefix)
        return {name[size:]: value for name, value in parsed.items() if name.startswith(self.prefix)}

"""Settings of Java plugins as ``ConfigDef`` definitions; their validators run in a host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from connect_core.api.config import ConfigDef, ConfigKey, ConfigType, ConfigValue, Importance, Password, Width
from connect_core.api.config.types import NO_DEFAULT

__all__ = ["config_values", "definition_of"]

Json = Mapping[str, Any]
Check = Callable[[str, str | None], None]
"""Validates a setting's value, as text, by the plugin's own validator. Raises ConfigError."""


@dataclass(frozen=True, slots=True)
class _Validator:
    """A validator in a host; it is not called for the default, which the plugin itself set."""

    check: Check
    default: Any
    text: str

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for a value that the plugin refuses."""
        if value != self.default:
            self.check(name, _text(value))

    def __str__(self) -> str:
        return self.text


def definition_of(settings: Sequence[Json], check: Check) -> ConfigDef:
    """Return the definition of a plugin's described settings."""
    definition = ConfigDef(resolve=_named_class)
    for told in settings:
        definition.define_key(_key(told))
    # Added afterwards: a definition calls its validators for defaults.
    keys: Any = definition.config_keys()
    for told in settings:
        if told["validator"] is not None:
            key = keys[told["name"]]
            keys[key.name] = replace(key, validator=_Validator(check, key.default, told["validator"]))
    return definition


def _key(told: Json) -> ConfigKey:
    kind = ConfigType[told["type"]]
    return ConfigKey(
        name=told["name"],
        type=kind,
        default=NO_DEFAULT if told["required"] else told["default"],
        importance=Importance[told["importance"]],
        doc=told["documentation"],
        group=told["group"],
        order=told["order"],
        width=Width[told["width"]],
        display_name=told["displayName"],
        dependents=tuple(told["dependents"]),
        internal=told["internal"],
    )


def config_values(told: Sequence[Json], definition: ConfigDef) -> list[ConfigValue]:
    """Return the results of a plugin's own validation."""
    keys = definition.config_keys()
    return [
        ConfigValue(
            one["name"],
            _shown(one["value"], keys.get(one["name"])),
            list(one["recommended"]),
            list(one["errors"]),
            one["visible"],
        )
        for one in told
    ]


def _shown(value: str | None, key: ConfigKey | None) -> Any:
    return Password("") if value is not None and key is not None and key.type is ConfigType.PASSWORD else value


def _named_class(name: str) -> type:
    """Return a placeholder for a Java class: only the host can load it."""
    package, _, simple = name.rpartition(".")
    return type(simple, (), {"__module__": package})


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, Password):
        return value.value
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, list):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)

"""AbstractConfig: a parsed configuration that records which settings were read."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, TypeVar

from connect_core.api.config.definition import ConfigDef
from connect_core.api.config.parsing import class_name
from connect_core.api.config.types import ConfigType, Password
from connect_core.errors import ClassCastError, ConfigError, ConnectError

__all__ = ["AbstractConfig"]

_LOG = logging.getLogger(__name__)
Kind = TypeVar("Kind")
"""The class that a value must have."""


class AbstractConfig:
    """The given settings, parsed by a definition; subclass it to give them names.

    Raise ConfigError for the first bad setting. Every getter marks its setting
    as used. Connect: ``AbstractConfig``.
    """

    def __init__(self, definition: ConfigDef, originals: Mapping[str, Any]) -> None:
        self._definition = definition
        self._originals = dict(originals)
        self._used: set[str] = set()
        self._values = definition.parse(self._originals)
        self._values.update(self.post_process_parsed_config(self._values))
        definition.parse(self._values)

    def post_process_parsed_config(self, parsed: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return settings to change after parsing; override it if some depend on others."""
        return {}

    def get(self, name: str) -> Any:
        """Return a setting's value. Raise ConfigError for an unknown name."""
        if name not in self._values:
            raise ConfigError(f"Unknown configuration '{name}'")
        self._used.add(name)
        return self._values[name]

    def get_short(self, name: str) -> int | None:
        """Return a SHORT setting."""
        return self._typed(name, int)

    def get_int(self, name: str) -> int | None:
        """Return an INT setting."""
        return self._typed(name, int)

    def get_long(self, name: str) -> int | None:
        """Return a LONG setting."""
        return self._typed(name, int)

    def get_double(self, name: str) -> float | None:
        """Return a DOUBLE setting."""
        return self._typed(name, float)

    def get_boolean(self, name: str) -> bool | None:
        """Return a BOOLEAN setting."""
        return self._typed(name, bool)

    def get_string(self, name: str) -> str | None:
        """Return a STRING setting."""
        return self._typed(name, str)

    def get_list(self, name: str) -> list[str] | None:
        """Return a LIST setting."""
        return self._typed(name, list)

    def get_password(self, name: str) -> Password | None:
        """Return a PASSWORD setting."""
        return self._typed(name, Password)

    def get_class(self, name: str) -> type | None:
        """Return a CLASS setting."""
        return self._typed(name, type)

    def get_configured_instance(
        self, name: str, kind: type[Kind], overrides: Mapping[str, Any] | None = None
    ) -> Kind | None:
        """Return a new object of a CLASS setting's class, configured with the originals."""
        found = self.get_class(name)
        if found is None:
            return None
        made = found()
        if not isinstance(made, kind):
            raise ConnectError(f"{class_name(found)}, set as {name}, is not a {class_name(kind)}")
        configure = getattr(made, "configure", None)
        if configure is not None:
            configure({**self.originals(), **(overrides or {})})
        return made

    def type_of(self, name: str) -> ConfigType | None:
        """Return the type of a setting, ``None`` for an unknown one."""
        key = self._definition.config_keys().get(name)
        return None if key is None else key.type

    def documentation_of(self, name: str) -> str | None:
        """Return the documentation of a setting, ``None`` for an unknown one."""
        key = self._definition.config_keys().get(name)
        return None if key is None else key.doc

    def values(self) -> dict[str, Any]:
        """Return all parsed values; reading one there marks it as used."""
        return _Recording(self._used, self._values)

    def non_internal_values(self) -> dict[str, Any]:
        """Return the parsed values without those of internal settings."""
        keys = self._definition.config_keys()
        shown = {name: value for name, value in self._values.items() if name not in keys or not keys[name].internal}
        return _Recording(self._used, shown)

    def originals(self) -> dict[str, Any]:
        """Return the settings as given; reading one there marks it as used."""
        return _Recording(self._used, self._originals)

    def originals_strings(self) -> dict[str, str]:
        """Return the settings as given. Raise ClassCastError unless all are strings."""
        for name, value in self._originals.items():
            if not isinstance(value, str):
                found = None if value is None else class_name(type(value))
                raise ClassCastError(f"Non-string value found in original settings for key {name}: {found}")
        return _Recording(self._used, self._originals)

    def originals_with_prefix(self, prefix: str, strip: bool = True) -> dict[str, Any]:
        """Return the settings under a prefix, without it unless ``strip`` is false."""
        found = {
            name[len(prefix) :] if strip else name: value
            for name, value in self._originals.items()
            if name.startswith(prefix) and len(name) > len(prefix)
        }
        return _Recording(self._used, found, prefix)

    def values_with_prefix_override(self, prefix: str) -> dict[str, Any]:
        """Return all values, each replaced by the setting of its prefixed name if given.

        A name is also looked up without a second prefix, up to its first dot.
        """
        result = _Recording(self._used, self._values, prefix, fallback=True)
        keys = self._definition.config_keys()
        for name, value in self.originals_with_prefix(prefix).items():
            key = keys.get(name) or keys.get(name[name.find(".") + 1 :])
            if key is not None:
                result[name] = self._definition.parse_value(key, value)
        return result

    def values_with_prefix_all_or_nothing(self, prefix: str) -> dict[str, Any]:
        """Return the values under a prefix if there are any, else all values."""
        given = self.originals_with_prefix(prefix)
        if not given:
            return _Recording(self._used, self._values, fallback=True)
        keys = self._definition.config_keys()
        parsed = {name: self._definition.parse_value(keys[name], v) for name, v in given.items() if name in keys}
        return _Recording(self._used, parsed, prefix, fallback=True)

    def ignore(self, name: str) -> None:
        """Mark a setting as used."""
        self._used.add(name)

    def unused(self) -> set[str]:
        """Return the given settings that nothing has read."""
        return set(self._originals) - self._used

    def log_unused(self) -> None:
        """Log the given settings that nothing has read."""
        if self.unused():
            _LOG.info("These configurations were supplied but are not used yet: %s", sorted(self.unused()))

    def _typed(self, name: str, kind: type[Kind]) -> Kind | None:
        value = self.get(name)
        if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            raise ClassCastError(f"{name} is of type {self.type_of(name)}, but its value is not a {kind.__name__}")
        return value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._originals == other._originals

    def __hash__(self) -> int:
        return hash(frozenset(self._originals))


class _Recording(dict[str, Any]):
    """Settings that record the full name of each one read."""

    def __init__(self, used: set[str], values: Mapping[str, Any], prefix: str = "", fallback: bool = False) -> None:
        super().__init__(values)
        self._used, self._prefix, self._fallback = used, prefix, fallback

    def __getitem__(self, name: str) -> Any:
        self._note(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._note(name)
        return super().get(name, default)

    def _note(self, name: str) -> None:
        self._used.add(self._prefix + name)
        if self._fallback:
            self._used.add(name)

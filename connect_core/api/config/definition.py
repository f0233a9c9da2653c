"""ConfigDef: the settings of a component, and how they are parsed and checked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Unpack

from connect_core.api.config import documentation
from connect_core.api.config.embedding import embedded_key
from connect_core.api.config.key import ConfigKey, ConfigValue, KeyTraits
from connect_core.api.config.parsing import ClassResolver, loaded_class, parse_type
from connect_core.api.config.types import NO_DEFAULT, ConfigType
from connect_core.api.config.validation import validate_all
from connect_core.api.config.validators import ValidList
from connect_core.errors import ConfigError
from connect_core.java.hash_order import in_hash_order

__all__ = ["ConfigDef"]

_LOG = logging.getLogger(__name__)


class ConfigDef:
    """A table of settings in the order defined. Connect: ``ConfigDef``.

    ``resolve`` finds the class of a CLASS setting; without one, only classes
    already imported are found.
    """

    def __init__(self, base: ConfigDef | None = None, resolve: ClassResolver | None = None) -> None:
        self._keys: dict[str, ConfigKey] = {} if base is None else dict(base._keys)
        self._groups: list[str] = [] if base is None else list(base._groups)
        self._resolve: ClassResolver = resolve or (loaded_class if base is None else base._resolve)

    def define(self, name: str, type: ConfigType, default: Any = NO_DEFAULT, **traits: Unpack[KeyTraits]) -> ConfigDef:
        """Add a setting and return the definition.

        Raise ConfigError when the name is already defined, or the default cannot be
        parsed or is not valid.
        """
        names = {"display_name": name, "group": "" if traits.get("internal") else None, **traits}
        names["dependents"] = tuple(traits.get("dependents", ()))
        return self.define_key(ConfigKey(name, type, default, **names))  # type: ignore[arg-type]

    def define_key(self, key: ConfigKey) -> ConfigDef:
        """Add a complete setting; see ``define``."""
        if key.has_default:
            key = replace(key, default=parse_type(key.name, key.default, key.type, self._resolve))
            if key.validator is not None:
                key.validator.ensure_valid(key.name, key.default)
        if key.name in self._keys:
            raise ConfigError(f"Configuration {key.name} is defined twice.")
        if key.group is not None and key.group not in self._groups:
            self._groups.append(key.group)
        self._keys[key.name] = key
        return self

    def embed(self, key_prefix: str, group_prefix: str, starting_order: int, child: ConfigDef) -> None:
        """Add another definition's settings under a prefix, in their documented order."""
        for order, key in enumerate(child.sorted_keys(), starting_order):
            group = group_prefix + ("" if key.group is None else f": {key.group}")
            self.define_key(replace(embedded_key(key_prefix, key), group=group, order=order))

    def config_keys(self) -> Mapping[str, ConfigKey]:
        """Return the settings by name."""
        return self._keys

    def names(self) -> set[str]:
        """Return the names of the settings."""
        return set(self._keys)

    def group_names(self) -> list[str]:
        """Return the groups in the order of their first setting."""
        return list(self._groups)

    def default_values(self) -> dict[str, Any]:
        """Return the defaults of the settings that have one."""
        return {key.name: key.default for key in self._keys.values() if key.has_default}

    def sorted_keys(self) -> list[ConfigKey]:
        """Return the settings by group, order, required first, importance and name."""
        return documentation.sorted_keys(self._keys.values(), self._groups)

    def parse(self, props: Mapping[str, Any]) -> dict[str, Any]:
        """Return the value of every setting. Raise ConfigError for the first bad one."""
        undefined = self._undefined_dependents()
        if undefined:
            raise ConfigError(
                f"Some configurations in are referred in the dependents, but not defined: {','.join(undefined)}"
            )
        return {key.name: self.parse_value(key, props.get(key.name), key.name in props) for key in self._keys.values()}

    def parse_value(self, key: ConfigKey, value: Any, is_set: bool = True) -> Any:
        """Return one setting's value, or its default when it is not set."""
        if is_set:
            parsed = parse_type(key.name, value, key.type, self._resolve)
        elif key.has_default:
            parsed = key.default
        else:
            raise ConfigError(f'Missing required configuration "{key.name}" which has no default value.')
        if isinstance(key.validator, ValidList) and isinstance(parsed, list):
            parsed = _without_duplicates(key.name, parsed)
        if key.validator is not None:
            key.validator.ensure_valid(key.name, parsed)
        return parsed

    def validate(self, props: Mapping[str, str | None]) -> list[ConfigValue]:
        """Return every setting with its value, messages and recommendations; ConfigErrors become messages."""
        return list(self.validate_all(props).values())

    def validate_all(self, props: Mapping[str, str | None]) -> dict[str, ConfigValue]:
        """Return the results of ``validate`` by name."""
        return validate_all(self._keys, self._undefined_dependents(), props, self._resolve)

    def _undefined_dependents(self) -> list[str]:
        named = (name for key in self._keys.values() for name in key.dependents)
        return in_hash_order(name for name in named if name not in self._keys)

    def to_html(
        self,
        header_depth: int = 4,
        id_of: Callable[[str], str] = str,
        update_modes: Mapping[str, str] | None = None,
    ) -> str:
        """Return the settings as an HTML list; ``id_of`` returns the anchor of a name."""
        return documentation.to_html(self.sorted_keys(), header_depth, id_of, update_modes or {})

    def to_html_table(self, update_modes: Mapping[str, str] | None = None) -> str:
        """Return the settings as an HTML table."""
        return documentation.to_html_table(self.sorted_keys(), update_modes or {})

    def to_rst(self) -> str:
        """Return the settings as reStructuredText."""
        return documentation.to_rst(self.sorted_keys())

    def to_enriched_rst(self) -> str:
        """Return the settings as reStructuredText with groups and dependents."""
        return documentation.to_enriched_rst(self.sorted_keys())


def _without_duplicates(name: str, values: list[Any]) -> list[Any]:
    distinct = list(dict.fromkeys(values))
    if len(distinct) != len(values):
        _LOG.warning(
            'Configuration key "%s" contains duplicates, which are removed: %s becomes %s', name, values, distinct
        )
    return distinct

"""The result of validation, in the JSON shape of Connect's REST API (``ConfigInfos``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import TypedDict

from connect_core.api.config import ConfigKey, ConfigType, ConfigValue, Password, convert_to_string
from connect_core.configs.classes import class_text

__all__ = [
    "ConfigInfo",
    "ConfigInfos",
    "ConfigKeyInfo",
    "ConfigValueInfo",
    "ValidatedConfig",
    "ValidatedSetting",
    "key_info",
    "merged",
    "prefixed_infos",
    "ranked_infos",
]


class ConfigKeyInfo(TypedDict):
    """The definition of a setting, as REST shows it."""

    name: str
    type: str
    required: bool
    default_value: str | None
    importance: str
    documentation: str | None
    group: str | None
    order_in_group: int
    width: str
    display_name: str | None
    dependents: list[str]


class ConfigValueInfo(TypedDict):
    """A setting's value, its recommended values and errors, as REST shows it."""

    name: str
    value: str | None
    recommended_values: list[str | None]
    errors: list[str]
    visible: bool


class ConfigInfo(TypedDict):
    """A setting as REST shows it."""

    definition: ConfigKeyInfo | None
    value: ConfigValueInfo | None


class ConfigInfos(TypedDict):
    """Every setting of a configuration with its errors, as REST shows it."""

    name: str
    error_count: int
    groups: list[str]
    configs: list[ConfigInfo]


@dataclass(frozen=True, slots=True)
class ValidatedSetting:
    """One setting: its definition, if it has one, and its validated value."""

    key: ConfigKey | None
    value: ConfigValue | None

    @property
    def errors(self) -> list[str]:
        """The messages about the setting."""
        return self.value.error_messages if self.value else []

    def to_json(self) -> ConfigInfo:
        """Return REST's form."""
        kind = self.key.type if self.key else None
        return {
            "definition": None if self.key is None else key_info(self.key),
            "value": None if self.value is None else _value_info(self.value, kind),
        }


@dataclass(frozen=True, slots=True)
class ValidatedConfig:
    """All settings of a connector; ``error_count`` as Connect counts."""

    name: str
    error_count: int
    groups: tuple[str, ...]
    settings: tuple[ValidatedSetting, ...]

    def errors(self) -> dict[str, list[str]]:
        """Return the messages by setting."""
        found = ((info.value.name, info.errors) for info in self.settings if info.value is not None)
        return {name: errors for name, errors in found if errors}

    def message(self) -> str:
        """Return all errors as the text with which REST rejects the configuration."""
        lines = [f"Connector configuration is invalid and contains the following {self.error_count} error(s):"]
        lines += [error for errors in self.errors().values() for error in errors]
        endpoint = "`/connector-plugins/{connectorType}/config/validate`"
        lines.append(f"You can also find the above list of errors at the endpoint {endpoint}")
        return "\n".join(lines)

    def to_json(self) -> ConfigInfos:
        """Return REST's form."""
        return {
            "name": self.name,
            "error_count": self.error_count,
            "groups": list(self.groups),
            "configs": [info.to_json() for info in self.settings],
        }


def ranked_infos(
    name: str, keys: Mapping[str, ConfigKey], values: Iterable[ConfigValue], groups: Iterable[str]
) -> ValidatedConfig:
    """Return the settings in the order of ``keys``, undefined ones first.

    Of equal names the last counts. Connect: ``AbstractHerder.generateResult``.
    """
    by_name: dict[str, ConfigValue] = {}
    infos: list[ValidatedSetting] = []
    count = 0
    for value in values:
        by_name[value.name] = value
        if value.name not in keys:
            infos.append(ValidatedSetting(None, value))
            count += len(value.error_messages)
    for key in keys.values():
        infos.append(ValidatedSetting(key, by_name.get(key.name)))
        count += len(infos[-1].errors)
    return ValidatedConfig(name, count, tuple(dict.fromkeys(groups)), tuple(infos))


def prefixed_infos(keys: Mapping[str, ConfigKey], values: Iterable[ConfigValue], prefix: str) -> ValidatedConfig:
    """Return the settings of a plugin or client as part of a connector's.

    A setting with errors counts once. Connect: ``AbstractHerder.prefixedConfigInfos``.
    """
    infos = [
        ValidatedSetting(
            replace(keys[value.name], name=prefix + value.name) if value.name in keys else None,
            replace(value, name=prefix + value.name, visible=True),
        )
        for value in values
    ]
    groups = dict.fromkeys(info.key.group for info in infos if info.key and info.key.group is not None)
    return ValidatedConfig("", sum(bool(info.errors) for info in infos), tuple(groups), tuple(infos))


def merged(name: str, parts: Iterable[ValidatedConfig]) -> ValidatedConfig:
    """Return all parts as one."""
    found = list(parts)
    groups = dict.fromkeys(group for part in found for group in part.groups)
    infos = tuple(info for part in found for info in part.settings)
    return ValidatedConfig(name, sum(part.error_count for part in found), tuple(groups), infos)


def key_info(key: ConfigKey) -> ConfigKeyInfo:
    """Return REST's form of a setting's definition."""
    return {
        "name": key.name,
        "type": key.type.name,
        "required": not key.has_default,
        "default_value": _text(key.default, key.type) if key.has_default else None,
        "importance": key.importance.name,
        "documentation": key.doc,
        "group": key.group,
        "order_in_group": key.order,
        "width": key.width.name,
        "display_name": key.display_name,
        "dependents": list(key.dependents),
    }


def _value_info(value: ConfigValue, kind: ConfigType | None) -> ConfigValueInfo:
    recommended = ConfigType.STRING if kind is ConfigType.LIST else kind
    return {
        "name": value.name,
        "value": _text(value.value, kind),
        "recommended_values": [_text(item, recommended) for item in value.recommended_values],
        "errors": list(value.error_messages),
        "visible": value.visible,
    }


def _text(value: Any, kind: ConfigType | None) -> str | None:
    if kind is ConfigType.CLASS:
        value, kind = class_text(value), ConfigType.STRING
    return str(value) if isinstance(value, str | Password) else convert_to_string(value, kind)

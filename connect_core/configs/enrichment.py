"""The settings of a configuration's own transforms and predicates.

Connect: ``ConnectorConfig.enrich``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connect_core.api.config import ClassResolver, ConfigDef, ConfigType, Importance, Width, invalid, parse_type
from connect_core.api.transform import Predicate, Transformation
from connect_core.configs.classes import PluginRecommender, ensure_plugin
from connect_core.configs.versions import VersionValidator
from connect_core.errors import ConfigError, ConnectError
from connect_core.registry import PluginKind, registry

__all__ = ["NEGATE", "PREDICATE", "VERSION", "enriched"]

PREDICATE, NEGATE, VERSION = "predicate", "negate", "plugin.version"
_IMPLICIT = (PREDICATE, NEGATE)


@dataclass(frozen=True, slots=True)
class _Family:
    """The kind of plugin that the aliases of one list name."""

    setting: str
    kind: PluginKind
    interface: type

    @property
    def word(self) -> str:
        return self.kind.value.lower()


_TRANSFORMS = _Family("transforms", PluginKind.TRANSFORMATION, Transformation)
_PREDICATES = _Family("predicates", PluginKind.PREDICATE, Predicate)


@dataclass(frozen=True, slots=True)
class _TypeValidator:
    """Checks that a class provides a definition, and that ``negate`` comes with a predicate."""

    family: _Family
    alias: str
    config: Mapping[str, Any]

    def ensure_valid(self, name: str, value: Any) -> None:
        prefix = f"{self.family.setting}.{self.alias}."
        if self.family is _TRANSFORMS and prefix + NEGATE in self.config and prefix + PREDICATE not in self.config:
            raise ConfigError(
                f"Config '{prefix}{NEGATE}' was provided but there is no config '{prefix}{PREDICATE}' "
                "defining a predicate to be negated."
            )
        if value is not None:
            _definition_of(self.family, name, value)

    def __str__(self) -> str:
        return f"valid configs for {self.alias} {self.family.word}"


def enriched(base: ConfigDef, config: Mapping[str, Any], resolve: ClassResolver, *, is_strict: bool) -> ConfigDef:
    """Return ``base`` with the settings of every aliased transform and predicate.

    ``is_strict``: raise ConfigError for a class that cannot be described;
    otherwise leave its settings out, since the error is shown at its ``type``.
    """
    definition = ConfigDef(base)
    for family in (_TRANSFORMS, _PREDICATES):
        aliases = parse_type(family.setting, config.get(family.setting), ConfigType.LIST) or []
        for alias in dict.fromkeys(aliases):
            _define(definition, family, alias, config)
            name = f"{family.setting}.{alias}.type"
            try:
                found = parse_type(name, config.get(name), ConfigType.CLASS, resolve)
                child = _child(family, name, found)
            except ConfigError:
                if is_strict:
                    raise
                continue
            definition.embed(f"{family.setting}.{alias}.", _group(family, alias), 2, child)
    return definition


def _group(family: _Family, alias: str) -> str:
    return f"{family.setting.capitalize()}: {alias}"


def _define(definition: ConfigDef, family: _Family, alias: str, config: Mapping[str, Any]) -> None:
    prefix, group = f"{family.setting}.{alias}.", _group(family, alias)
    definition.define(
        f"{prefix}type",
        ConfigType.CLASS,
        validator=_TypeValidator(family, alias, config),
        doc=f"Class for the '{alias}' {family.word}.",
        group=group,
        order=0,
        width=Width.LONG,
        display_name=f"{family.kind.value} type for {alias}",
        recommender=PluginRecommender((family.word,)),
    )
    plugin = registry().describe(config.get(f"{prefix}type") or "")
    definition.define(
        prefix + VERSION,
        ConfigType.STRING,
        plugin and plugin.version,
        validator=VersionValidator(),
        importance=Importance.MEDIUM,
        doc=f"Version of the '{alias}' {family.word}.",
        group=group,
        order=1,
        width=Width.LONG,
        display_name=f"{family.kind.value} version for {alias}",
    )


def _child(family: _Family, name: str, found: Any) -> ConfigDef:
    child = ConfigDef()
    if family is _TRANSFORMS:
        child.define(
            PREDICATE,
            ConfigType.STRING,
            None,
            importance=Importance.MEDIUM,
            doc="Alias of the predicate that decides which records the transform applies to.",
        )
        child.define(
            NEGATE,
            ConfigType.BOOLEAN,
            False,
            importance=Importance.MEDIUM,
            doc="Whether the transform applies to the records that do not match the predicate.",
        )
    for key in _definition_of(family, name, found).config_keys().values():
        if family is not _TRANSFORMS or key.name not in _IMPLICIT:
            child.define_key(key)
    return child


def _definition_of(family: _Family, name: str, found: Any) -> ConfigDef:
    if found is None:
        raise invalid(name, None, f"Not a {family.kind.value}")
    ensure_plugin(family.kind, found, family.interface)
    definition: ConfigDef | None = found().config()
    if definition is None:
        raise ConnectError(f"{registry().name_of(found)}.config() must return a ConfigDef that is not null.")
    return definition

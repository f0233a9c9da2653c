"""The settings every connector has. Connect: ``ConnectorConfig``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from connect_core.api.config import (
    ClassResolver,
    CompositeValidator,
    ConfigDef,
    ConfigType,
    Importance,
    LambdaValidator,
    NonEmptyStringWithoutControlChars,
    NonNullValidator,
    Range,
    ValidString,
    Width,
)
from connect_core.api.convert import Converter, HeaderConverter
from connect_core.configs.classes import PluginRecommender, PluginValidator
from connect_core.configs.versions import VersionValidator
from connect_core.errors import ConfigError
from connect_core.registry import PluginKind

__all__ = [
    "COMMON_GROUP",
    "CONVERTERS",
    "ERROR_GROUP",
    "ConverterDefault",
    "Defaults",
    "common_definition",
    "unique_aliases",
]

COMMON_GROUP, ERROR_GROUP = "Common", "Error Handling"

CONVERTERS = ("key.converter", "value.converter", "header.converter")


@dataclass(frozen=True, slots=True)
class ConverterDefault:
    """The converter a connector gets when it names none."""

    name: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Defaults:
    """The values that determine the defaults of a connector's settings.

    ``is_enriched``: whether plugins are recommended, as for validation.
    """

    connector_version: str | None = None
    key: ConverterDefault = ConverterDefault()
    value: ConverterDefault = ConverterDefault()
    header: ConverterDefault = ConverterDefault()
    is_enriched: bool = False


@dataclass(frozen=True, slots=True)
class _Fixed:
    """Recommends one value, if there is one."""

    value: str | None

    def valid_values(self, name: str, parsed: Any) -> list[Any]:
        return [] if self.value is None else [self.value]

    def visible(self, name: str, parsed: Any) -> bool:
        return True


def common_definition(defaults: Defaults, resolve: ClassResolver) -> ConfigDef:
    """Return the settings that sources and sinks share. Connect: ``ConnectorConfig.configDef``."""
    config = ConfigDef(resolve=resolve)
    _identity(config, defaults)
    _tasks(config)
    _converters(config, defaults)
    _chain(config)
    _errors(config)
    return config


def _identity(config: ConfigDef, defaults: Defaults) -> None:
    config.define(
        "name",
        ConfigType.STRING,
        validator=NonEmptyStringWithoutControlChars(),
        doc="Unique name of the connector.",
        group=COMMON_GROUP,
        order=1,
        width=Width.MEDIUM,
        display_name="Connector name",
    )
    config.define(
        "connector.class",
        ConfigType.STRING,
        doc="Class of the connector: its full name, its simple name, or the short form without Connector.",
        group=COMMON_GROUP,
        order=2,
        width=Width.LONG,
        display_name="Connector class",
    )
    config.define(
        "connector.plugin.version",
        ConfigType.STRING,
        defaults.connector_version,
        validator=VersionValidator(),
        importance=Importance.MEDIUM,
        doc="Required version of the connector's plugin.",
        group=COMMON_GROUP,
        order=3,
        width=Width.MEDIUM,
        display_name="Connector version",
        recommender=_Fixed(defaults.connector_version) if defaults.is_enriched else None,
    )


def _tasks(config: ConfigDef) -> None:
    config.define(
        "tasks.max",
        ConfigType.INT,
        1,
        validator=Range.at_least(1),
        doc="Maximum number of tasks that share the work.",
        group=COMMON_GROUP,
        order=4,
        width=Width.SHORT,
        display_name="Tasks max",
    )
    config.define(
        "tasks.max.enforce",
        ConfigType.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether a connector that makes more tasks than tasks.max fails.",
        group=COMMON_GROUP,
        order=5,
        width=Width.SHORT,
        display_name="Enforce tasks max",
    )


def _converters(config: ConfigDef, defaults: Defaults) -> None:
    rows = (("key", defaults.key), ("value", defaults.value), ("header", defaults.header))
    for order, (part, default) in enumerate(rows, 3):
        kind = PluginKind.HEADER_CONVERTER if part == "header" else PluginKind.CONVERTER
        name, title = f"{part}.converter", f"{part.capitalize()} converter"
        types = ("header_converter",) if part == "header" else ("converter",)
        config.define(
            name,
            ConfigType.CLASS,
            default.name,
            validator=PluginValidator(kind, HeaderConverter if part == "header" else Converter),
            importance=Importance.LOW,
            doc=f"Converter for record {part}s, instead of the worker's; its settings begin with {name}.",
            group=COMMON_GROUP,
            order=2 * order,
            width=Width.SHORT,
            display_name=f"{title} class",
            recommender=PluginRecommender(types) if defaults.is_enriched else None,
        )
        config.define(
            f"{name}.plugin.version",
            ConfigType.STRING,
            default.version,
            validator=VersionValidator(),
            importance=Importance.LOW,
            doc=f"Required version of the {part} converter's plugin.",
            group=COMMON_GROUP,
            order=2 * order + 1,
            width=Width.SHORT,
            display_name=f"{title} version",
            recommender=_Fixed(default.version) if defaults.is_enriched else None,
        )


def _chain(config: ConfigDef) -> None:
    for order, (name, kind, doc) in enumerate(
        (
            ("transforms", "transformation", "Aliases of the transforms that records go through, in order."),
            ("predicates", "predicate", "Aliases of the predicates that transforms can be conditional on."),
        ),
        12,
    ):
        config.define(
            name,
            ConfigType.LIST,
            [],
            validator=unique_aliases(f"{kind} aliases"),
            importance=Importance.LOW,
            doc=doc,
            group=name.capitalize(),
            order=order,
            width=Width.LONG,
            display_name=name.capitalize(),
        )
    config.define(
        "config.action.reload",
        ConfigType.STRING,
        "restart",
        validator=ValidString.one_of("none", "restart"),
        importance=Importance.LOW,
        doc="Has no effect, as every run resolves provider references again; accepted for compatibility with Connect.",
        group=COMMON_GROUP,
        order=14,
        width=Width.MEDIUM,
        display_name="Reload Action",
    )


_ERRORS: tuple[tuple[str, ConfigType, Any, Width, str, str], ...] = (
    (
        "errors.retry.timeout",
        ConfigType.LONG,
        0,
        Width.MEDIUM,
        "Retry Timeout for Errors",
        "How long, in milliseconds, a failed operation on a record is retried; 0: not at all, -1: forever.",
    ),
    (
        "errors.retry.delay.max.ms",
        ConfigType.LONG,
        60000,
        Width.MEDIUM,
        "Maximum Delay Between Retries for Errors",
        "Longest delay between two retries.",
    ),
    (
        "errors.tolerance",
        ConfigType.STRING,
        "none",
        Width.SHORT,
        "Error Tolerance",
        "What happens to a bad record: none fails the task, all skips the record.",
    ),
    ("errors.log.enable", ConfigType.BOOLEAN, False, Width.SHORT, "Log Errors", "Whether skipped records are logged."),
    (
        "errors.log.include.messages",
        ConfigType.BOOLEAN,
        False,
        Width.SHORT,
        "Log Error Details",
        "Whether that log includes the record itself.",
    ),
)


def _errors(config: ConfigDef) -> None:
    for order, (name, kind, default, width, title, doc) in enumerate(_ERRORS, 1):
        config.define(
            name,
            kind,
            default,
            validator=ValidString.one_of("none", "all") if name == "errors.tolerance" else None,
            importance=Importance.MEDIUM,
            doc=doc,
            group=ERROR_GROUP,
            order=order,
            width=width,
            display_name=title,
        )


def unique_aliases(kind: str) -> CompositeValidator:
    """Return the validator of a list of aliases, which must be unique."""

    def check(name: str, value: Any) -> None:
        if len(set(value)) < len(value):
            raise ConfigError(name, f"[{', '.join(value)}]", "Duplicate alias provided.")

    return CompositeValidator.of(NonNullValidator(), LambdaValidator(check, lambda: f"unique {kind}"))

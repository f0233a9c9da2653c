"""All errors of a connector's configuration, at once.

Connect: ``AbstractHerder.validateConnectorConfig``. External systems are not checked here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import cast

from connect_core.api.config import ConfigDef, ConfigKey, ConfigValue
from connect_core.api.connector import Connector
from connect_core.api.guarantee import Delivery
from connect_core.api.source import SourceConnector
from connect_core.configs.classes import class_resolver
from connect_core.configs.connector import worker_defaults
from connect_core.configs.declared import with_declared_guarantee
from connect_core.configs.definitions import CONVERTERS, Defaults, common_definition
from connect_core.configs.enrichment import enriched
from connect_core.configs.hiding import Hiding
from connect_core.configs.infos import (
    ConfigKeyInfo,
    ValidatedConfig,
    key_info,
    merged,
    prefixed_infos,
    ranked_infos,
)
from connect_core.configs.intervals import INTERVALS
from connect_core.configs.overrides import CLIENTS, check_overrides
from connect_core.configs.providers import ConfigProviders
from connect_core.configs.redaction import Redaction
from connect_core.configs.references import references
from connect_core.configs.secrets import mask_without_class
from connect_core.configs.sinks import check_sink, sink_definition
from connect_core.configs.sources import check_source, source_definition
from connect_core.configs.topic_checks import check_topics
from connect_core.configs.versions import VersionMissingError, ensure_version
from connect_core.errors import ConfigError, ConnectError
from connect_core.java.hash_order import in_hash_order
from connect_core.java_plugins.redaction import redacting
from connect_core.registry import Plugin, PluginKind, registry
from connect_core.settings import WorkerSettings

__all__ = ["plugin_config", "validate"]

_DEFINITIONS = {"source": source_definition, "sink": sink_definition}
_PROVIDERS = frozenset(("env", "file", "dir"))
_VERSION = ".plugin.version"
_CONNECTOR_VERSION = f"connector{_VERSION}"
_MOST_SETTINGS = 2000
_ALIASES = ("transforms", "predicates", "topic.creation.groups")

Config = Mapping[str, str | None]


def validate(
    raw: Config,
    worker: WorkerSettings,
    providers: ConfigProviders | None = None,
    owner: str | None = None,
    in_use: Collection[str] = (),
) -> ValidatedConfig:
    """Return every setting with its errors and recommended values; secrets are hidden.

    ``owner``: the owner of the sealed values it may hold; by default the connector it names.
    ``in_use``: offsets topics of other connectors, closed to records.

    Raise ConfigError if there is no connector class, or none of that name.
    """
    providers, owner = providers or ConfigProviders(), owner or str(raw.get("name", ""))
    redaction = Redaction({key: value for key, value in raw.items() if value is not None}, providers, owner)
    with redacting(redaction.texts):
        try:
            return _validated(raw, worker, providers, owner, in_use)
        except ConnectError as error:
            raise redaction.clean(error) from error.__cause__


def _validated(
    raw: Config, worker: WorkerSettings, providers: ConfigProviders, owner: str, in_use: Collection[str]
) -> ValidatedConfig:
    if len(raw) > _MOST_SETTINGS:
        raise ConfigError(
            f"A connector has at most {_MOST_SETTINGS} settings, and this one has {len(raw)}: remove some"
        )
    config, unresolved = _resolved(raw, providers, owner)
    _refuse_secret_aliases(raw, config)
    plugin = _plugin(raw, config)
    try:
        ensure_version(plugin, config.get(_CONNECTOR_VERSION))
    except VersionMissingError as error:
        infos = _without_version(plugin, config, worker, str(error))
        return Hiding.of(raw, config, providers.secrets(raw, owner)).hide(infos)
    connector: Connector = plugin.create()
    definition = _definition(plugin, config, worker)
    values = definition.validate_all(config)
    _check(connector, config, values, worker)
    check_topics(config, values, worker, in_use)
    keys, found = _settings(connector, definition, list(values.values()), config)
    keys = with_declared_guarantee(keys, connector, config)
    _add_to_last(found, {**unresolved, **_references_off(config, worker)}, config)
    groups = [*definition.group_names(), *connector.config().group_names()]
    hiding = Hiding.of(raw, config, providers.secrets(raw, owner))
    parts = [
        ranked_infos("", keys, found, groups),
        *_override_parts(plugin.type, config, worker, hiding),
        *_converter_parts(config, values),
    ]
    return hiding.hide(merged(str(config["connector.class"]), parts))


def _refuse_secret_aliases(raw: Config, config: Config) -> None:
    """Reject references in lists that name settings and groups: those names are shown to everybody."""
    for key in _ALIASES:
        if config.get(key) != raw.get(key):
            raise ConfigError(
                key, raw.get(key), "Aliases are displayed, so they cannot be references: write them literally"
            )


def _override_parts(
    connector_type: str, config: Config, worker: WorkerSettings, hiding: Hiding
) -> Iterator[ValidatedConfig]:
    """Check the overrides of all clients; of clients its tasks do not use, only errors are shown, as Connect has none.

    Connect responds to a value of another type with 500, before it applies the policy.
    """
    for client in CLIENTS:
        try:
            found = check_overrides(config, client, worker)
        except ConfigError as error:
            raise ConnectError(hiding.text(str(error))) from None
        is_used = client in _used_clients(connector_type, config)
        yield prefixed_infos({}, [one for one in found if is_used or one.error_messages], f"{client}.override.")


def _used_clients(connector_type: str, config: Config) -> tuple[str, ...]:
    """Return the clients that the tasks of a source or sink use. Connect: ``connectorUsesProducer`` and so on."""
    has_dead_letters = bool((config.get("errors.deadletterqueue.topic.name") or "").strip())
    if connector_type == "source":
        creates_topics = any(key.startswith("topic.creation.") for key in config)
        return ("producer", "admin") if creates_topics else ("producer",)
    return CLIENTS if has_dead_letters else ("consumer",)


def _without_version(plugin: Plugin, config: Config, worker: WorkerSettings, message: str) -> ValidatedConfig:
    """Return the shared settings only: the connector is not available in this version, so its own are unknown.

    Connect: ``AbstractHerder.invalidVersionedConnectorValidation``.
    """
    definition = common_definition(worker_defaults(plugin, worker, is_enriched=True), class_resolver(aliases=True))
    values = definition.validate_all(config)
    for key in ("connector.class", _CONNECTOR_VERSION):
        _add(values, key, config.get(key), message)
    values[_CONNECTOR_VERSION].recommended_values = [plugin.version]
    _refuse_nulls(config, values)
    name = str(config["connector.class"])
    return ranked_infos(name, definition.config_keys(), values.values(), definition.group_names())


def plugin_config(name: str) -> list[ConfigKeyInfo] | None:
    """Return a plugin's settings as REST shows them; ``None`` if there is no such plugin.

    A connector's own settings come first. Connect: ``connectorPluginConfig``.
    """
    plugin = registry().describe(name)
    if plugin is None:
        return None
    definition: ConfigDef = plugin.create().config()
    keys = dict(definition.config_keys())
    if plugin.kind is PluginKind.CONNECTOR:
        shared = _DEFINITIONS[plugin.type](Defaults(plugin.version), class_resolver(aliases=True))
        keys = {**keys, **{name: key for name, key in shared.config_keys().items() if name not in keys}}
    return [key_info(key) for key in keys.values()]


def _resolved(raw: Config, providers: ConfigProviders, owner: str) -> tuple[Config, dict[str, str]]:
    """Return the configuration with references replaced, and the errors of those that could not be."""
    config, errors = dict(raw), {}
    for key, value in raw.items():
        try:
            config |= providers.resolve({key: value}, owner) if value else {}
        except ConfigError as error:
            errors[key] = str(error)
    return config, errors


def _plugin(raw: Config, config: Config) -> Plugin:
    name = config.get("connector.class")
    if name is None:
        raise ConfigError(f"Connector config {_java_map(mask_without_class(raw))} contains no connector type")
    try:
        return registry().find(PluginKind.CONNECTOR, name.strip())
    except ConnectError:
        if name != raw["connector.class"]:
            # What a reference holds is not shown: it may be a secret.
            remedy = "It refers to no connector class: write the name of one"
            raise ConfigError("connector.class", raw["connector.class"], remedy) from None
        raise


def _java_map(config: Config) -> str:
    """Return a map as Java shows a copied ``HashMap``: in the order of its hash table."""
    copied = int(len(config) / 0.75 + 1)
    names = in_hash_order(config, 1 << (copied - 1).bit_length())
    shown = ", ".join(f"{name}={'null' if config[name] is None else config[name]}" for name in names)
    return f"{{{shown}}}"


def _definition(plugin: Plugin, config: Config, worker: WorkerSettings) -> ConfigDef:
    resolve = class_resolver(aliases=True)
    defaults = worker_defaults(plugin, worker, is_enriched=True)
    for setting in CONVERTERS:
        own = registry().describe((config.get(setting) or "").strip())
        part = setting.partition(".")[0]
        if own is not None:
            defaults = replace(defaults, **{part: replace(getattr(defaults, part), version=own.version)})
    base = _DEFINITIONS[plugin.type](defaults, resolve)
    definition = enriched(base, config, resolve, is_strict=False)
    for key in INTERVALS.config_keys().values():
        # Settings that Connect does not have are shown only where they are used.
        if key.name in config and key.name not in definition.config_keys():
            definition.define_key(key)
    return definition


def _check(connector: Connector, config: Config, values: dict[str, ConfigValue], worker: WorkerSettings) -> None:
    """Add the errors that no setting's own definition can find."""
    given = {key: value for key, value in config.items() if value is not None}
    if isinstance(connector, SourceConnector):
        check_source(connector, given, values, worker)
    else:
        check_sink(config, values, "" if worker.is_standalone else worker.deployment)
        _check_guarantee(connector, given, values)
    _check_schedule(given, values)
    _refuse_nulls(config, values)
    _check_versions(given, values)


def _check_schedule(config: Mapping[str, str], values: dict[str, ConfigValue]) -> None:
    """Reject a schedule that is written well and never comes, such as ``0 25 * * *``: no run would ever start."""
    given = values.get("schedule")
    # An operator's machine may lack the package.
    if given is None or given.error_messages or find_spec("croniter") is None:
        return
    from connect_core.configs.schedules import has_times

    if not has_times(config["schedule"]):
        error = "No run would ever start by it: give a time that exists, such as 0 4 * * *, or a duration as PT15M."
        _add(values, "schedule", config["schedule"], error)


def _refuse_nulls(config: Config, values: dict[str, ConfigValue]) -> None:
    for key, value in config.items():
        if value is None:
            _add(values, key, None, "Null value can not be supplied as the configuration value.")


def _check_guarantee(connector: Connector, config: Mapping[str, str], values: dict[str, ConfigValue]) -> None:
    """Reject a sink that does not declare what ``exactly.once.support`` requires; sources are checked as in Connect."""
    wanted = config.get("exactly.once.support", "")
    if wanted.lower() != "required":
        return
    try:
        declared = str(connector.guarantee(config))
    except ConnectError as error:
        declared = f"unknown: {error}"
    if not declared.startswith(Delivery.EXACTLY_ONCE.value):
        remedy = "Use another connector or configuration, or set this property to requested."
        _add(values, "exactly.once.support", wanted, f"The connector declares that it is {declared}. {remedy}")


def _check_versions(config: Mapping[str, str], values: dict[str, ConfigValue]) -> None:
    for key, requirement in config.items():
        owner = key.removesuffix(_VERSION)
        if owner == key or key not in values or owner == "connector":
            continue
        named = owner if owner in config else f"{owner}.type"
        plugin = registry().describe((config.get(named) or "").strip())
        try:
            if plugin is not None:
                ensure_version(plugin, requirement)
        except VersionMissingError as error:
            # At both settings, as Connect lists it.
            _add(values, named, config[named], str(error))
            _add(values, key, requirement, str(error))


def _settings(
    connector: Connector, definition: ConfigDef, values: list[ConfigValue], config: Config
) -> tuple[dict[str, ConfigKey], list[ConfigValue]]:
    """Return the settings of engine and connector, and the errors both find."""
    own = connector.config()
    if own is None:
        name = registry().name_of(type(connector))
        raise ConfigError(f"{name}.config() must return a ConfigDef that is not null.")
    # A null from JSON reaches the connector, as it does in Connect.
    found = connector.validate(cast("Mapping[str, str]", config))
    return {**definition.config_keys(), **own.config_keys()}, [*values, *found]


def _references_off(config: Config, worker: WorkerSettings) -> dict[str, str]:
    """Return the errors of references to providers that the worker does not have."""
    listed = ",".join(worker.values["config.providers"])
    remedy = f"name it in the worker's config.providers, which is '{listed}'"
    off = _PROVIDERS.difference(worker.values["config.providers"])
    found = {
        key: next((one.provider for _, _, one in references(value) if one.provider in off), None)
        for key, value in config.items()
        if value
    }
    return {
        key: f"{key} refers to the provider {provider}, which is not enabled: {remedy}."
        for key, provider in found.items()
        if provider is not None
    }


def _converter_parts(config: Config, values: Mapping[str, ConfigValue]) -> Iterator[ValidatedConfig]:
    """Check the settings of the converters that the connector itself names."""
    for setting in ("header.converter", "key.converter", "value.converter"):
        if config.get(setting) is None or values[setting].error_messages:
            continue
        prefix, part = f"{setting}.", setting.partition(".")[0]
        own = {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}
        own.pop("plugin.version", None)
        try:
            definition: ConfigDef = values[setting].value().config()
            found = definition.validate({"converter.type": part, **own})
        except ConnectError as error:
            message = f"Failed to perform config validation for {part} converter: {error}"
            values[setting].error_messages.append(message)
            continue
        yield prefixed_infos(definition.config_keys(), found, prefix)


def _add(values: dict[str, ConfigValue], name: str, value: str | None, error: str) -> None:
    values.setdefault(name, ConfigValue(name, value)).error_messages.append(error)


def _add_to_last(found: list[ConfigValue], messages: Mapping[str, str], config: Config) -> None:
    """Add messages to the last result for a setting, which is the one shown."""
    last = {value.name: value for value in found}
    for key, message in messages.items():
        if key not in last:
            found.append(ConfigValue(key, config[key]))
        last.setdefault(key, found[-1]).error_messages.append(message)

"""ConnectorConfig: what a connector's raw configuration means, frozen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from connect_core.api.connector import Connector
from connect_core.api.convert import Converter, HeaderConverter
from connect_core.api.flow import Flow, RetryLimits
from connect_core.api.transform import ChosenPlugin
from connect_core.configs.classes import class_resolver
from connect_core.configs.definitions import ConverterDefault, Defaults, common_definition
from connect_core.configs.enrichment import enriched
from connect_core.configs.intervals import INTERVALS, interval_caps
from connect_core.configs.overrides import ensure_overrides
from connect_core.configs.sinks import consumer_group, sink_definition
from connect_core.configs.sources import source_definition
from connect_core.configs.stages import TransformationStage, make_stages
from connect_core.configs.topic_creation import TopicCreationGroup, topic_creation_groups
from connect_core.errors import ConfigError
from connect_core.interval.values import ConnectorType, IntervalSettings
from connect_core.registry import Plugin, PluginKind, registry
from connect_core.settings import WorkerSettings

__all__ = ["ConnectorConfig", "ErrorSettings", "Resolve", "connector_plugin", "worker_defaults"]

Resolve = Callable[[Mapping[str, str]], Mapping[str, str]]
"""Replaces references and ciphertext in a mapping."""

_DEFINITIONS = {"source": source_definition, "sink": sink_definition}


@dataclass(frozen=True, slots=True)
class ErrorSettings:
    """What happens to records that fail (``errors.…``, KIP-298).

    Times in milliseconds. ``retry_timeout`` 0: no retry, -1: without limit. ``dead_letter_topic`` empty: none.
    ``max_count``, ``max_share``: what one task may skip in an interval; ``None``: no limit.
    """

    retry_timeout: int
    retry_delay_max: int
    is_tolerant: bool
    log_enable: bool
    log_include_messages: bool
    dead_letter_topic: str = ""
    dead_letter_replication_factor: int = 3
    dead_letter_headers: bool = False
    max_count: int | None = None
    max_share: float | None = None

    @property
    def has_reporter(self) -> bool:
        """Whether sink tasks get an errant record reporter (KIP-610)."""
        return bool(self.dead_letter_topic) or self.log_enable


@dataclass(frozen=True, slots=True)
class ConnectorConfig:
    """A connector's configuration with all sources of its defaults.

    ``raw`` is as stored: secrets are references or ciphertext. ``resolved`` is
    what plugins get. ``values`` are the parsed settings by key. ``worker`` is
    ``None`` only where nothing but a chain of transforms is needed.
    """

    raw: Mapping[str, str]
    resolved: Mapping[str, str]
    values: Mapping[str, Any]
    plugin: Plugin
    worker: WorkerSettings | None = None

    @classmethod
    def parse(
        cls,
        raw: Mapping[str, str],
        worker: WorkerSettings | None = None,
        resolve: Resolve = dict,
        name: str | None = None,
    ) -> ConnectorConfig:
        """Return the parsed configuration. Raise ConfigError for the first bad setting.

        ``name``: the connector's; the setting may name another since a patch, as in Connect, but its group stays.
        Short names of transforms and predicates are accepted only with a worker.
        Connect: the constructors of ``SourceConnectorConfig``, ``SinkConnectorConfig``.
        """
        raw = raw if name is None else {**raw, "name": name}
        resolved = resolve(raw)
        plugin = connector_plugin(resolved)
        find = class_resolver(aliases=worker is not None)
        define = _DEFINITIONS[plugin.type] if worker else common_definition
        base = define(worker_defaults(plugin, worker), find)
        base.parse(resolved)
        definition = enriched(base, resolved, find, is_strict=True)
        values = {**INTERVALS.parse(resolved), **definition.parse(resolved)}
        if worker is not None:
            ensure_overrides(resolved, worker)
        made = cls(raw, resolved, values, plugin, worker)
        if plugin.type == "source":
            # Connect's worker does the same when it starts the connector; validation accepts these settings.
            made.topic_creation()
        return made

    @classmethod
    def unparsed(cls, raw: Mapping[str, str], resolved: Mapping[str, str], worker: WorkerSettings) -> ConnectorConfig:
        """Return a configuration for its plugins only, without ``values``. Raise ConfigError for an unknown class."""
        return cls(raw, resolved, {}, connector_plugin(resolved), worker)

    # -- the connector -------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The connector's name."""
        return str(self.values["name"])

    @property
    def type(self) -> ConnectorType:
        """Whether it is a source or a sink."""
        return ConnectorType(self.plugin.type)

    @property
    def connector_class(self) -> str:
        """The full name of its class, as users write it."""
        return self.plugin.name

    @property
    def tasks_max(self) -> int:
        """The maximum number of its tasks."""
        return int(self.values["tasks.max"])

    @property
    def schedule(self) -> str:
        """When its runs begin: preset, cron, ISO 8601 duration or ``asset:…``."""
        return str(self.values["schedule"])

    def connector(self) -> Connector:
        """Return a new connector, not yet started."""
        made: Connector = self.plugin.create()
        return made

    # -- the flow ------------------------------------------------------------------------------------------------------

    def key_converter(self) -> Converter:
        """Return a new converter of record keys, configured."""
        return self._converter("key")

    def value_converter(self) -> Converter:
        """Return a new converter of record values, configured."""
        return self._converter("value")

    def header_converter(self) -> HeaderConverter:
        """Return a new converter of headers, configured."""
        name, settings = self.converter_properties("header.converter")
        made: HeaderConverter = registry().create(PluginKind.HEADER_CONVERTER, name)
        made.configure({**settings, "converter.type": "header"})
        return made

    def converter_properties(self, setting: str) -> tuple[str, dict[str, str]]:
        """Return class and settings of a converter: the connector's own, or the worker's.

        ``setting``: ``key.converter`` and so on. Settings without a class beside them
        are ignored. Connect: ``Plugins.newConverter``.
        """
        name = self.resolved.get(setting)
        if name is not None:
            return name, self.with_prefix(f"{setting}.")
        if self.worker is None:
            raise ConfigError(f'Missing required configuration "{setting}": set it for the connector or the worker')
        return str(self.worker.values[setting]), self.worker.converter_properties(setting)

    def _converter(self, part: str) -> Converter:
        name, settings = self.converter_properties(f"{part}.converter")
        made = self.unconfigured_converter(name)
        made.configure({**settings, "converter.type": part}, part == "key")
        return made

    def unconfigured_converter(self, name: str) -> Converter:
        """Return a converter with the worker's limits set. Raise ConfigError for an unknown class."""
        made: Converter = registry().create(PluginKind.CONVERTER, name)
        if self.worker is not None:
            made.limits = self.worker.limits()
        return made

    def transformation_stages(self) -> list[TransformationStage]:
        """Return the transforms with their predicates, configured. Raise ConnectError."""
        return make_stages(self.resolved, self.values)

    def flow(self) -> Flow:
        """Return the transforms and converters, new and configured. Raise ConnectError."""
        errors = self.errors()
        return Flow(
            self.transformation_stages(),
            self.key_converter(),
            self.value_converter(),
            self.header_converter(),
            self._chosen("key.converter"),
            self._chosen("value.converter"),
            self._chosen("header.converter"),
            RetryLimits(errors.retry_timeout, errors.retry_delay_max),
            self._put_records(),
        )

    def _put_records(self) -> int:
        shared = self.worker.with_prefix("consumer.") if self.worker else {}
        text = {**shared, **self.client_overrides("consumer")}.get("max.poll.records", "500")
        if not text.strip().isdigit() or int(text) == 0:
            raise ConfigError("consumer.override.max.poll.records", text, "Write a number of records")
        return int(text)

    def _chosen(self, setting: str) -> ChosenPlugin:
        name, settings = self.converter_properties(setting)
        plugin = registry().describe(name.strip())
        return ChosenPlugin(plugin.name if plugin else name, settings)

    def errors(self) -> ErrorSettings:
        """Return what happens to records that fail."""
        of, dead = self.values, "errors.deadletterqueue."
        return ErrorSettings(
            of["errors.retry.timeout"],
            of["errors.retry.delay.max.ms"],
            of["errors.tolerance"] == "all",
            of["errors.log.enable"],
            of["errors.log.include.messages"],
            of.get(f"{dead}topic.name", ""),
            of.get(f"{dead}topic.replication.factor", 3),
            of.get(f"{dead}context.headers.enable", False),
            of.get("errors.max.count"),
            of.get("errors.max.share"),
        )

    def client_overrides(self, client: str) -> dict[str, str]:
        """Return the overrides of a Kafka client: producer, consumer or admin (KIP-458)."""
        return self.with_prefix(f"{client}.override.")

    # -- sources -------------------------------------------------------------------------------------------------------

    def topic_creation(self) -> tuple[TopicCreationGroup, ...]:
        """Return how new topics are created; if empty, the broker creates them. Raise ConfigError.

        The worker's ``topic.creation.…`` settings apply if the connector has none.
        """
        if self.worker is not None and not self.worker.values["topic.creation.enable"]:
            return ()
        prefix = "topic.creation."
        own = {key: value for key, value in self.resolved.items() if key.startswith(prefix)}
        if not own and self.worker is not None:
            shared = self.worker.with_prefix(prefix)
            own = {prefix + key: value for key, value in shared.items() if key != "enable"}
        return topic_creation_groups(own)

    @property
    def transaction_boundary(self) -> str:
        """``poll``, ``interval`` or ``connector``."""
        return str(self.values["transaction.boundary"]).lower()

    @property
    def transaction_interval_milliseconds(self) -> int:
        """The longest transaction of boundary ``interval``; by default the worker's flush interval."""
        own = self.values["transaction.boundary.interval.ms"]
        if own is None and self.worker is not None:
            own = self.worker.values["offset.flush.interval.ms"]
        return 60000 if own is None else int(own)

    @property
    def offsets_topic(self) -> str | None:
        """The connector's own offsets topic; ``None``: the worker's, always so in standalone mode."""
        if self.worker is not None and self.worker.is_standalone:
            return None
        return self.values.get("offsets.storage.topic") or None

    # -- intervals -----------------------------------------------------------------------------------------------------

    def interval_settings(self) -> IntervalSettings:
        """Return the settings that ``plan`` and ``commit`` need."""
        of = self.values
        return IntervalSettings(
            tasks_max=of["tasks.max"],
            tasks_max_enforce=of["tasks.max.enforce"],
            topics=tuple(of.get("topics", ())),
            topics_regex=of.get("topics.regex") or None,
            caps=interval_caps(of),
            bound=of["interval.bound"],
            future=of["interval.future.timestamps"],
            skew_ms=of["interval.future.skew.ms"],
            data_loss=of["interval.data.loss"],
            offset_reset=self._offset_reset(),
            consumer_group=consumer_group(self.resolved) if self.type is ConnectorType.SINK else "",
        )

    def _offset_reset(self) -> str:
        shared = self.worker.with_prefix("consumer.") if self.worker else {}
        reset = {**shared, **self.client_overrides("consumer")}.get("auto.offset.reset", "earliest")
        if reset not in ("earliest", "latest"):
            raise ConfigError("consumer.override.auto.offset.reset", reset, "Use earliest or latest")
        return reset

    def with_prefix(self, prefix: str) -> dict[str, str]:
        """Return the resolved settings that begin with ``prefix``, without it."""
        return {
            key.removeprefix(prefix): value
            for key, value in self.resolved.items()
            if key.startswith(prefix) and key != prefix
        }


def connector_plugin(config: Mapping[str, str]) -> Plugin:
    """Return the plugin of ``connector.class``. Raise ConfigError."""
    name = config.get("connector.class")
    if name is None:
        raise ConfigError('Missing required configuration "connector.class" which has no default value.')
    return registry().find(PluginKind.CONNECTOR, name.strip())


def worker_defaults(plugin: Plugin, worker: WorkerSettings | None, *, is_enriched: bool = False) -> Defaults:
    """Return the defaults that come from the plugin and the worker."""
    if worker is None:
        return Defaults(plugin.version)
    key, value, header = (_converter_default(worker, part) for part in ("key", "value", "header"))
    return Defaults(plugin.version, key, value, header, is_enriched)


def _converter_default(worker: WorkerSettings, part: str) -> ConverterDefault:
    plugin = registry().describe(str(worker.values[f"{part}.converter"]))
    return ConverterDefault(plugin.name, plugin.version) if plugin else ConverterDefault()

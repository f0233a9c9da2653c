"""Plugins by name: resolves the class names of configurations.

Built-ins are in the tables below; others are declared by entry points of
the group ``connect_core.plugins``, whose name is the class name that users write and
whose value is ``module:Class``, or come from an added source, such as
the folders of ``plugin.path``. A plugin is imported when it is requested.
"""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import metadata
from typing import Any, Protocol

from connect_core.api.convert import Converter, HeaderConverter
from connect_core.api.sink import SinkConnector
from connect_core.api.source import SourceConnector
from connect_core.api.transform import Predicate, Transformation
from connect_core.errors import PLUGIN_ERRORS, ConfigError, ConnectError, MissingLibraryError

__all__ = [
    "ENTRY_POINTS",
    "KAFKA_VERSION",
    "Plugin",
    "PluginClass",
    "PluginKind",
    "PluginSource",
    "Registry",
    "registry",
]

ENTRY_POINTS = "connect_core.plugins"
KAFKA_VERSION = "4.3.1"
"""The version of Apache Kafka whose plugins the built-ins reproduce."""

_DISTRIBUTION = "connect-core"
_LOG = logging.getLogger(__name__)


PluginClass = type[Any]
"""A plugin's class, which implements the interface of its kind."""


class PluginKind(Enum):
    """The kinds of plugins; the value is Connect's name of the interface."""

    CONNECTOR = "Connector"
    TRANSFORMATION = "Transformation"
    PREDICATE = "Predicate"
    CONVERTER = "Converter"
    HEADER_CONVERTER = "HeaderConverter"


_INTERFACES: dict[str, tuple[PluginKind, PluginClass]] = {
    "sink": (PluginKind.CONNECTOR, SinkConnector),
    "source": (PluginKind.CONNECTOR, SourceConnector),
    "transformation": (PluginKind.TRANSFORMATION, Transformation),
    "predicate": (PluginKind.PREDICATE, Predicate),
    "converter": (PluginKind.CONVERTER, Converter),
    "header_converter": (PluginKind.HEADER_CONVERTER, HeaderConverter),
}
"""Connect's plugin types, in the order in which it lists them."""

_CONNECTORS = {
    ("source", "org.apache.kafka.connect.file.FileStreamSourceConnector"): "file.source:FileStreamSourceConnector",
    ("sink", "org.apache.kafka.connect.file.FileStreamSinkConnector"): "file.sink:FileStreamSinkConnector",
    ("source", "FileSystemSourceConnector"): "filesystem.source.connector:FileSystemSourceConnector",
    ("sink", "FileSystemSinkConnector"): "filesystem.sink.connector:FileSystemSinkConnector",
    (
        "sink",
        "io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector",
    ): "filesystem.aliases.aiven_s3:AivenKafkaConnectS3SinkConnector",
    (
        "sink",
        "io.confluent.connect.azure.blob.AzureBlobStorageSinkConnector",
    ): "filesystem.aliases.confluent_azure:AzureBlobStorageSinkConnector",
    ("sink", "io.confluent.connect.gcs.GcsSinkConnector"): "filesystem.aliases.confluent_gcs:GcsSinkConnector",
    ("sink", "io.confluent.connect.hdfs.HdfsSinkConnector"): "filesystem.aliases.confluent_hdfs:HdfsSinkConnector",
    ("sink", "io.confluent.connect.hdfs3.Hdfs3SinkConnector"): "filesystem.aliases.confluent_hdfs:Hdfs3SinkConnector",
    ("sink", "io.confluent.connect.s3.S3SinkConnector"): "filesystem.aliases.confluent_s3:S3SinkConnector",
    ("source", "io.confluent.connect.jdbc.JdbcSourceConnector"): "jdbc.source.connector:JdbcSourceConnector",
    ("sink", "io.confluent.connect.jdbc.JdbcSinkConnector"): "jdbc.sink.connector:JdbcSinkConnector",
    ("sink", "org.apache.iceberg.connect.IcebergSinkConnector"): "iceberg.sink:IcebergSinkConnector",
    ("sink", "DeltaSinkConnector"): "delta.sink:DeltaSinkConnector",
}

_EXTRAS = {
    "connect_core.connectors.jdbc.": "jdbc",
    **dict.fromkeys(
        (f"connect_core.converters.{name}" for name in ("avro", "json_schema", "protobuf")), "schema-registry"
    ),
}
"""Package of built-in plugins → the extra that installs its libraries."""

_TRANSFORMS_OF_KEY_AND_VALUE = {
    "Cast": "cast",
    "ExtractField": "extract_field",
    "Flatten": "flatten",
    "HeaderFrom": "header_from",
    "HoistField": "hoist_field",
    "InsertField": "insert_field",
    "MaskField": "mask_field",
    "ReplaceField": "replace_field",
    "SetSchemaMetadata": "set_schema_metadata",
    "TimestampConverter": "timestamp_converter",
}

_TRANSFORMS = {
    "DropHeaders": "drop_headers",
    "Filter": "filter",
    "InsertHeader": "insert_header",
    "RegexRouter": "regex_router",
    "TimestampRouter": "timestamp_router",
    "ValueToKey": "value_to_key",
}

_PREDICATES = {
    "HasHeaderKey": "has_header_key",
    "RecordIsTombstone": "record_is_tombstone",
    "TopicNameMatches": "topic_name_matches",
}

_CONVERTERS = {
    "converters.BooleanConverter": "numbers:BooleanConverter",
    "converters.ByteArrayConverter": "bytes:ByteArrayConverter",
    "converters.DoubleConverter": "numbers:DoubleConverter",
    "converters.FloatConverter": "numbers:FloatConverter",
    "converters.IntegerConverter": "numbers:IntegerConverter",
    "converters.LongConverter": "numbers:LongConverter",
    "converters.ShortConverter": "numbers:ShortConverter",
    "json.JsonConverter": "json:JsonConverter",
    "storage.StringConverter": "string:StringConverter",
}
"""Kafka's converters, each of which is also a header converter."""

_SCHEMA_REGISTRY_CONVERTERS = {
    "io.confluent.connect.avro.AvroConverter": "avro:AvroConverter",
    "io.confluent.connect.json.JsonSchemaConverter": "json_schema:JsonSchemaConverter",
    "io.confluent.connect.protobuf.ProtobufConverter": "protobuf:ProtobufConverter",
}
"""Converters of keys and values whose schemas are in a schema registry."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plugin of one type: ``name`` as users write it, ``target`` as module:Class."""

    name: str
    type: str
    version: str
    target: str
    distribution: str = _DISTRIBUTION
    rank: int = 0
    """Among plugins with the same name and type, the highest rank is used."""

    @property
    def kind(self) -> PluginKind:
        """The kind of its interface."""
        return _INTERFACES[self.type][0]

    @property
    def needs_schema_registry(self) -> bool:
        """Whether it is a converter that requires the address of a schema registry."""
        return self.name in _SCHEMA_REGISTRY_CONVERTERS

    @property
    def aliases(self) -> frozenset[str]:
        """The names by which it is found: full, simple, and short without its kind's suffix."""
        return _aliases(self.name, self.kind)

    def load(self) -> PluginClass:
        """Import the class. Raise ConnectError if that fails."""
        return _import(self.name, self.target, self.distribution)

    def create(self) -> Any:
        """Import the class and return a new object of it. Raise ConnectError if its code fails."""
        found = self.load()
        try:
            return found()
        except ConnectError:
            raise
        except PLUGIN_ERRORS as error:
            text = f"Plugin {self.name} of {self.distribution} cannot be created: {type(error).__name__}: {error}"
            raise ConnectError(f"{text}. Ask the authors of its distribution.") from error


class PluginSource(Protocol):
    """Finds plugins that are not Python distributions."""

    def plugins(self) -> Sequence[Plugin]:
        """Return the plugins; fast after the first call."""

    @property
    def trouble(self) -> str | None:
        """Why plugins may be missing; ``None`` if all were found."""


class Registry:
    """The plugins of this process: built-in ones, those of entry points and of added sources."""

    def __init__(self, entry_points: Iterable[metadata.EntryPoint]) -> None:
        self._built_in = _built_in()
        self._points = tuple(sorted(entry_points, key=lambda point: (point.name, point.value)))
        self._sources: tuple[PluginSource, ...] = ()

    def add(self, source: PluginSource) -> None:
        """Add a source of plugins, which takes precedence over earlier ones; an equal one is kept instead."""
        known = next((one for one in self._sources if one == source), source)
        self._sources = (known, *(one for one in self._sources if one is not known))

    def plugins(self, *types: str) -> list[Plugin]:
        """Return the plugins of these types, by default all, in Connect's order.

        Plugins that cannot be imported are left out, with a warning that names them.
        """
        found = [*self._built_in, *(plugin for point in self._points for plugin in _announced_or_warned(point))]
        found += self._of_sources()
        order = list(_INTERFACES)
        wanted = [plugin for plugin in _foremost(found) if not types or plugin.type in types]
        return sorted(wanted, key=lambda plugin: (order.index(plugin.type), plugin.name))

    def of_kind(self, kind: PluginKind) -> list[Plugin]:
        """Return the plugins of one kind, in Connect's order."""
        return [plugin for plugin in self.plugins() if plugin.kind is kind]

    def find(self, kind: PluginKind, name: str, *, aliases: bool = True) -> Plugin:
        """Return the plugin with this name; without ``aliases`` only by its full name.

        Raise ConfigError for an unknown name and for one that several
        plugins claim, ConnectError for a plugin that cannot be imported.
        """
        known = [plugin for plugin in self._named(name) if plugin.kind is kind]
        found = [plugin for plugin in known if plugin.name == name] or (known if aliases else [])
        if not found:
            raise ConfigError(". ".join((_unknown(kind, name, self.of_kind(kind)), *self.troubles())))
        if len(found) > 1:
            claims = ", ".join(f"{plugin.name} of {plugin.distribution} ({plugin.target})" for plugin in found)
            remedy = "Uninstall one, or write the full class name if they differ."
            raise ConfigError(f"More than one {kind.value} has the name {name}: {claims}. {remedy}")
        return found[0]

    def troubles(self) -> list[str]:
        """Return why plugins of added sources may be missing."""
        return [one.trouble for one in self._sources if one.trouble]

    def load(self, kind: PluginKind, name: str, *, aliases: bool = True) -> PluginClass:
        """Import and return the class with this name. Raise ConfigError or ConnectError."""
        return self.find(kind, name, aliases=aliases).load()

    def create(self, kind: PluginKind, name: str) -> Any:
        """Import the class with this name and return a new object of it. Raise ConfigError or ConnectError."""
        return self.find(kind, name).create()

    def describe(self, name: str) -> Plugin | None:
        """Return the plugin of any kind with this name, or ``None``."""
        known = self._named(name)
        full = (plugin for plugin in known if plugin.name == name)
        return next(full, None) or next(iter(known), None)

    def name_of(self, found: PluginClass) -> str:
        """Return the name of a plugin's class as users write it; for other classes the dotted name."""
        simple = found.__qualname__
        targets = [(plugin.name, plugin.target) for plugin in self._built_in]
        targets += [(point.name, point.value) for point in self._points]
        for name, target in targets:
            module, _, attribute = target.partition(":")
            if attribute == simple and getattr(sys.modules.get(module), attribute, None) is found:
                return name
        return f"{found.__module__}.{simple}"

    def _named(self, name: str) -> list[Plugin]:
        """Return the plugins with this name or alias, importing no others."""
        points = [point for point in self._points if any(name in _aliases(point.name, kind) for kind in PluginKind)]
        known = [*self._built_in, *(plugin for point in points for plugin in _announced(point)), *self._of_sources()]
        return _foremost(plugin for plugin in known if name in plugin.aliases)

    def _of_sources(self) -> list[Plugin]:
        """Return the plugins of all sources; if several have the same plugin, the source added last is used."""
        found: dict[tuple[str, str], Plugin] = {}
        for source in self._sources:
            for plugin in source.plugins():
                found.setdefault((plugin.name, plugin.type), plugin)
        return list(found.values())


def _foremost(plugins: Iterable[Plugin]) -> list[Plugin]:
    """Return the plugins without those outranked by another of the same name and type."""
    every = list(plugins)
    ranks: dict[tuple[str, str], int] = {}
    for plugin in every:
        key = plugin.name, plugin.type
        ranks[key] = max(plugin.rank, ranks.get(key, plugin.rank))
    return [plugin for plugin in every if plugin.rank == ranks[plugin.name, plugin.type]]


@cache
def registry() -> Registry:
    """Return the registry of this process; entry points are looked up once."""
    return Registry(metadata.entry_points(group=ENTRY_POINTS))


def _built_in() -> list[Plugin]:
    kafka, package = "org.apache.kafka.connect.", "connect_core."
    rows = [(*key, f"{package}connectors.{target}") for key, target in _CONNECTORS.items()]
    for name, module in _TRANSFORMS_OF_KEY_AND_VALUE.items():
        for part in ("Key", "Value"):
            target = f"{package}transforms.{module}:{name}{part}"
            rows.append(("transformation", f"{kafka}transforms.{name}${part}", target))
    for name, module in _TRANSFORMS.items():
        rows.append(("transformation", f"{kafka}transforms.{name}", f"{package}transforms.{module}:{name}"))
    for name, module in _PREDICATES.items():
        target = f"{package}transforms.predicates.{module}:{name}"
        rows.append(("predicate", f"{kafka}transforms.predicates.{name}", target))
    for kind in ("converter", "header_converter"):
        rows += [(kind, f"{kafka}{name}", f"{package}converters.{target}") for name, target in _CONVERTERS.items()]
    rows += [
        ("converter", name, f"{package}converters.{target}") for name, target in _SCHEMA_REGISTRY_CONVERTERS.items()
    ]
    simple = f"{package}converters.simple_header:SimpleHeaderConverter"
    rows.append(("header_converter", f"{kafka}storage.SimpleHeaderConverter", simple))
    own = _own_version()
    return [Plugin(name, kind, KAFKA_VERSION if name.startswith(kafka) else own, target) for kind, name, target in rows]


def _own_version() -> str:
    try:
        return metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0.0.0"


def _aliases(name: str, kind: PluginKind) -> frozenset[str]:
    simple = name.rpartition(".")[2]
    return frozenset({name, simple, simple.removesuffix(kind.value) or simple})


def _import(name: str, target: str, distribution: str) -> PluginClass:
    module, _, attribute = target.partition(":")
    extra = next((extra for package, extra in _EXTRAS.items() if module.startswith(package)), None)
    try:
        found = getattr(importlib.import_module(module), attribute)
    except PLUGIN_ERRORS as error:
        if extra is not None and isinstance(error, ModuleNotFoundError):
            raise MissingLibraryError(error.name, extra) from error
        reason = str(error) if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: {error}"
        text = f"Plugin {name} of {distribution} cannot be loaded from {target}: {reason}"
        raise ConnectError(f"{text}. Reinstall its distribution.") from error
    if not isinstance(found, type):
        raise ConnectError(f"Plugin {name} of {distribution} is not a class: {target}")
    return found


@cache
def _announced(point: metadata.EntryPoint) -> tuple[Plugin, ...]:
    """Return the plugins of an entry point: one for each type that its class implements."""
    distribution = point.dist.metadata["Name"] if point.dist else "an unknown distribution"
    version = point.dist.version if point.dist else "undefined"
    found = _import(point.name, point.value, distribution)
    types = [kind for kind, (_, interface) in _INTERFACES.items() if issubclass(found, interface)]
    if not types:
        raise ConnectError(
            f"Plugin {point.name} of {distribution} implements no interface of connect_core.api: {point.value}"
        )
    return tuple(Plugin(point.name, kind, version, point.value, distribution) for kind in types)


def _announced_or_warned(point: metadata.EntryPoint) -> tuple[Plugin, ...]:
    try:
        return _announced(point)
    except ConnectError as error:
        _LOG.warning("%s", error)
        return ()


def _unknown(kind: PluginKind, name: str, known: Sequence[Plugin]) -> str:
    listed = ", ".join(plugin.name for plugin in known)
    wanted = f"Failed to find any class that implements {kind.value} and which name matches {name}"
    return f"{wanted}, available {kind.value.lower()}s are: {listed}"

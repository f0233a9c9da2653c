"""Reports how a connector would run here, before anything is changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from typing_extensions import TypedDict

from connect_core.api.guarantee import Delivery, Guarantee
from connect_core.configs import sensitive_keys
from connect_core.configs.infos import ValidatedConfig
from connect_core.configs.references import references
from connect_core.configs.secrets import HIDDEN, is_reference
from connect_core.configs.sinks import consumer_group
from connect_core.errors import ConfigError, ConnectError
from connect_core.herder.context import Herder
from connect_core.herder.guarantee import declared_guarantee
from connect_core.herder.preflight import preflight
from connect_core.migration.definitions import Definition, hidden_keys
from connect_core.migration.keys import KeyFinding, KeyJson, KeyTreatment, key_findings
from connect_core.migration.topics_here import TopicHere, TopicJson, topics_here
from connect_core.registry import Plugin, PluginKind, registry
from connect_core.store import connectors

__all__ = ["ConnectorReport", "ReportJson", "Secret", "SecretJson", "There", "examine"]

_CONVERTERS = ("key.converter", "value.converter")
_TOPIC_KEYS = ("topics", "topics.regex", "topic", "errors.deadletterqueue.topic.name")
_NATIVE, _JAVA, _IMPOSSIBLE = "native", "Java plugin", "not possible"
_KAFKA = "org.apache.kafka.connect."


@dataclass(frozen=True, slots=True)
class There:
    """What only the cluster knows of a connector: its state, tasks' states, topics, and its plugin's settings."""

    type: str
    state: str
    tasks: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    known_keys: frozenset[str] | None = None


class SecretJson(TypedDict):
    """A reference to a secret in ``--json`` and REST."""

    provider: str
    path: str
    keys: list[str]
    here: bool


ReportJson = TypedDict(
    "ReportJson",
    {
        "name": str,
        "class": str,
        "kind": str,
        "type": str,
        "state": str | None,
        "tasks": list[str] | None,
        "reasons": list[str],
        "keys": list[KeyJson],
        "secrets": list[SecretJson],
        "sealed": list[str],
        "topics": list[str],
        "topics_here": list[TopicJson],
        "group": str | None,
        "guarantee": str,
        "guarantee_change": str,
        "notes": list[str],
    },
)
"""A connector's report in ``--json`` and REST."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A reference to a secret in a configuration; ``is_here``: the worker here has a provider of that name."""

    provider: str
    path: str
    keys: tuple[str, ...]
    is_here: bool

    def to_json(self) -> SecretJson:
        """Return the reference for ``--json``."""
        return {"provider": self.provider, "path": self.path, "keys": list(self.keys), "here": self.is_here}


@dataclass(frozen=True, slots=True)
class ConnectorReport:
    """One connector. ``kind``: native, Java plugin or not possible, with ``reasons`` for the last.

    ``sealed``: keys whose secret is in plain text, and is sealed here. ``topics_here``: whether each topic is there and
    may be used. ``guarantee``: the delivery guarantee here; ``change``: how it differs from Connect's.
    """

    name: str
    plugin: str
    kind: str
    type: str = ""
    there: There | None = None
    reasons: tuple[str, ...] = ()
    keys: tuple[KeyFinding, ...] = ()
    secrets: tuple[Secret, ...] = ()
    sealed: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    topics_here: tuple[TopicHere, ...] = ()
    group: str | None = None
    guarantee: str = ""
    change: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def is_possible(self) -> bool:
        """Whether the connector can be created here."""
        return self.kind != _IMPOSSIBLE

    def with_treatment(self, treatment: KeyTreatment) -> list[KeyFinding]:
        """Return the keys of one treatment."""
        return [one for one in self.keys if one.treatment is treatment]

    def to_json(self) -> ReportJson:
        """Return the report for ``--json``."""
        there = self.there
        return {
            "name": self.name,
            "class": self.plugin,
            "kind": self.kind,
            "type": self.type,
            "state": None if there is None else there.state,
            "tasks": None if there is None else list(there.tasks),
            "reasons": list(self.reasons),
            "keys": [one.to_json() for one in self.keys],
            "secrets": [one.to_json() for one in self.secrets],
            "sealed": list(self.sealed),
            "topics": list(self.topics),
            "topics_here": [one.to_json() for one in self.topics_here],
            "group": self.group,
            "guarantee": self.guarantee,
            "guarantee_change": self.change,
            "notes": list(self.notes),
        }


def examine(herder: Herder, one: Definition, there: There | None = None) -> ConnectorReport:
    """Return the report of moving one connector here. Stores nothing; tries systems as validation does."""
    name = one.config.get("connector.class", "").strip()
    config = {"name": one.name, **one.config}
    try:
        plugin = registry().find(PluginKind.CONNECTOR, name)
        loaded = plugin.load()
        infos = preflight(herder, config)
    except ConnectError as error:
        return _impossible(one, there, _absent(name, error))
    except Exception as error:
        # A plugin's own code: the others are still reported. Its message may repeat secrets.
        why = f"the plugin {name} fails with a {type(error).__name__} as its settings are checked: correct or update it"
        return _impossible(one, there, why)
    keys = key_findings(one.config, infos, loaded, None if there is None else there.known_keys)
    reasons = _reasons(herder, one, infos, keys)
    guarantee = declared_guarantee(config)
    return ConnectorReport(
        name=one.name,
        plugin=plugin.name,
        kind=_IMPOSSIBLE if reasons else _kind(plugin),
        type=plugin.type,
        there=there,
        reasons=reasons,
        keys=tuple(keys),
        secrets=_secrets(herder, one.config),
        sealed=_sealed(one.config),
        topics=_topics(one.config, there),
        topics_here=() if reasons else topics_here(herder, plugin.type, config, () if there is None else there.topics),
        group=consumer_group(config) if plugin.type == "sink" else None,
        guarantee=str(guarantee),
        change=_change(plugin.type, guarantee),
        notes=(*one.notes, *_converter_notes(herder, one.config)),
    )


def _impossible(one: Definition, there: There | None, reason: str) -> ConnectorReport:
    name = one.config.get("connector.class", "").strip()
    return ConnectorReport(one.name, name, _IMPOSSIBLE, there=there, reasons=(reason,), notes=one.notes)


def _kind(plugin: Plugin) -> str:
    return _JAVA if plugin.target.startswith("java:") else _NATIVE


def _absent(name: str, error: ConnectError) -> str:
    if not name:
        return "connector.class is missing: set the connector's class"
    if isinstance(error, ConfigError) and "Failed to find any class" in str(error):
        troubles = "; ".join(registry().troubles()) or "put its jars into a folder of the worker's plugin.path"
        return f"there is no plugin {name} here: {troubles}"
    return str(error)


def _reasons(herder: Herder, one: Definition, infos: ValidatedConfig, keys: list[KeyFinding]) -> tuple[str, ...]:
    reasons = [f"{key.key}: {key.why}" for key in keys if key.is_blocking]
    if hidden := [key for key in hidden_keys(one) if key not in _stored_keys(herder, one.name)]:
        reasons.append(f"{', '.join(hidden)}: hidden there, and not stored here: write the value in place of {HIDDEN}")
    # Errors that belong to no key of the definition: those about the name.
    reasons += [f"{name}: {' '.join(found)}" for name, found in infos.errors().items() if name == "name"]
    away = {secret.provider for secret in _secrets(herder, one.config) if not secret.is_here}
    reasons += [f"the provider {name} of references is not in the worker's config.providers" for name in sorted(away)]
    if _sealed(one.config) and not herder.worker.is_standalone and not _has_key(herder):
        reasons.append("secrets are in plain text, and there is no key to encrypt them: set CONNECT_SECRET_KEY_FILE")
    return tuple(dict.fromkeys(reasons))


def _stored_keys(herder: Herder, name: str) -> frozenset[str]:
    with herder.database.read() as connection:
        state = connectors.find(connection, name)
    return frozenset() if state is None else frozenset(state.config)


def _has_key(herder: Herder) -> bool:
    try:
        return herder.providers.secret_box() is not None
    except ConfigError:
        return False


def _secrets(herder: Herder, config: Mapping[str, str]) -> tuple[Secret, ...]:
    found: dict[tuple[str, str], list[str]] = {}
    for value in config.values():
        for _, _, one in references(value):
            found.setdefault((one.provider, one.path), []).append(one.key)
    listed = herder.worker.values["config.providers"]
    return tuple(
        Secret(provider, path, tuple(dict.fromkeys(keys)), provider in listed)
        for (provider, path), keys in sorted(found.items())
    )


def _sealed(config: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        key for key in config if key in sensitive_keys(config) and config[key] and not is_reference(config[key])
    )


def _topics(config: Mapping[str, str], there: There | None) -> tuple[str, ...]:
    named = [word.strip() for key in _TOPIC_KEYS for word in config.get(key, "").split(",") if word.strip()]
    return tuple(dict.fromkeys([*named, *(() if there is None else there.topics)]))


def _change(kind: str, guarantee: Guarantee) -> str:
    here = guarantee.delivery
    if here is Delivery.UNKNOWN:
        return "not declared here: depends on how the plugin uses its offsets; at-least-once, as there"
    if kind == "source":
        there = "at-least-once there, or exactly-once where exactly.once.source.support is enabled"
    else:
        there = "at-least-once there, unless the plugin keeps offsets with its data"
    return f"{here.value} here; {there}"


def _converter_notes(herder: Herder, config: Mapping[str, str]) -> list[str]:
    """Return notes on converters that are set by the workers there, which their REST API does not show."""
    notes = []
    for key in _CONVERTERS:
        if key not in config:
            own = str(herder.worker.values.get(key)).removeprefix(_KAFKA)
            notes.append(
                f"{key} comes from the workers: {own} here; give their properties to use those (--their-worker FILE)"
            )
    return notes

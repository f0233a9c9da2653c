"""All checks of a configuration before it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from connect_core.api.connector import Connector
from connect_core.api.sink import SinkConnector
from connect_core.api.source import SourceConnector, WrittenSchemas
from connect_core.configs import ConnectorConfig, Hiding, Redaction, ValidatedConfig, validate
from connect_core.configs.converters import try_converters
from connect_core.errors import ConfigError, ConnectError, RetriableError
from connect_core.herder.context import Herder
from connect_core.herder.lag import topics_of
from connect_core.herder.live import with_live_check
from connect_core.herder.raw import RawConfig
from connect_core.java_plugins.redaction import redacting
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.rights import unreadable_topics
from connect_core.kafka.topic_creation import too_many_replicas
from connect_core.settings import WorkerSettings
from connect_core.store import connectors

__all__ = ["preflight"]

_TOPICS, _DEAD_LETTERS = "topics", "errors.deadletterqueue.topic."
_BROKER_SECONDS, _REPLICAS_SECONDS = 3.0, 1.5
_PROBE = "connect-preflight-of-replicas"
"""Not created: the brokers are only asked whether it could be, once per group of topics."""


def preflight(herder: Herder, config: RawConfig, name: str | None = None) -> ValidatedConfig:
    """Return every setting with its errors; ``name``: the connector's, by default the one it states.

    With ``connect.validate.live`` a configuration without errors is also tried
    on the systems it names. Raise ConfigError if its connector class is
    missing or unknown.
    """
    with herder.database.read() as connection:
        in_use = connectors.offsets_topics(connection)
    owner = name or str(config.get("name") or "")
    infos = validate(config, herder.worker, herder.providers, owner, in_use)
    given = {key: value for key, value in config.items() if value is not None}
    # A null setting passes, as in Connect, but systems cannot be tried with it.
    is_tried = herder.worker.values["connect.validate.live"] and len(given) == len(config)
    if infos.error_count or not is_tried:
        return infos
    resolved = herder.providers.resolve(given, owner)
    unparsed = ConnectorConfig.unparsed(given, resolved, herder.worker)
    redaction = Redaction(given, herder.providers, owner)
    found = with_live_check(infos, partial(_tried, unparsed, herder.worker, redaction), herder.live_seconds)
    # Errors of systems and their drivers may repeat the secrets they were given.
    return Hiding.of(given, resolved, herder.providers.secrets(given, owner)).hide(found)


def _tried(unparsed: ConnectorConfig, worker: WorkerSettings, redaction: Redaction) -> Mapping[str, Sequence[str]]:
    """Try the connector's own systems, those of its converters, and what brokers say of its topics."""
    with redacting(redaction.texts):
        return _tried_on_systems(unparsed, worker)


def _tried_on_systems(unparsed: ConnectorConfig, worker: WorkerSettings) -> Mapping[str, Sequence[str]]:
    connector, config = unparsed.connector(), unparsed.resolved
    own = connector.validate_live(config, worker.limits())
    converters = try_converters(unparsed, dict if any(own.values()) else partial(_written, connector, unparsed, worker))
    found = {key: list(messages) for key, messages in (*own.items(), *converters.items())}
    is_sink, clients = isinstance(connector, SinkConnector), KafkaClients(worker.resolved, config)
    if topics := topics_of(config) if is_sink else []:
        found[_TOPICS] = [*found.get(_TOPICS, ()), *_unreadable(topics, clients)]
    if not found.get(_TOPICS):
        for setting, message in _refused_replicas(unparsed, clients, is_sink=is_sink):
            found.setdefault(setting, []).append(message)
    return found


def _written(connector: Connector, unparsed: ConnectorConfig, worker: WorkerSettings) -> Mapping[str, WrittenSchemas]:
    """Return what a source writes as it is; transforms may change the topics and schemas, but only with records."""
    if not isinstance(connector, SourceConnector) or unparsed.resolved.get("transforms", "").strip():
        return {}
    try:
        return connector.written_schemas(unparsed.resolved, worker.limits())
    except ConnectError:
        # What is wrong with its own system is said by its own check.
        return {}


def _refused_replicas(unparsed: ConnectorConfig, clients: KafkaClients, *, is_sink: bool) -> Iterator[tuple[str, str]]:
    """Yield setting and error where topics that the connector may create would have more replicas than brokers."""
    wanted = {topic: (setting, factor) for setting, topic, factor in _new_topics(unparsed, is_sink=is_sink)}
    factors = {topic: factor for topic, (_, factor) in wanted.items()}
    for topic, reason in too_many_replicas(KafkaAdmin(clients), factors, _REPLICAS_SECONDS).items():
        setting, factor = wanted[topic]
        yield setting, str(ConfigError(setting, factor, reason))


def _new_topics(unparsed: ConnectorConfig, *, is_sink: bool) -> Iterator[tuple[str, str, int]]:
    """Yield setting, topic and replication factor of topics the connector may create, where it wants several."""
    for group in () if is_sink else unparsed.topic_creation():
        if group.replication_factor > 1:
            yield f"topic.creation.{group.name}.replication.factor", f"{_PROBE}-{group.name}", group.replication_factor
    setting, topic = f"{_DEAD_LETTERS}replication.factor", unparsed.resolved.get(f"{_DEAD_LETTERS}name", "").strip()
    factor = int(unparsed.resolved.get(setting) or 3)
    if topic and factor > 1:
        yield setting, topic, factor


def _unreadable(topics: Sequence[str], clients: KafkaClients) -> Iterator[str]:
    try:
        refused = unreadable_topics(clients, topics, _BROKER_SECONDS)
    except RetriableError as error:
        yield f"Topics cannot be read now; start the brokers or correct their address: {error}"
        return
    for topic in refused:
        yield f"The consumer's user may not read topic {topic}: grant it Read, or log in as another user"

"""Checks of a registry with a converter's settings before the connector is created, and schemas for display."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from connect_core.api.connector import WorkerLimits
from connect_core.api.convert import TopicSchema
from connect_core.errors import ConfigError
from connect_core.schema_registry.calls import RegistryCalls
from connect_core.schema_registry.client import RegistryClient
from connect_core.schema_registry.errors import SchemaRegistryError
from connect_core.schema_registry.login import URL
from connect_core.schema_registry.settings import RegistrySettings
from connect_core.schema_registry.subjects import TopicNameStrategy

__all__ = ["newest_schemas", "try_registry"]

_SECONDS = 2.0
_SCHEMA_ID = "use.schema.id"
_MOST_TOPICS = 50


def try_registry(configs: Mapping[str, Any], is_key: bool, limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
    """Call the registry once, for 2 s at most → errors with remedy by the converter's setting.

    It must respond, accept the login, and have the schema that ``use.schema.id`` names.
    """
    settings = RegistrySettings.of(configs, is_key)
    questions = 1 if settings.write.schema_id is None else 2
    calls = _calls_once(settings, limits, _SECONDS / questions)
    client, key = RegistryClient(calls), URL
    try:
        client.subjects()
        if settings.write.schema_id is not None:
            key = _SCHEMA_ID
            client.by_id(settings.write.schema_id)
    except (SchemaRegistryError, ConfigError) as error:
        return {key: [str(error)]}
    finally:
        calls.close()
    return {}


def newest_schemas(
    configs: Mapping[str, Any], is_key: bool, limits: WorkerLimits, topics: Sequence[str]
) -> Sequence[TopicSchema]:
    """Request the newest schemas of at most 50 topics, for 2 s in all. Raise ConfigError.

    None if the subject contains a record's name, which the topic does not determine.
    """
    settings = RegistrySettings.of(configs, is_key)
    if settings.strategy.rpartition(".")[2] != "TopicNameStrategy":
        return ()
    calls = _calls_once(settings, limits, _SECONDS)
    client, end = RegistryClient(calls), time.monotonic() + _SECONDS
    try:
        return [_newest(client, settings, topic, time.monotonic() < end) for topic in topics[:_MOST_TOPICS]]
    finally:
        calls.close()


def _newest(client: RegistryClient, settings: RegistrySettings, topic: str, has_time: bool) -> TopicSchema:
    subject = TopicNameStrategy().subject_name(topic, settings.is_key, None)
    row = TopicSchema(topic, "key" if settings.is_key else "value", subject, settings.client.urls[0])
    if not has_time:
        return replace(row, error=f"not queried: the registry took more than {_SECONDS:g} s")
    try:
        found = client.latest(subject)
    except (SchemaRegistryError, ConfigError) as error:
        # A 404 without the registry's own code means a wrong address.
        missing = isinstance(error, SchemaRegistryError) and error.is_missing and error.error_code > 40400
        return replace(row, error="not registered yet" if missing else str(error))
    return replace(row, id=found.id, version=found.version, language=found.schema.kind.value)


def _calls_once(settings: RegistrySettings, limits: WorkerLimits, seconds: float) -> RegistryCalls:
    once = replace(settings.client.calls, retries=0, total=seconds)
    return RegistryCalls(replace(settings.client.within(limits), calls=once))

"""Checks of a registry with a converter's settings before the connector is created, and schemas for display."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from connect_core.api.connector import WorkerLimits
from connect_core.api.convert import TopicSchema
from connect_core.api.data import Schema
from connect_core.errors import ConfigError, DataError
from connect_core.schema_registry.calls import RegistryCalls
from connect_core.schema_registry.client import RegistryClient
from connect_core.schema_registry.errors import SchemaRegistryError, UnavailableRegistryError
from connect_core.schema_registry.login import URL
from connect_core.schema_registry.model import SchemaText
from connect_core.schema_registry.settings import RegistrySettings
from connect_core.schema_registry.subjects import TopicNameStrategy
from connect_core.schema_registry.trial import UnchangedRegistry, WriteTrial

__all__ = ["newest_schemas", "try_registry"]

_SECONDS = 2.0
_SCHEMA_ID = "use.schema.id"
_MOST_TOPICS = 50


def try_registry(
    configs: Mapping[str, Any],
    is_key: bool,
    limits: WorkerLimits,
    written: Mapping[str, Schema],
    describe: Callable[[Schema], tuple[SchemaText, str | None]],
) -> Mapping[str, Sequence[str]]:
    """Call the registry, for 3 s at most → errors with remedy by the converter's setting.

    It must respond, accept the login, have the schema that ``use.schema.id`` names, and what is needed to write the
    topics ``written``: at most 50, and those that a slow registry answers in time. ``describe``: returns a schema's
    text and its record's name, or raises DataError.
    """
    settings = RegistrySettings.of(configs, is_key)
    calls = _calls_once(settings, limits, _SECONDS / (1 if settings.write.schema_id is None and not written else 2))
    client, key, end = UnchangedRegistry(calls), URL, time.monotonic() + _SECONDS / 2
    try:
        client.subjects()
        if settings.write.schema_id is not None:
            key = _SCHEMA_ID
            client.by_id(settings.write.schema_id)
        return _refused(WriteTrial(settings, client, configs), written, describe, end)
    except (SchemaRegistryError, ConfigError) as error:
        return {key: [str(error)]}
    finally:
        calls.close()


def _refused(
    trial: WriteTrial,
    written: Mapping[str, Schema],
    describe: Callable[[Schema], tuple[SchemaText, str | None]],
    end: float,
) -> Mapping[str, Sequence[str]]:
    errors: list[str] = []
    for topic, schema in list(written.items())[:_MOST_TOPICS]:
        if time.monotonic() > end:
            break
        try:
            error = trial.error(topic, *describe(schema))
        except UnavailableRegistryError:
            # It did respond before: what it cannot say in time is no error of the configuration.
            break
        except DataError as refused:
            error = f"Topic {topic} cannot be written: {refused}"
        errors += [error] if error is not None else []
    return {trial.setting: errors} if errors else {}


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

"""Whether a registry answers to a converter's settings, asked before the connector is created."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from connect_core.api.connector import WorkerLimits
from connect_core.errors import ConfigError
from connect_core.schema_registry.calls import RegistryCalls
from connect_core.schema_registry.client import RegistryClient
from connect_core.schema_registry.errors import SchemaRegistryError
from connect_core.schema_registry.login import URL
from connect_core.schema_registry.settings import RegistrySettings

__all__ = ["try_registry"]

_SECONDS = 2.0
_SCHEMA_ID = "use.schema.id"


def try_registry(configs: Mapping[str, Any], is_key: bool, limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
    """Ask the registry once, for 2 s at most → errors with remedy by the converter's setting.

    It must answer, take the login, and have the schema that ``use.schema.id`` names.
    """
    settings = RegistrySettings.of(configs, is_key)
    questions = 1 if settings.write.schema_id is None else 2
    once = replace(settings.client.calls, retries=0, total=_SECONDS / questions)
    calls = RegistryCalls(replace(settings.client.within(limits), calls=once))
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

"""A worker's settings with references resolved, and the form in which a Spark worker gets them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from connect_core.configs.providers import ConfigProviders, make_providers
from connect_core.configs.secrets import seal_config
from connect_core.java_plugins.registration import add_java_plugins
from connect_core.settings import WorkerMode, WorkerSettings, load_worker_settings

__all__ = ["load_worker", "providers_of", "task_worker", "task_worker_properties"]

_KEY_VARIABLE = "CONNECT_SECRET_KEY_FILE"


def load_worker(path: Path | None, environment: Mapping[str, str], mode: WorkerMode | None = None) -> WorkerSettings:
    """Read a worker's file and environment, references resolved. Raise ConfigError."""

    def resolve(raw: Mapping[str, str]) -> dict[str, str]:
        return make_providers(raw, environment).resolve(raw)

    settings = load_worker_settings(path, environment, mode, resolve)
    add_java_plugins(settings)
    return settings


def providers_of(worker: WorkerSettings, environment: Mapping[str, str]) -> ConfigProviders:
    """Return a worker's providers, which resolve configurations. Raise ConfigError."""
    return make_providers(worker.raw, environment)


def task_worker_properties(worker: WorkerSettings, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the worker's properties that a plan may contain: references and sealed secrets only.

    Raise ConfigError for a literal secret without a key, except in standalone mode.
    """
    box = providers_of(worker, environment).secret_box()
    return seal_config(worker.task_properties(), "", box, is_required=not worker.is_standalone)


def task_worker(properties: Mapping[str, str], environment: Mapping[str, str]) -> WorkerSettings:
    """Return the worker's settings on a Spark worker. Raise ConfigError.

    Only the key file and what providers may read are taken from its environment.
    """
    own = {name: value for name, value in environment.items() if name == _KEY_VARIABLE}

    def resolve(raw: Mapping[str, str]) -> dict[str, str]:
        return make_providers(raw, environment).resolve(raw)

    settings = WorkerSettings.from_properties(properties, own, None, resolve)
    add_java_plugins(settings)
    return settings

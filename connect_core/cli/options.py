"""Options of the REST API, from the worker's settings."""

from __future__ import annotations

from connect_core.errors import ConfigError
from connect_core.kafka.cluster import cluster_id_of
from connect_core.rest import RestOptions, parse_rules
from connect_core.settings import WorkerSettings

__all__ = ["rest_options"]


def rest_options(settings: WorkerSettings) -> RestOptions:
    """Return the options of the API. Raise ConfigError."""
    admin = settings.admin_listeners
    if admin and set(admin) != set(settings.listeners):
        raise ConfigError(
            "admin.listeners",
            ",".join(map(str, admin)),
            "the admin endpoints share the API's address: remove this setting, or leave it empty to turn them off",
        )
    return RestOptions(
        cluster_id_of(settings),
        origins=_words(settings.values["access.control.allow.origin"]),
        methods=_words(settings.values["access.control.allow.methods"]),
        headers=parse_rules(settings.values["response.http.headers.config"]),
        has_admin=admin is None or bool(admin),
    )


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())

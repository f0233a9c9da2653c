"""The frozen settings of a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from connect_core.api.config import ConfigDef, Password
from connect_core.api.connector import WorkerLimits
from connect_core.errors import ConfigError
from connect_core.settings.definition import definition
from connect_core.settings.environment import variables_to_properties
from connect_core.settings.keys import NOT_FOR_TASKS, PREFIXES, WorkerMode, is_client_key, not_needed_reason
from connect_core.settings.listeners import Listener, parse_listener
from connect_core.settings.own_places import EXCLUDED, database_files, own_places
from connect_core.settings.topics import InternalTopic

__all__ = ["IN_USE", "Resolve", "WorkerSettings"]

IN_USE = "internal.topics"
"""Key in which a plan passes its tasks the offsets topics of other connectors."""

Resolve = Callable[[Mapping[str, str]], Mapping[str, str]]
"""Replaces references such as ``${env:NAME}`` in a mapping."""

_QUERY = "jdbc.query.allowed"


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The settings from a worker's properties file and its environment.

    ``raw`` is what is sent to tasks, with references kept. ``resolved`` is the same with
    references replaced, ``values`` the parsed settings by key.
    """

    mode: WorkerMode
    raw: Mapping[str, str]
    resolved: Mapping[str, str]
    values: Mapping[str, Any]

    @classmethod
    def from_properties(
        cls,
        properties: Mapping[str, str],
        environment: Mapping[str, str],
        mode: WorkerMode | None = None,
        resolve: Resolve = dict,
    ) -> WorkerSettings:
        """Return the settings in these properties; the environment takes precedence.

        ``mode`` is that of the command; by default ``worker.mode``, else
        distributed where there is a ``group.id``. Raise ConfigError naming all
        errors.
        """
        raw = {**properties, **variables_to_properties(environment, _is_known)}
        mode = mode or _mode_of(raw)
        raw["worker.mode"] = mode.value
        resolved = resolve(raw)
        values = _parse(definition(mode), resolved)
        values["file.roots"] = [str(Path(root).expanduser().absolute()) for root in values["file.roots"] if root]
        excluded = [*map(Path, filter(None, values[EXCLUDED])), *own_places(environment)]
        values[EXCLUDED] = list(dict.fromkeys(str(place.expanduser().absolute()) for place in excluded))
        folders = {key: ",".join(values[key]) for key in ("file.roots", EXCLUDED)}
        return cls(mode, {**raw, **folders}, {**resolved, **folders}, values)

    # -- Kafka ---------------------------------------------------------------------------------------------------------

    @property
    def bootstrap_servers(self) -> str:
        """The brokers, as host:port separated by commas."""
        return ",".join(self.values["bootstrap.servers"])

    @property
    def deployment(self) -> str:
        """The name under which workers share connectors: ``group.id``, or a UUID in standalone mode."""
        if self.mode is WorkerMode.DISTRIBUTED:
            return str(self.values["group.id"])
        if self.values["standalone.id"] is None:
            raise ConfigError("The standalone id is unknown until its database is open: call with_standalone_id")
        return str(self.values["standalone.id"])

    def with_standalone_id(self, identity: str) -> WorkerSettings:
        """Return the settings with this deployment's id, which is known once its database is open."""
        return self._with({"standalone.id": identity})

    def with_secret_key(self, file: Path) -> WorkerSettings:
        """Return the settings with this key file, if none is configured."""
        return self if self.secret_key_file else self._with({"secret.key.file": str(file)})

    def _with(self, added: Mapping[str, str]) -> WorkerSettings:
        return replace(
            self, raw={**self.raw, **added}, resolved={**self.resolved, **added}, values={**self.values, **added}
        )

    @property
    def offsets_topic(self) -> InternalTopic:
        """The topic that holds source offsets and their markers."""
        return self._topic("offset.storage.", "connect-offsets")

    @property
    def status_topic(self) -> InternalTopic:
        """The topic of heartbeats."""
        return self._topic("status.storage.", "connect-status")

    @property
    def internal_topics(self) -> frozenset[str]:
        """The topics that connectors must not read or write, besides those whose names begin with ``__``."""
        in_use = self.raw.get(IN_USE, "").split(",")
        return self.own_topics | frozenset(filter(None, in_use))

    @property
    def own_topics(self) -> frozenset[str]:
        """The worker's topics of offsets, status and, if Connect used one, configurations."""
        named = [self.raw.get("config.storage.topic", "")]
        if not self.is_standalone or self.values["standalone.id"] is not None:
            named += [self.offsets_topic.name, self.status_topic.name]
        return frozenset(filter(None, named))

    def _topic(self, prefix: str, default: str) -> InternalTopic:
        name = self.values[f"{prefix}topic"] or f"{default}-{self.deployment}"
        own = {f"{prefix}topic", f"{prefix}partitions", f"{prefix}replication.factor", "offset.storage.file.filename"}
        others = {
            key.removeprefix(prefix): value
            for key, value in self.resolved.items()
            if key.startswith(prefix) and key not in own
        }
        partitions, replicas = self.values[f"{prefix}partitions"], self.values[f"{prefix}replication.factor"]
        return InternalTopic(name, partitions, replicas, {**others, "cleanup.policy": "compact"})

    # -- connectors ----------------------------------------------------------------------------------------------------

    def converter_properties(self, converter: str) -> dict[str, str]:
        """Return the settings of a converter, as ``key.converter``."""
        return self.with_prefix(f"{converter}.")

    @property
    def file_roots(self) -> tuple[Path, ...]:
        """The folders file connectors may use, absolute; if empty, file connectors are off."""
        return tuple(Path(root) for root in self.values["file.roots"])

    def limits(self) -> WorkerLimits:
        """Return what connectors may touch; keys ``limits.…`` become its values, ``jdbc.query.allowed`` one of them."""
        own = [self.secret_key_file, *(database_files(self.standalone_database) if self.is_standalone else ())]
        excluded = (*map(Path, self.values[EXCLUDED]), *(file for file in own if file is not None))
        values = {**self.with_prefix("limits."), _QUERY: str(self.values[_QUERY]).lower()}
        return WorkerLimits(self.file_roots, values, self.is_standalone, excluded)

    @property
    def is_standalone(self) -> bool:
        """Whether one process without Airflow does the work."""
        return self.mode is WorkerMode.STANDALONE

    # -- REST ----------------------------------------------------------------------------------------------------------

    @property
    def listeners(self) -> tuple[Listener, ...]:
        """The addresses of the REST API."""
        return tuple(parse_listener("listeners", address) for address in self.values["listeners"])

    @property
    def admin_listeners(self) -> tuple[Listener, ...] | None:
        """The addresses of the admin endpoints; ``None``: the same; empty: off."""
        addresses = self.values["admin.listeners"]
        return None if addresses is None else tuple(parse_listener("admin.listeners", text) for text in addresses)

    @property
    def advertised(self) -> Listener:
        """The address shown as the worker's (``worker_id``)."""
        first = self.listeners[0]
        scheme, host = self.values["rest.advertised.listener"], self.values["rest.advertised.host.name"]
        return Listener(scheme or first.scheme, host or first.host, self.values["rest.advertised.port"] or first.port)

    # -- stack ---------------------------------------------------------------------------------------------------------

    @property
    def database_url(self) -> str:
        """The SQLAlchemy URL of the metadata database. Raise ConfigError without one."""
        url: Password | None = self.values["database.url"]
        if url is not None:
            return url.value
        if self.is_standalone:
            return f"sqlite:///{self.standalone_database}"
        raise ConfigError('Missing required configuration "database.url": set it or CONNECT_DATABASE_URL')

    @property
    def standalone_database(self) -> Path:
        """The SQLite file beside ``offset.storage.file.filename``."""
        offsets = Path(self.values["offset.storage.file.filename"]).expanduser().absolute()
        return offsets.with_name(f"{offsets.name}.db")

    @property
    def standalone_key(self) -> Path:
        """The key beside that file, which encrypts passwords where ``secret.key.file`` names none."""
        return self.standalone_database.with_name(f"{self.standalone_database.name}.key")

    @property
    def spark_remote(self) -> str | None:
        """The address of the Spark Connect server, which may hold its token."""
        remote: Password | None = self.values["spark.remote"]
        return None if remote is None else remote.value

    @property
    def spark_properties(self) -> dict[str, str]:
        """The keys ``spark.…`` except our own, passed to Spark unchanged."""
        return {
            key: value for key, value in self.resolved.items() if key.startswith("spark.") and key not in self.values
        }

    @property
    def secret_key_file(self) -> Path | None:
        """The file with the key that encrypts passwords."""
        return self._path("secret.key.file")

    @property
    def airflow_password_file(self) -> Path | None:
        """The file with the password of ``airflow.user``."""
        return self._path("airflow.password.file")

    def _path(self, key: str) -> Path | None:
        return Path(self.values[key]).expanduser() if self.values[key] else None

    # -- all of it -----------------------------------------------------------------------------------------------------

    def with_prefix(self, prefix: str) -> dict[str, str]:
        """Return the settings that begin with ``prefix``, without it."""
        return {
            key.removeprefix(prefix): value
            for key, value in self.resolved.items()
            if key.startswith(prefix) and key != prefix
        }

    def task_properties(self) -> dict[str, str]:
        """Return the raw properties a Spark worker may have, without addresses of the stack."""
        return {key: value for key, value in self.raw.items() if not key.startswith(NOT_FOR_TASKS)}

    def not_needed(self) -> dict[str, str]:
        """Return the given keys of Connect that have no meaning here, with the reason."""
        reasons = ((key, not_needed_reason(key) or self._reason_of_mode(key)) for key in sorted(self.raw))
        return {key: reason for key, reason in reasons if reason is not None}

    def _reason_of_mode(self, key: str) -> str | None:
        other = next(mode for mode in WorkerMode if mode is not self.mode)
        is_for_other_mode = key in definition(other).config_keys() and key not in self.values
        return f"only connect {other.value} uses it" if is_for_other_mode else None

    def unknown(self) -> tuple[str, ...]:
        """Return the given keys that neither Connect nor this project defines."""
        return tuple(key for key in sorted(self.raw) if key not in self.values and not _is_known(key))


def _mode_of(properties: Mapping[str, str]) -> WorkerMode:
    named = properties.get("worker.mode")
    if named is None:
        return WorkerMode.DISTRIBUTED if "group.id" in properties else WorkerMode.STANDALONE
    if named not in [mode.value for mode in WorkerMode]:
        raise ConfigError("worker.mode", named, "Use standalone or distributed")
    return WorkerMode(named)


def _parse(config: ConfigDef, properties: Mapping[str, str]) -> dict[str, Any]:
    errors = [error for value in config.validate(properties) for error in value.error_messages]
    if errors:
        lines = "\n".join(errors)
        raise ConfigError(f"The worker's settings contain the following {len(errors)} error(s):\n{lines}")
    return config.parse(properties)


def _is_known(key: str) -> bool:
    if any(key in definition(mode).config_keys() for mode in WorkerMode):
        return True
    return is_client_key(key) or not_needed_reason(key) is not None or key.startswith(PREFIXES)

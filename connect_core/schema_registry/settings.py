"""The settings that converters with a schema registry share, parsed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from connect_core.api.config import ConfigDef, Password
from connect_core.api.connector import WorkerLimits
from connect_core.errors import ConfigError
from connect_core.schema_registry.keys import REQUEST_HEADER, define_registry
from connect_core.schema_registry.login import URL, Login, host_of, login_of, printable, urls_of
from connect_core.schema_registry.tls import TlsSettings

__all__ = [
    "CacheLimits",
    "CallLimits",
    "ClientSettings",
    "HeaderUse",
    "Login",
    "RegistrySettings",
    "WriteSettings",
    "define_registry",
]

_CONFIG = define_registry(ConfigDef())


@dataclass(frozen=True, slots=True)
class CallLimits:
    """How long a call may take, and how often it is retried; times in seconds."""

    connect: float = 60.0
    read: float = 60.0
    total: float = 120.0
    retries: int = 3
    retry_wait: float = 1.0
    retry_max_wait: float = 20.0


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """How many responses are cached, and for how many seconds; ``latest_seconds`` below 0: without limit."""

    schemas: int = 10_000
    latest: int = 1000
    latest_seconds: float = -1.0
    missing: int = 10_000
    missing_id_seconds: float = 5.0
    missing_version_seconds: float = 5.0
    missing_schema_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """The address of a registry and how it is called; converters with equal settings share one client.

    ``urls`` have no credentials and no trailing slash. ``headers`` are sent with each request.
    ``allowed_hosts``: the worker's ``limits.hosts.allowed``; empty: all but metadata services.
    """

    urls: tuple[str, ...]
    login: Login = field(default_factory=Login)
    tls: TlsSettings = field(default_factory=TlsSettings)
    calls: CallLimits = field(default_factory=CallLimits)
    caches: CacheLimits = field(default_factory=CacheLimits)
    proxy: str | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    allowed_hosts: str = ""

    def within(self, limits: WorkerLimits) -> ClientSettings:
        """Return these settings with the hosts that the worker lets connectors call."""
        return replace(self, allowed_hosts=limits.values.get("hosts.allowed", ""))


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """Which schema a message is written with; ``schema_id``: ``None`` if not set."""

    auto_register: bool = True
    schema_id: int | None = None
    is_id_strict: bool = True
    use_latest: bool = False
    is_latest_strict: bool = True
    normalize: bool = False


class HeaderUse(Enum):
    """How the record's header that may name a message's schema is used."""

    IGNORED = 0
    READ = 1
    READ_AND_WRITTEN = 2


@dataclass(frozen=True, slots=True)
class RegistrySettings:
    """All registry settings, of the converter of keys or of values."""

    client: ClientSettings
    write: WriteSettings
    strategy: str
    codec: str
    is_key: bool
    header: HeaderUse

    @property
    def strategy_key(self) -> str:
        """The name of the setting that sets ``strategy``."""
        return f"{'key' if self.is_key else 'value'}.subject.name.strategy"

    @classmethod
    def of(cls, configs: Mapping[str, Any], is_key: bool) -> RegistrySettings:
        """Parse ``configs``, whose other keys are ignored. Raise ConfigError."""
        values = _CONFIG.parse(configs)
        part = "key" if is_key else "value"
        return cls(
            ClientSettings(
                urls_of(values[URL]),
                login_of(values),
                TlsSettings.of(values),
                _calls(values),
                _caches(values),
                _proxy(values),
                _headers(configs, values),
            ),
            _write(values),
            values[f"{part}.subject.name.strategy"],
            values["schema.id.codec"],
            is_key,
            _header_use(values, part),
        )


def _header_use(values: Mapping[str, Any], part: str) -> HeaderUse:
    writes, reads = f"{part}.schema.id.serializer", f"{part}.schema.id.deserializer"
    is_written, is_confluent = "Header" in (values[writes] or ""), values["schema.id.codec"] == "confluent"
    if is_written and not is_confluent:
        raise ConfigError(writes, values[writes], "schemas are named in headers only with schema.id.codec=confluent")
    if is_written:
        return HeaderUse.READ_AND_WRITTEN
    return HeaderUse.READ if is_confluent and "Dual" in (values[reads] or "") else HeaderUse.IGNORED


def _calls(values: Mapping[str, Any]) -> CallLimits:
    return CallLimits(
        values["http.connect.timeout.ms"] / 1000,
        values["http.read.timeout.ms"] / 1000,
        values["schema.registry.request.timeout.ms"] / 1000,
        values["max.retries"],
        values["retries.wait.ms"] / 1000,
        values["retries.max.wait.ms"] / 1000,
    )


def _caches(values: Mapping[str, Any]) -> CacheLimits:
    return CacheLimits(
        max(CacheLimits().schemas, values["max.schemas.per.subject"]),
        values["latest.cache.size"],
        values["latest.cache.ttl.sec"],
        values["missing.cache.size"],
        values["missing.id.cache.ttl.sec"],
        values["missing.version.cache.ttl.sec"],
        values["missing.schema.cache.ttl.sec"],
    )


def _proxy(values: Mapping[str, Any]) -> str | None:
    host, port = values["proxy.host"], values["proxy.port"]
    if not host:
        return None
    if port <= 0 or not host_of(f"http://{host}:{port}"):
        raise ConfigError("proxy.host", f"{host}:{port}", "set a host name in proxy.host and its port in proxy.port")
    return f"http://{host}:{port}"


def _headers(configs: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    given = {
        key.removeprefix(REQUEST_HEADER): str(value) for key, value in configs.items() if key.startswith(REQUEST_HEADER)
    }
    for name, text in given.items():
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name):
            raise ConfigError(
                f"{REQUEST_HEADER}{name}", Password.HIDDEN, "it is not a valid HTTP header name: correct it"
            )
        printable(f"{REQUEST_HEADER}{name}", text)
    if values["bearer.auth.token"].value:
        cloud = {
            "target-sr-cluster": values["bearer.auth.logical.cluster"],
            "Confluent-Identity-Pool-Id": values["bearer.auth.identity.pool.id"],
        }
        given = {**{name: text for name, text in cloud.items() if text}, **given}
    return tuple(sorted(given.items()))


def _write(values: Mapping[str, Any]) -> WriteSettings:
    chosen = values["use.schema.id"]
    return WriteSettings(
        values["auto.register.schemas"],
        None if chosen < 0 else chosen,
        values["id.compatibility.strict"],
        values["use.latest.version"],
        values["latest.compatibility.strict"],
        values["normalize.schemas"],
    )

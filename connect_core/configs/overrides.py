"""Which Kafka client settings a connector may override (KIP-458, KIP-1188).

Regardless of the policy, no connector may set what would run programs, load
code, read files, connect to other places, or break exactly-once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from connect_core.api.config import ConfigValue, parse_type
from connect_core.configs.override_types import OVERRIDE_TYPES
from connect_core.errors import ConfigError
from connect_core.settings import WorkerSettings

__all__ = [
    "CLIENTS",
    "PRINCIPAL_KEYS",
    "TUNING_KEYS",
    "check_overrides",
    "denied_reason",
    "ensure_overrides",
]

CLIENTS = ("producer", "consumer", "admin")

PRINCIPAL_KEYS = frozenset({"sasl.jaas.config", "sasl.mechanism", "security.protocol"})
"""The keys that policy Principal allows, as in Connect."""

_TUNING = """
auto.offset.reset batch.num.messages batch.size buffer.memory check.crcs client.rack compression.codec
compression.gzip.level compression.level compression.lz4.level compression.type compression.zstd.level
connections.max.idle.ms default.api.timeout.ms delivery.timeout.ms fetch.error.backoff.ms fetch.max.bytes
fetch.max.wait.ms fetch.message.max.bytes fetch.min.bytes fetch.queue.backoff.ms fetch.wait.max.ms
heartbeat.interval.ms isolation.level linger.ms max.block.ms max.in.flight.requests.per.connection
max.partition.fetch.bytes max.poll.interval.ms max.poll.records max.request.size message.max.bytes
message.send.max.retries message.timeout.ms metadata.max.age.ms metadata.max.idle.ms
queue.buffering.max.kbytes queue.buffering.max.messages queue.buffering.max.ms queued.max.messages.kbytes
queued.min.messages receive.buffer.bytes receive.message.max.bytes reconnect.backoff.max.ms reconnect.backoff.ms
request.timeout.ms retries retry.backoff.max.ms retry.backoff.ms send.buffer.bytes session.timeout.ms
socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms socket.keepalive.enable
socket.max.fails socket.nagle.disable socket.receive.buffer.bytes socket.send.buffer.bytes socket.timeout.ms
sticky.partitioning.linger.ms topic.metadata.refresh.interval.ms transaction.timeout.ms
"""
TUNING_KEYS = frozenset(_TUNING.split())
"""The keys that policy Allowlist allows if the worker lists none: settings that affect performance only."""

_PROGRAM, _CODE = "it runs a program", "it loads code"
_FILE, _PLACE, _ENGINE = "it reads a file", "it sends credentials elsewhere", "exactly-once depends on it"
_DENIED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), reason)
    for pattern, reason in (
        (r"sasl\.kerberos\.kinit\.cmd", _PROGRAM),
        (r".*\.class(es)?|.*\.reporters|.*\.(de)?serializer|security\.providers|ssl\.providers?", _CODE),
        (r"plugin\.library\.paths|ssl\.engine\..*|ssl\.secure\.random\.implementation|config\.providers.*", _CODE),
        (r".*\.location|.*\.file|sasl\.kerberos\.keytab|ssl\.ca\.certificate\.stores|https\.ca\..*", _FILE),
        (r"sasl\.oauthbearer\.(config|assertion\..*|metadata\..*|.*\.url|grant\.type|extensions)", _PLACE),
        (r"ssl\.endpoint\.identification\.algorithm|enable\.ssl\.certificate\.verification", "it turns off a check"),
        (r"transactional\.id|enable\.idempotence|enable\.auto\.(commit|offset\.store)|group\.instance\.id", _ENGINE),
        (r"acks|request\.required\.acks|auto\.commit\..*|group\.protocol|partition\.assignment\.strategy", _ENGINE),
    )
)
_ADDRESS = re.compile(r"bootstrap\..*|metadata\.broker\.list|client\.dns\.lookup|broker\.address\..*")
_CONNECTION = re.compile(rf"{_ADDRESS.pattern}|security\..*|sasl\..*|ssl\..*|https\..*|metadata\.recovery\..*")
_NOTHING = re.compile(r"(?!)")
_LOGS_IN = "this client logs in as the worker, and the worker decides where and how; remove it"
_LOGIN_KEYS = (
    "sasl.jaas.config",
    "sasl.username",
    "sasl.password",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.assertion.private.key.file",
    "sasl.oauthbearer.assertion.private.key.pem",
    "sasl.oauthbearer.assertion.file",
    "ssl.key.location",
    "ssl.key.pem",
    "ssl.keystore.key",
    "ssl.keystore.location",
)
_LOGIN_MODULE = re.compile(r"\s*(\S+)")
_LOGIN_MODULES = frozenset(
    f"org.apache.kafka.common.security.{name}LoginModule"
    for name in ("plain.Plain", "scram.Scram", "oauthbearer.OAuthBearer")
)


def denied_reason(key: str, value: str | None) -> str | None:
    """Return why no connector may set a client setting to this value; ``None`` if one may."""
    name = key.strip().lower()
    reason = next((reason for pattern, reason in _DENIED if pattern.fullmatch(name)), None)
    if reason is not None or name != "sasl.jaas.config":
        return reason
    module = _LOGIN_MODULE.match(value or "")
    return None if module and module[1] in _LOGIN_MODULES else _CODE


def ensure_overrides(config: Mapping[str, str], worker: WorkerSettings) -> None:
    """Raise ConfigError for overrides that are not allowed, also once a policy has changed.

    Connect: ``Worker.connectorClientConfigOverrides``.
    """
    values = (value for client in CLIENTS for value in check_overrides(config, client, worker))
    errors = [error for value in values for error in value.error_messages]
    if errors:
        raise ConfigError(f"Client Config Overrides not allowed: {' '.join(errors)}")


def check_overrides(config: Mapping[str, str | None], client: str, worker: WorkerSettings) -> list[ConfigValue]:
    """Return every override of a client, without prefix, with its errors.

    All three clients are checked for every connector: plans read topics and groups
    with clients that its tasks may not have. Raise ConfigError for a value of
    another type than the client's, as Connect does before it applies the policy.
    Connect: ``ConnectorClientConfigOverridePolicy.validate``.
    """
    prefix = f"{client}.override."
    found = {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}
    for key, value in found.items():
        if key in OVERRIDE_TYPES and denied_reason(key, value) is None:
            parse_type(key, value, OVERRIDE_TYPES[key])
    kept = _connection_keys_kept(found, client, worker)
    return [ConfigValue(key, value, [], _errors(key, value, kept, worker)) for key, value in found.items()]


def _connection_keys_kept(found: Mapping[str, str | None], client: str, worker: WorkerSettings) -> re.Pattern[str]:
    """Return the keys that only the worker may set, because these clients log in as the worker."""
    # Only admin clients inherit the worker's settings without a prefix.
    prefixes = (f"{client}.", "") if client == "admin" else (f"{client}.",)
    inherited = {key for prefix in prefixes for key in _LOGIN_KEYS if worker.resolved.get(f"{prefix}{key}")}
    has_own = bool(found.get("sasl.jaas.config") or (found.get("sasl.username") and found.get("sasl.password")))
    if not has_own and any(key.startswith("sasl.") for key in inherited):
        return _CONNECTION
    # A client certificate is not disclosed by a login, but must not log in to a server that a connector names.
    return _ADDRESS if any(key.startswith("ssl.") for key in inherited) else _NOTHING


def _errors(key: str, value: str | None, kept: re.Pattern[str], worker: WorkerSettings) -> list[str]:
    reason = denied_reason(key, value)
    if reason is None and kept.fullmatch(key.strip().lower()):
        reason = f"{_LOGS_IN} or, where the policy allows it, give the connector a login of its own"
    if reason is not None:
        return [f"'{key}' may not be overridden in the connector configuration under any policy: {reason}."]
    policy = str(worker.values["connector.client.config.override.policy"])
    if _is_allowed(key, policy.upper(), worker):
        return []
    return [f"The '{policy}' policy does not allow '{key}' to be overridden in the connector configuration."]


def _is_allowed(key: str, policy: str, worker: WorkerSettings) -> bool:
    if policy == "ALLOWLIST":
        listed = worker.values["connector.client.config.override.allowlist"]
        return key in (TUNING_KEYS if listed is None else listed)
    return policy == "ALL" or (policy == "PRINCIPAL" and key in PRINCIPAL_KEYS)

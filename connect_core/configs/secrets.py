"""Secrets in configurations: encrypted at rest, hidden on every read."""

from __future__ import annotations

import logging
import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from connect_core.api.config import ConfigDef, ConfigType, Password, parse_type
from connect_core.errors import ConfigError, ConnectError
from connect_core.registry import PluginKind, registry

__all__ = [
    "HIDDEN",
    "SecretBox",
    "is_reference",
    "is_sealed",
    "keep_hidden",
    "mask",
    "mask_task",
    "mask_without_class",
    "seal_config",
    "sensitive_keys",
]

_LOG = logging.getLogger(__name__)
HIDDEN = Password.HIDDEN
"""Shown in place of a secret; if written back, the stored value is kept."""

_SEALED = "sealed"
_SEPARATOR = "\0"
_REFERENCE = re.compile(r"\$\{[^{}:]+:[^{}]*\}")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORDS = re.compile(
    r"password|passwd|passphrase|secret|credential|webhook|authorization|connection[._-]?string"
    r"|(^|[._-])pass$|(^|[._-])(pwd|token|dsn|bearer|cookie|sas|signature|jaas[._]config|auth[._]user[._]info)($|[._-])"
    r"|(api|access|account|private|keystore|shared|signing|encryption|master)[._-]?key($|[._-])|key[._-]pem",
    re.IGNORECASE,
)
"""Words in names of secrets; accessToken is read as access.Token."""
_PLACE = re.compile(r"[._-](file|filename|location|path)$", re.IGNORECASE)
"""Endings of names of settings with the place of a secret."""
_INSIDE = re.compile(
    r"://[^/\s:@]*:(?!\$\{)[^/\s@]+@"
    r"|(?:^|[?&;,])\s*(?i:password|passwd|pwd|secret|token|access_token|api_?key|accountkey|sharedaccesskey|sig)\s*="
    r"\s*(?!\$\{)[^\s&;,]"
    r"|(?i:\bbearer)\s+(?!\$\{)[A-Za-z0-9._~+/=-]{8}"
    r"|(?i:authorization[\"']?\s{0,8}[:=]\s{0,8}[\"']?basic)\s+(?!\$\{)[A-Za-z0-9+/=]"
    r"|^(?i:[^=\n]{0,200}\b(?:host|hostaddr|dbname|user|port)=[^\n]{0,400}\s(?:password|passwd|pwd)=)(?!\$\{)\S"
    r"|(?i:jdbc:oracle:(?:thin|oci8?):)[^/@\s]{1,128}/(?!\$\{)[^@\s]{1,128}@"
    r"|(?i:\"(?:password|passwd|secret|token)\"\s*:\s*\")(?!\$\{)[^\"]"
)
"""A secret inside of a value: the login of a URL, a parameter, a header."""
_DESTINATION = re.compile(
    r"(^|[._-])(ur[il]s?|jdbc|hosts?|hostname|domain|servers?|address(es)?|endpoints?|brokers?|ports?|proxy|registry"
    r"|account[._-]?name)($|[._-])|^connector\.class$",
    re.IGNORECASE,
)
"""Names of settings that determine where a secret is sent."""
_AUTHORITY = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#]*)", re.IGNORECASE)
_BUCKETS = frozenset(("s3", "s3a", "s3n", "gs"))
"""Schemes of URLs that name a bucket, not a host: what is sent where is decided by other settings."""
_PLUGINS = (
    ("key.converter", PluginKind.CONVERTER),
    ("value.converter", PluginKind.CONVERTER),
    ("header.converter", PluginKind.HEADER_CONVERTER),
)
_ALIASED = (("transforms", PluginKind.TRANSFORMATION), ("predicates", PluginKind.PREDICATE))


@dataclass(frozen=True, slots=True)
class SecretBox:
    """Seals texts with the first key of a file, and opens texts that any of its keys sealed.

    A sealed text belongs to its owner, a connector's name: it cannot be opened
    in another connector's configuration.
    """

    keys: MultiFernet

    @classmethod
    def from_file(cls, path: Path) -> SecretBox:
        """Read a key file: one key per line, the newest first. Raise ConfigError."""
        remedy = "Write a line of 32 random bytes in URL-safe base64; CONNECT_SECRET_KEY_FILE names the file."
        try:
            lines = path.read_text("ascii").split()
            return cls(MultiFernet([Fernet(line) for line in lines]))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it does not hold a key"
            raise ConfigError(f"Cannot use the key file {path}: {reason}. {remedy}") from error

    @classmethod
    def make(cls, path: Path) -> None:
        """Create a key file, for its owner only, unless it exists. Raise ConfigError if others may read it."""
        if not path.exists():
            cls._create(path)
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise ConfigError("secret.key.file", path, f"others may read the key: chmod 600 {path}")

    @staticmethod
    def _create(path: Path) -> None:
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(Fernet.generate_key() + b"\n")
        with suppress(FileExistsError):
            # Linking is atomic, and never overwrites a key that is in use.
            os.link(draft, path)
        draft.unlink()

    def seal(self, text: str, owner: str) -> str:
        """Return a reference that holds the text sealed: ``${sealed:…}``."""
        token = self.keys.encrypt(f"{owner}{_SEPARATOR}{text}".encode()).decode("ascii")
        return f"${{{_SEALED}:{token}}}"

    def open(self, token: str, owner: str) -> str:
        """Return the text of a sealed reference's token. Raise ConfigError."""
        try:
            found, _, text = self.keys.decrypt(token.encode()).decode().partition(_SEPARATOR)
        except InvalidToken as error:
            remedy = "Give the driver and workers the key it was encrypted with, or enter the secret again."
            raise ConfigError(
                f"An encrypted setting of {owner or 'the worker'} cannot be decrypted. {remedy}"
            ) from error
        if found != owner:
            raise ConfigError(
                f"An encrypted setting of {owner or 'the worker'} belongs to another connector: enter the secret again."
            )
        return text


def is_reference(value: str) -> bool:
    """Whether a value consists only of references to providers."""
    return bool(value) and not _REFERENCE.sub("", value).strip()


def is_sealed(value: str | None) -> bool:
    """Whether a value holds a sealed text."""
    return f"${{{_SEALED}:" in (value or "")


def sensitive_keys(config: Mapping[str, str | None]) -> frozenset[str]:
    """Return the keys whose values must not be shown.

    Those of type PASSWORD in the connector, its converters, transforms and
    predicates; those named like a secret; and values that contain a secret.
    """
    typed = frozenset(_typed(config))
    return frozenset(
        key for key, value in config.items() if key in typed or _says_secret(key) or _INSIDE.search(value or "")
    )


def _says_secret(key: str) -> bool:
    name = _HUMP.sub(".", key)
    return bool(_WORDS.search(name)) and not _PLACE.search(name)


def mask(config: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return a configuration that may be shown: secrets hidden, references kept."""
    hidden = sensitive_keys(config)
    return {key: HIDDEN if _is_hidden(value, key in hidden) else value for key, value in config.items()}


def mask_without_class(config: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return a configuration that may be shown although it names no connector: passwords of every one are hidden."""
    names = (plugin.name for plugin in registry().of_kind(PluginKind.CONNECTOR))
    hidden = {key for name in names for key in _passwords(PluginKind.CONNECTOR, name)}
    return {key: HIDDEN if _is_hidden(value, key in hidden) else value for key, value in mask(config).items()}


def mask_task(task: Mapping[str, str], connector: Mapping[str, str]) -> dict[str, str | None]:
    """Return a task's configuration that may be shown: it need not repeat the settings that name classes."""
    hidden = sensitive_keys({**connector, **task})
    secrets = {connector[key] for key in hidden.intersection(connector) if _is_secret(connector[key])}
    return {
        key: HIDDEN if _is_hidden(value, key in hidden or value in secrets) else value for key, value in task.items()
    }


def _is_hidden(value: str | None, is_sensitive: bool) -> bool:
    return is_sealed(value) or (is_sensitive and _is_secret(value))


def keep_hidden(config: Mapping[str, str | None], stored: Mapping[str, str]) -> dict[str, str | None]:
    """Return a configuration with ``[hidden]`` replaced by the stored value.

    Raise ConfigError if nothing is stored, or if a setting that determines where
    secrets are sent has changed: who may not see them may not send them elsewhere.
    """
    hidden = [key for key, value in config.items() if value == HIDDEN]
    lost = [key for key in hidden if key not in stored]
    if lost:
        raise ConfigError(f"There is no stored value for {', '.join(lost)}: write the value in place of {HIDDEN}")
    moved = [key for key in sorted({*config, *stored}) if _is_moved(key, config.get(key), stored.get(key))]
    if hidden and moved:
        what = f"A change of {', '.join(moved)} may send {', '.join(hidden)} elsewhere"
        raise ConfigError(f"{what}: write the value in place of {HIDDEN}")
    return {key: stored[key] if value == HIDDEN else value for key, value in config.items()}


def _is_moved(key: str, value: str | None, stored: str | None) -> bool:
    if value in (HIDDEN, stored):
        return False
    return bool(_DESTINATION.search(_HUMP.sub(".", key))) or _host(value) != _host(stored)


def _host(value: str | None) -> str:
    """Return the host in a value that is a URL, with its login; empty if it is none, or names a bucket."""
    url = _AUTHORITY.match((value or "").strip())
    return "" if url is None or url[1].lower() in _BUCKETS else url[2]


def seal_config(config: Mapping[str, str], owner: str, box: SecretBox | None, *, is_required: bool) -> dict[str, str]:
    """Return a configuration that may be stored: secrets sealed, references kept.

    Without a key, secrets are rejected if ``is_required``, else kept as they are.
    Raise ConfigError naming the keys.
    """
    secrets = [
        key for key in sorted(sensitive_keys(config)) if _is_secret(config[key]) and not is_reference(config[key])
    ]
    if secrets and box is None and is_required:
        remedy = (
            "Set CONNECT_SECRET_KEY_FILE on every worker, or refer to a provider as ${env:NAME} or ${file:PATH:KEY}."
        )
        raise ConfigError(f"There is no key to encrypt the secret in {', '.join(secrets)}. {remedy}")
    if box is None:
        return dict(config)
    return {key: box.seal(value, owner) if key in secrets else value for key, value in config.items()}


def _is_secret(value: str | None) -> bool:
    if not value:
        return False
    return is_sealed(value) or not is_reference(value)


def _typed(config: Mapping[str, str | None]) -> Iterable[str]:
    yield from _passwords(PluginKind.CONNECTOR, config.get("connector.class"))
    for setting, kind in _PLUGINS:
        yield from (f"{setting}.{name}" for name in _passwords(kind, config.get(setting)))
    for family, kind in _ALIASED:
        for alias in parse_type(family, config.get(family), ConfigType.LIST) or ():
            prefix = f"{family}.{alias}."
            yield from (prefix + name for name in _passwords(kind, config.get(f"{prefix}type")))


@cache
def _passwords(kind: PluginKind, name: str | None) -> frozenset[str]:
    """Return the PASSWORD settings of a plugin; none if its definition is not available."""
    try:
        definition: ConfigDef = registry().create(kind, (name or "").strip()).config()
        return frozenset(key.name for key in definition.config_keys().values() if key.type is ConfigType.PASSWORD)
    except ConnectError:
        return frozenset()
    except Exception as error:
        # A connector can be listed, and deleted, also where its class is broken.
        _LOG.warning("%s does not define its settings, so secrets are known by their names only: %r", name, error)
        return frozenset()

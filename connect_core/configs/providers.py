"""References in configurations: ``${env:NAME}``, ``${file:path:key}``, ``${dir:path:file}``.

A provider is off until ``config.providers`` names it, and returns nothing outside
its allow-list (CVE-2024-31141). Values are read where they are used, and never
shown. Connect: ``ConfigTransformer`` and its providers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Protocol

from connect_core.configs.hiding import TELLING
from connect_core.configs.references import Reference, references, replaced
from connect_core.configs.secrets import SecretBox, sensitive_keys
from connect_core.errors import ConfigError, IllegalArgumentError
from connect_core.java.properties import read_properties
from connect_core.java.regex.pattern import JavaPattern, compile_java

__all__ = ["ConfigProviders", "make_providers", "unresolve"]

_SETTING = "config.providers"
_MOST_SECRETS = 1000
_PLAIN = re.compile(r"true|false|null|none|[+-]?[\d.]+", re.IGNORECASE)


class _Provider(Protocol):
    def value(self, path: str, key: str) -> str:
        """Return the value of a reference. Raise ConfigError."""


@dataclass(frozen=True, slots=True)
class _EnvironmentProvider:
    environment: Mapping[str, str]
    allowed: JavaPattern

    def value(self, path: str, key: str) -> str:
        if path or self.allowed.fullmatch(key) is None:
            raise ConfigError(f"The environment variable {key} is outside the provider's allowlist.pattern")
        if key not in self.environment:
            raise ConfigError(f"The environment variable {key} is not set: set it where connectors run")
        return self.environment[key]


@dataclass(frozen=True, slots=True)
class _Paths:
    """Folders and files a provider may read; links must not lead outside."""

    allowed: tuple[Path, ...]

    def resolve(self, path: str) -> Path:
        found = Path(path).resolve()
        if not any(found.is_relative_to(root.resolve()) for root in self.allowed):
            raise ConfigError(f"The path {path} is outside the provider's allowed.paths")
        return found


@dataclass(frozen=True, slots=True)
class _FileProvider:
    paths: _Paths

    def value(self, path: str, key: str) -> str:
        found = read_properties(self.paths.resolve(path))
        if key not in found:
            raise ConfigError(f"The file {path} has no key {key}")
        return found[key]


@dataclass(frozen=True, slots=True)
class _DirectoryProvider:
    paths: _Paths

    def value(self, path: str, key: str) -> str:
        file = self.paths.resolve(str(Path(path) / key))
        try:
            return file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"Cannot read the file {key} of {path}: check the path and its permissions") from error


@dataclass(frozen=True, slots=True)
class ConfigProviders:
    """Replaces references; sealed values are decrypted with the key file."""

    providers: Mapping[str, _Provider] = field(default_factory=dict)
    key_file: Path | None = None

    def secret_box(self) -> SecretBox | None:
        """Return the box that seals and opens secrets, if there is a key. Raise ConfigError."""
        return None if self.key_file is None else SecretBox.from_file(self.key_file)

    def resolve(self, config: Mapping[str, str], owner: str = "") -> dict[str, str]:
        """Return the mapping with every reference replaced.

        A reference to a provider that is not configured stays as it is.
        ``owner``: the connector's name; empty for the worker. Raise ConfigError
        naming the key.
        """
        return {key: self._replaced(key, value, owner) for key, value in config.items()}

    def secrets(self, config: Mapping[str, str | None], owner: str = "") -> dict[str, str]:
        """Return the value of each reference → the reference as written; those that fail are left out."""
        written = (value[start:end] for value in config.values() if value for start, end, _ in references(value))
        found: dict[str, str] = {}
        for text in islice(dict.fromkeys(written), _MOST_SECRETS):
            with suppress(ConfigError):
                found[self._replaced("", text, owner)] = text
        return {secret: text for secret, text in found.items() if secret != text}

    def _replaced(self, key: str, value: str, owner: str) -> str:
        # A null of REST's JSON is not text, and a provider's own settings cannot contain references.
        if not value or "${" not in value or key.startswith(_SETTING):
            return value
        try:
            return replaced(value, lambda reference: self._looked_up(reference, owner))
        except ConfigError as error:
            raise ConfigError(f"Cannot resolve the setting {key}: {error}") from error

    def _looked_up(self, reference: Reference, owner: str) -> str | None:
        if reference.provider == "sealed":
            box = self.secret_box()
            if box is None:
                raise ConfigError("it is encrypted, and there is no key here: set CONNECT_SECRET_KEY_FILE")
            return box.open(reference.key, owner)
        provider = self.providers.get(reference.provider)
        return None if provider is None else provider.value(reference.path, reference.key)


def make_providers(properties: Mapping[str, str], environment: Mapping[str, str]) -> ConfigProviders:
    """Return the providers a worker's properties configure. Raise ConfigError.

    Keys as in Connect: ``config.providers``, ``config.providers.NAME.class``
    (not needed if NAME is the provider's kind), ``config.providers.NAME.param.…``.
    """
    names = [name.strip() for name in properties.get(_SETTING, "").split(",") if name.strip()]
    key_file = properties.get("secret.key.file")
    providers = {name: _provider(name, properties, environment) for name in names}
    return ConfigProviders(providers, Path(key_file).expanduser() if key_file else None)


def _provider(name: str, properties: Mapping[str, str], environment: Mapping[str, str]) -> _Provider:
    setting = f"{_SETTING}.{name}.class"
    kind = properties.get(setting, name).strip().rpartition(".")[2]
    if kind in ("env", "EnvVarConfigProvider"):
        pattern = _parameter(properties, name, "allowlist.pattern")
        try:
            return _EnvironmentProvider(environment, compile_java(pattern))
        except IllegalArgumentError as error:
            key = f"{_SETTING}.{name}.param.allowlist.pattern"
            raise ConfigError(key, pattern, "Write a regular expression") from error
    if kind in ("file", "FileConfigProvider", "dir", "directory", "DirectoryConfigProvider"):
        listed = _parameter(properties, name, "allowed.paths").split(",")
        paths = _Paths(tuple(Path(path.strip()) for path in listed if path.strip()))
        if not all(path.is_absolute() for path in paths.allowed):
            key = f"{_SETTING}.{name}.param.allowed.paths"
            raise ConfigError(key, ",".join(listed), "Write absolute paths")
        return _FileProvider(paths) if kind.lower().startswith("file") else _DirectoryProvider(paths)
    known = "EnvVarConfigProvider, FileConfigProvider, DirectoryConfigProvider"
    raise ConfigError(setting, properties.get(setting), f"Class could not be found; there are {known}")


def _parameter(properties: Mapping[str, str], name: str, parameter: str) -> str:
    key = f"{_SETTING}.{name}.param.{parameter}"
    if not properties.get(key, "").strip():
        raise ConfigError(f'Missing required configuration "{key}": a provider gives only what it is allowed to')
    return properties[key]


def unresolve(raw: Mapping[str, str], resolved: Mapping[str, str]) -> Callable[[Mapping[str, str]], dict[str, str]]:
    """Return a function that puts references back into task configurations.

    These were made from ``resolved``, but plans hold references and ciphertext only. A setting passed on is the
    connector's own again; in others, what may be a secret is replaced. Resolving gives the same task configurations.
    """
    texts = sorted(_telling(raw, resolved).items(), key=lambda item: len(item[1]), reverse=True)
    pattern = re.compile("|".join(re.escape(text) for _, text in texts) or r"(?!)")
    references = {text: raw[key] for key, text in reversed(texts)}

    def back(config: Mapping[str, str]) -> dict[str, str]:
        return {
            key: raw[key]
            if value and key in raw and resolved.get(key) == value
            else pattern.sub(lambda match: references[match[0]], value)
            for key, value in config.items()
        }

    return back


def _telling(raw: Mapping[str, str], resolved: Mapping[str, str]) -> dict[str, str]:
    """Return the values of references that may be secrets, by setting.

    Others, such as 7 or false, may occur anywhere: a change of the reference would then change unrelated settings.
    """
    changed = {key: value for key, value in resolved.items() if value and value != raw.get(key)}
    sensitive = sensitive_keys(resolved) if changed else frozenset()
    return {
        key: value
        for key, value in changed.items()
        if key in raw and (key in sensitive or (len(value) >= TELLING and not _PLAIN.fullmatch(value)))
    }

"""Plugin versions a configuration requests (KIP-891): one version, a range, or ``latest``."""

from __future__ import annotations

import re
from typing import Any

from connect_core.errors import ConfigError
from connect_core.registry import Plugin

__all__ = ["VersionMissingError", "VersionValidator", "ensure_version", "is_version_matched"]

_RANGE = re.compile(r"([\[(])([^,\[\]()]*+)(,?)([^,\[\]()]*+)([\])])")
_PARTS = re.compile(r"\d+|[a-zA-Z]+")


class VersionMissingError(ConfigError):
    """Raised when the requested version of a plugin does not exist. Connect: ``VersionedPluginLoadingException``."""


class VersionValidator:
    """Accepts a version or a range of versions in Maven's notation; or null."""

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for anything else."""
        if value is not None and value != "latest" and any(sign in value for sign in "[]()") and not _ranges(value):
            raise ConfigError(name, value, "Write one version, or a range such as [1.0,2.0)")

    def __str__(self) -> str:
        return "A version, or a range of versions"


def is_version_matched(version: str, requirement: str) -> bool:
    """Return whether a version satisfies a requirement: the same version, or a range."""
    if requirement in ("", "latest", version):
        return True
    return any(_is_within(version, match) for match in _ranges(requirement))


def ensure_version(plugin: Plugin, requirement: str | None) -> None:
    """Raise VersionMissingError unless the plugin's version satisfies the requirement."""
    if requirement is None or is_version_matched(plugin.version, requirement):
        return
    asked = requirement if _ranges(requirement) else f"[{requirement},{requirement}]"
    raise VersionMissingError(
        f"Plugin {plugin.name} not found that matches the version range {asked}, available versions: [{plugin.version}]"
    )


def _ranges(text: str) -> list[re.Match[str]]:
    matches = list(_RANGE.finditer(text))
    return matches if "".join(match[0] for match in matches) == text.replace("),", ")").replace("],", "]") else []


def _is_within(version: str, match: re.Match[str]) -> bool:
    opening, low, comma, high, closing = match.groups()
    if not comma:
        return _parts(version) == _parts(low)
    at = _parts(version)
    above = not low or at > _parts(low) or (opening == "[" and at == _parts(low))
    below = not high or at < _parts(high) or (closing == "]" and at == _parts(high))
    return above and below


def _parts(version: str) -> list[tuple[int, int, str]]:
    """Return a key that orders numbers as numbers, and words before them (1.0-rc1 < 1.0.1)."""
    parts = _PARTS.findall(version)
    return [(1, int(part), "") if part.isdigit() else (0, 0, part.lower()) for part in parts]

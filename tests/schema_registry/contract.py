"""What contract tests of converters over a registry in memory share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connect_core.api.convert import Converter
from connect_core.schema_registry.settings import RegistrySettings

__all__ = ["ADDRESS", "CheckedSettings"]

ADDRESS = {"schema.registry.url": "http://127.0.0.1:1"}
"""Required, and never called."""


class CheckedSettings(Converter):
    """Checks the registry's settings as the converter does that opens it."""

    def configure(self, configs: Mapping[str, Any], is_key: bool) -> None:
        RegistrySettings.of(configs, is_key)
        super().configure(configs, is_key)  # type: ignore[safe-super]

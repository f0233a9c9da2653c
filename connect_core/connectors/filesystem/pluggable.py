"""The common base of formats, partitioners and storages: own settings and a constructor without arguments."""

from __future__ import annotations

from collections.abc import Mapping

from connect_core.api.config import AbstractConfig, ConfigDef

__all__ = ["Pluggable"]


class Pluggable:
    """One exchangeable part of the sink; another wheel can provide the class by an entry point."""

    definition = ConfigDef()
    """The settings it adds to those of the sink."""

    def configure(self, config: Mapping[str, str]) -> None:
        """Read the connector's configuration. Raises ConfigError naming key, value and remedy."""
        self.setup(AbstractConfig(self.definition, config))

    def setup(self, settings: AbstractConfig) -> None:
        """Read the part's own settings, parsed. Raises ConfigError."""

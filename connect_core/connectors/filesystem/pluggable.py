"""What formats, partitioners and storages have in common: settings of their own, made without arguments."""

from __future__ import annotations

from collections.abc import Mapping

from connect_core.api.config import AbstractConfig, ConfigDef

__all__ = ["Pluggable"]


class Pluggable:
    """One exchangeable part of the sink; a class that another wheel can bring by entry point."""

    definition = ConfigDef()
    """The settings it adds to those of the sink."""

    def configure(self, config: Mapping[str, str]) -> None:
        """Take the connector's configuration. Raises ConfigError naming key, value and remedy."""
        self.setup(AbstractConfig(self.definition, config))

    def setup(self, settings: AbstractConfig) -> None:
        """Take the part's own settings, parsed. Raises ConfigError."""

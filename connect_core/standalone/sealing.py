"""Seals passwords that an earlier version stored in plain text, before the worker starts."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from connect_core.configs import SecretBox, seal_config, unresolve
from connect_core.store import Database
from connect_core.store.stored_configs import rewrite_configs

__all__ = ["seal_stored"]

_LOG = logging.getLogger(__name__)


def seal_stored(database: Database, key: Path) -> int:
    """Seal plain-text secrets in all stored configurations → how many connectors had any.

    Earlier versions of a configuration, deleted connectors and assigned task configurations
    are rewritten too, and SQLite's file keeps no copy. Raise ConfigError for an
    unusable key, RetriableError.
    """
    box = SecretBox.from_file(key)
    known: dict[tuple[str, str], str] = {}

    def sealed(name: str, config: Mapping[str, str]) -> dict[str, str]:
        # The same secret gets the same text in every version, so that task configurations still match.
        found = seal_config(config, name, box, is_required=True)
        return {
            text: known.setdefault((name, config[text]), value) if value != config[text] else value
            for text, value in found.items()
        }

    def sealed_tasks(name: str, config: Mapping[str, str], tasks: list[dict[str, str]]) -> list[dict[str, str]]:
        back = unresolve(sealed(name, config), config)
        return [back(task) for task in tasks]

    with database.write() as connection:
        changed = rewrite_configs(connection, sealed, sealed_tasks)
    if changed:
        database.compact()
        _LOG.info("Passwords of %d connectors were stored in plain text: they are encrypted now", changed)
    return changed

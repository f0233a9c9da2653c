"""Every test that asks for ``database`` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from connect_core.store import Database
from tests.store.databases import (
    database,
    database_url,
    postgresql_server,
    postgresql_url,
    pytest_generate_tests,
    sqlite_template,
)
from tests.store.worlds import World

__all__ = [
    "database",
    "database_url",
    "postgresql_server",
    "postgresql_url",
    "pytest_generate_tests",
    "sqlite_template",
]


@pytest.fixture
def world(database: Database) -> World:
    return World(database)

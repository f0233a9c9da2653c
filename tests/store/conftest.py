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
from tests.store.harness import Harness

__all__ = [
    "database",
    "database_url",
    "postgresql_server",
    "postgresql_url",
    "pytest_generate_tests",
    "sqlite_template",
]


@pytest.fixture
def harness(database: Database) -> Harness:
    return Harness(database)

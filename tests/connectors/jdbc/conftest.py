"""Every JDBC test that asks for ``server`` runs on PostgreSQL, MariaDB, SQLite and, in ``make matrix``, DuckDB.

DuckDB goes the generic path; ``make test`` has of it what names it, such as ``test_query_columns.py``.
"""

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
    of_servers,
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
    chosen = any(mark.name == "parametrize" and mark.args[0] == "server" for mark in metafunc.definition.iter_markers())
    if "server" in metafunc.fixturenames and "kind" not in metafunc.fixturenames and not chosen:
        metafunc.parametrize("server", of_servers(KINDS, in_matrix=("duckdb",)), indirect=True)

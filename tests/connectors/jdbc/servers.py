"""Databases for the JDBC tests: real servers on loopback, each checked with its own client first."""

from __future__ import annotations

import getpass
import sqlite3
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pymysql
import pytest
import sqlalchemy as sa
from _pytest.mark import ParameterSet

from connect_core.api import WorkerLimits
from connect_core.api.config import AbstractConfig, ConfigDef
from connect_core.connectors.jdbc.config import connection_settings, with_connection_keys
from connect_core.connectors.jdbc.connection import JdbcDatabase, open_database
from connect_core.dev.stack import Stack
from tests.integration.ports import free_port
from tests.programs import mariadb_client, mariadb_server

QUERIES = {"jdbc.query.allowed": "true"}
KINDS = ("postgresql", "mariadb", "sqlite", "duckdb")


def of_servers(kinds: Iterable[str], in_matrix: Collection[str] = ()) -> list[ParameterSet]:
    """Return the parameters of fixture ``server``; some go to ``make matrix``.

    All but SQLite go with the servers, as DuckDB is slow to open.
    """
    return [pytest.param(kind, marks=_marks(kind, kind in in_matrix)) for kind in kinds]


def _marks(kind: str, is_in_matrix: bool) -> list[pytest.MarkDecorator]:
    if kind == "sqlite":
        return [pytest.mark.slow]
    return [pytest.mark.servers, pytest.mark.matrix] if is_in_matrix else [pytest.mark.servers]


def strict_servers() -> list[ParameterSet]:
    """Return those whose columns refuse values of another type; SQLite's take anything."""
    return of_servers((kind for kind in KINDS if kind != "sqlite"), in_matrix=("duckdb",))


@dataclass(frozen=True)
class Server:
    """One empty database: what a connector is given to reach it."""

    kind: str
    config: Mapping[str, str]
    limits: WorkerLimits

    def open(self) -> JdbcDatabase:
        definition = with_connection_keys(ConfigDef())
        given = {name: text for name, text in self.config.items() if name in definition.names()}
        return open_database(connection_settings(AbstractConfig(definition, given)), self.limits)

    def execute(self, *statements: str) -> None:
        with self.open().begin() as connection:
            for statement in statements:
                connection.execute(sa.text(statement.replace(":", r"\:")))

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self.open().connect() as connection:
            return [tuple(row) for row in connection.execute(sa.text(query.replace(":", r"\:")))]

    def quote(self, name: str) -> str:
        # ``rows`` and ``execute`` double percent signs where the driver wants it.
        return self.open().engine.dialect.identifier_preparer.quote_identifier(name).replace("%%", "%")


def replace_config(server: Server, settings: Mapping[str, str], without: str) -> Server:
    """Return a server that is reached with other settings."""
    kept = {name: text for name, text in server.config.items() if name != without}
    return replace(server, config={**kept, **settings})


@contextmanager
def postgresql_stack(folder: Path) -> Iterator[Stack]:
    stack = Stack(folder, services=("postgres",))
    stack.up()
    try:
        yield stack
    finally:
        stack.down()


def postgresql_server(url: str, schema: str = "jdbc_test") -> Server:
    """Return an empty schema of a PostgreSQL server; ``url`` as the stack exports it."""
    address = sa.make_url(url)
    try:
        with psycopg.connect(address.set(drivername="postgresql").render_as_string(False), autocommit=True) as client:
            assert client.execute("SELECT 40 + 2").fetchone() == (42,)
            client.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
            client.execute(f"CREATE SCHEMA {schema}")
    except (psycopg.Error, AssertionError) as error:
        pytest.fail(f"service broken: PostgreSQL does not answer its own client: {error}")
    config = {
        "connection.url": f"jdbc:postgresql://{address.host}:{address.port}/{address.database}?currentSchema={schema}",
        "connection.user": str(address.username),
        "connection.password": str(address.password),
    }
    return Server("postgresql", config, WorkerLimits(values=QUERIES))


@dataclass(frozen=True)
class MariaDb:
    """A running MariaDB of our own."""

    port: int
    socket: Path

    def client(self, sql: str, database: str = "mysql") -> str:
        program = mariadb_client()
        options = ["--no-defaults", f"--socket={self.socket}", "-uroot", "--batch", "-N", database]
        done = subprocess.run(
            [program.path, *options],
            input=sql,
            env=program.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
        if done.returncode != 0:
            pytest.fail(f"service broken: MariaDB does not answer its own client: {done.stderr.strip()}")
        return done.stdout.strip()

    def server(self, name: str = "jdbc_test") -> Server:
        """Return an empty database."""
        assert self.client("SELECT 40 + 2") == "42"
        self.client(f"DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name} CHARACTER SET utf8mb4")
        url = f"jdbc:mariadb://127.0.0.1:{self.port}/{name}"
        config = {"connection.url": url, "connection.user": "connect", "connection.password": "connect-secret"}
        return Server("mariadb", config, WorkerLimits(values=QUERIES))


@contextmanager
def mariadb_running(folder: Path, *, is_logging_changes: bool = False) -> Iterator[MariaDb]:
    """Run a MariaDB until the block ends. ``is_logging_changes``: it keeps a binary log of rows."""
    program = mariadb_server()
    data, socket, port = folder / "data", folder / "m.sock", free_port()
    data.mkdir()
    messages = program.path.resolve().parents[1] / "share" / "mysql"
    common = ["--no-defaults", f"--datadir={data}", f"--lc-messages-dir={messages}", f"--user={getpass.getuser()}"]
    _bootstrap([str(program.path), *common, "--bootstrap"], messages, program.environment())
    options = [f"--socket={socket}", f"--port={port}", "--bind-address=127.0.0.1", f"--pid-file={folder / 'pid'}"]
    changes = ["--log-bin=bin", "--server-id=1", "--binlog-format=ROW", "--binlog-row-metadata=FULL"]
    options += changes if is_logging_changes else ["--skip-log-bin"]
    options += ["--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=64M"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen([program.path, *common, *options], stdout=log, stderr=log, env=program.environment())
    try:
        _await_mariadb(socket, folder / "log")
        running = MariaDb(port, socket)
        running.client("CREATE USER connect IDENTIFIED BY 'connect-secret'; GRANT ALL ON *.* TO connect")
        yield running
    finally:
        server.terminate()
        server.wait(30)


def _await_mariadb(socket: Path, log: Path) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            pymysql.connect(unix_socket=str(socket), user="root").close()
        except pymysql.Error as error:
            if time.monotonic() > deadline:
                pytest.fail(f"service broken: MariaDB did not start: {error}\n{log.read_text()[-2000:]}")
            time.sleep(0.1)
        else:
            return


def _bootstrap(command: Sequence[str], messages: Path, environment: Mapping[str, str]) -> None:
    """Make the system tables, as mariadb-install-db does, which is in a package of its own."""
    begin = (
        "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\nSET @skip_auth_anonymous=1;\n"
    )
    files = ("mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql")
    sql = begin + "".join((messages / file).read_text() for file in files)
    done = subprocess.run(command, input=sql, env=environment, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        pytest.fail(f"service broken: MariaDB made no system tables: {done.stdout[-500:]} {done.stderr[-500:]}")


def file_server(kind: str, folder: Path) -> Server:
    """Return an empty SQLite or DuckDB file."""
    with sqlite3.connect(":memory:") if kind == "sqlite" else duckdb.connect(":memory:") as client:
        assert client.execute("SELECT 40 + 2").fetchone() == (42,), f"service broken: {kind}"
    limits = WorkerLimits((folder,), {"jdbc.dialects": "postgresql,mariadb,sqlite,duckdb", **QUERIES})
    return Server(kind, {"connection.url": f"jdbc:{kind}:{folder / f'test.{kind}'}"}, limits)

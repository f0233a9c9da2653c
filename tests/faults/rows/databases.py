"""What happens to databases: the metadata's, a source's, a target's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import psycopg

from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import Database, connectors
from connect_core.store.connectors import NewConfig
from tests.faults.exports import TableExport
from tests.faults.history import Findings, History
from tests.faults.rows.row import Row, moving
from tests.faults.world import CHECKOUT, World

_SECONDS = 6.0


def lock_tables(history: History) -> int:
    """Another session locks tables of the metadata for some seconds."""
    for table in ("intervals", "connectors"):
        with history.world.superuser() as session, session.transaction():
            session.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            time.sleep(_SECONDS)
        time.sleep(1)
    return 2


def use_up_connections(history: History) -> int:
    """All connections of the database server are taken, and those of the metadata ended."""
    with ExitStack() as taken:
        session = taken.enter_context(history.world.superuser())
        # The last ones are reserved for the superuser, who is to end the others.
        session.execute("ALTER ROLE connect CONNECTION LIMIT 0")
        _end_sessions(session)
        time.sleep(_SECONDS)
        session.execute("ALTER ROLE connect CONNECTION LIMIT -1")
    return 1


def read_only(history: History) -> int:
    """The database takes no writes, as after a failover to a standby."""
    with history.world.superuser() as session:
        for _ in range(2):
            session.execute("ALTER DATABASE connect SET default_transaction_read_only = on")
            _end_sessions(session)
            time.sleep(_SECONDS)
            session.execute("ALTER DATABASE connect SET default_transaction_read_only = off")
            _end_sessions(session)
            time.sleep(1)
    return 2


def _end_sessions(session: psycopg.Connection) -> None:
    session.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'connect'")


def restart_database(history: History) -> int:
    """The database is stopped as by ``pg_ctl restart``, fast and then immediate; its supervisor starts it again."""
    server = history.world.stack.service("postgres")
    for number in (signal.SIGINT, signal.SIGQUIT):
        pid = server.pid
        assert pid is not None
        os.kill(pid, number)
        time.sleep(1)
        server.await_healthy(90)
        time.sleep(1)
    return 2


@dataclass(slots=True)
class Import:
    """A JDBC source over a table that the test itself writes."""

    world: World
    name: str

    @property
    def topic(self) -> str:
        """The topic of the table."""
        return f"{self.name}-{self.table}"

    @property
    def table(self) -> str:
        """The table."""
        return self.name.replace("-", "_")

    def begin(self) -> None:
        """Create table, connector and driver."""
        with self.connect() as session:
            session.execute(f"CREATE TABLE {self.table} (id bigserial PRIMARY KEY, label text)")
        self.world.topics.create(1, self.topic)
        url = urlsplit(self.world.environment["CONNECT_DATABASE_URL"])
        config = {
            "name": self.name,
            "connector.class": "JdbcSource",
            "connection.url": f"jdbc:postgresql://127.0.0.1:{self.world.stack.service('postgres').port}{url.path}",
            "connection.user": url.username or "",
            "connection.password": url.password or "",
            "mode": "incrementing",
            "table.include.list": self.table,
            "topic.prefix": f"{self.name}-",
            "poll.interval.ms": "500",
            "interval.max.records": "500",
        }
        with self.world.database.write() as connection:
            connectors.create(connection, self.name, NewConfig(ConnectorType.SOURCE, config), TargetState.STARTED)
        self.world.drive(self.name)

    def connect(self) -> psycopg.Connection:
        """Return a connection of the table's owner, past the proxy."""
        url = self.world.environment["CONNECT_DATABASE_URL"].replace("+psycopg", "")
        return psycopg.connect(url, autocommit=True)

    def insert(self, session: psycopg.Connection, count: int) -> None:
        """Write rows."""
        session.execute(f"INSERT INTO {self.table} (label) SELECT 'row' FROM generate_series(1, {count})")

    def found(self, faults: int) -> Findings:
        """Wait until the topic holds the table's rows, and compare."""
        with self.connect() as session:
            ids = {number for (number,) in session.execute(f"SELECT id FROM {self.table}").fetchall()}
        began = time.monotonic()
        values = self.world.topics.read(self.topic, len(ids), 120)
        seconds = time.monotonic() - began
        time.sleep(2)
        values = self.world.topics.read(self.topic, len(ids), 10) or values
        self.world.end_drivers()
        counts = Counter(json.loads(value or b"{}")["id"] for value in values)
        lost, repeated = len(ids - counts.keys()), sum(counts.values()) - len(counts)
        return Findings(faults, len(ids), lost, repeated, (), seconds)


def late_commits(world: World) -> Findings:
    """Transactions that took their numbers early commit late, some never; columns come and go while rows are read."""
    table = Import(world, f"row-31-{world.random.getrandbits(24):06x}")
    table.begin()
    with table.connect() as session, table.connect() as late, table.connect() as never:
        for other in (late, never):
            other.execute("BEGIN")
            table.insert(other, 50)
        for _ in range(5):
            table.insert(session, 300)
            time.sleep(1)
        late.execute("COMMIT")
        never.execute("ROLLBACK")
        session.execute(f"ALTER TABLE {table.table} ADD COLUMN added int")
        table.insert(session, 300)
        time.sleep(1)
        session.execute(f"ALTER TABLE {table.table} ALTER COLUMN label TYPE varchar(20), DROP COLUMN added")
        table.insert(session, 300)
    return table.found(4)


def rights_and_passwords(world: World) -> Findings:
    """A target's rights are revoked and given back, then its password changes: failed by name, and on afterwards."""
    export = TableExport(world, f"row-35-{world.random.getrandbits(24):06x}")
    role = export.name.replace("-", "_")
    with world.superuser() as session:
        session.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'first'")
        session.execute(f"GRANT ALL ON SCHEMA public TO {role}")
        session.execute(f"GRANT {role} TO connect")
        login = {"connection__user": role, "offsets__table": f"offsets_{role}"}
        export.begin(2, connection__password="first", **login)
        export.write(0, 1000)
        world.drive(export.name)
        export.await_files(1000)
        session.execute(f'REVOKE INSERT ON "{export.topic}" FROM {role}')
        export.write(1000, 1000)
        told = [export.await_failure("permission denied")]
        session.execute(f'GRANT INSERT ON "{export.topic}" TO {role}')
        export.await_files(2000)
        session.execute(f"ALTER ROLE {role} PASSWORD 'second'")
        session.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{role}'")
        export.write(2000, 1000)
        told += [export.await_failure("password authentication failed")]
        export.reconfigure(connection__password="second", **login)
        wrong = ["I12: a password is told"] if any("'first'" in one for one in told) else []
        return export.found(set(range(3000)), 2, *wrong)


@contextmanager
def other_database(world: World, name: str) -> Iterator[str]:
    """Let the world's metadata be in another, empty database while the block runs, as a deployment of that name."""
    with world.superuser() as session:
        session.execute(f"CREATE DATABASE {name} OWNER connect")
    environment, database = dict(world.environment), world.database
    url = url_of(world, name)
    world.environment |= {"CONNECT_DATABASE_URL": url, "CONNECT_GROUP_ID": name}
    world.database = Database(url)
    try:
        yield url
    finally:
        world.end_drivers()
        world.database.close()
        world.environment, world.database = environment, database


def url_of(world: World, database: str) -> str:
    """Return the address of another database of the server."""
    return urlunsplit(urlsplit(world.environment["CONNECT_DATABASE_URL"])._replace(path=f"/{database}"))


def killed_migrations(world: World) -> Findings:
    """The schema's migration is killed, again and again; in the end it is whole, and lines move on it."""
    name = f"migrated_{world.random.getrandbits(24):06x}"
    with other_database(world, name) as url:
        code = "import sys; from connect_core.store import migrate; print('begins', flush=True); migrate(sys.argv[1])"
        killed = 0
        for turn in range(6):
            command = [sys.executable, "-c", code, url]
            with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                process.stdout.readline()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(world.random.uniform(0.0, 0.3 + 0.2 * turn))
                killed += process.poll() is None
                process.kill()
        subprocess.run([sys.executable, "-c", code, url], cwd=CHECKOUT, check=True, timeout=120)
        history = History(world, f"row-39-{world.random.getrandbits(24):06x}")
        history.begin()
        with history.writing():
            pass
        history.heal()
        return history.end(killed)


ROWS: tuple[Row, ...] = (
    moving(16, "metadata database restarted, fast and immediate", restart_database),
    moving(17, "metadata tables locked", lock_tables),
    moving(17, "no connection left to the metadata", use_up_connections),
    moving(17, "metadata database read-only", read_only),
    Row(31, "rows committed late, table altered", late_commits),
    Row(35, "rights revoked, password rotated", rights_and_passwords),
    Row(39, "migration killed", killed_migrations),
)

"""PostgreSQL clusters of a test's own, to be made standbys of, promoted, and put into states no client can make."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from connect_core.api import WorkerLimits
from connect_core.dev import postgres
from tests.connectors.jdbc.servers import Server
from tests.integration.ports import free_port

_SETTINGS = "unix_socket_directories = ''\nautovacuum = off\nfsync = off\nlog_min_messages = warning\n"


@dataclass
class Cluster:
    """One server process over one data folder; anyone on loopback may log in."""

    data: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            postgres._as_account([str(postgres._binary("postgres")), "-D", str(self.data), "-p", str(self.port)]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._await(lambda client: client.execute("SELECT 40 + 2"))

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(20)
            self.process = None

    def standby(self, data: Path) -> Cluster:
        """Return a hot standby that follows this server, started."""
        run("pg_basebackup", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-D", str(data), "-R", "-c",
            "fast", "--no-sync")  # fmt: skip
        found = Cluster(data, free_port())
        found.start()
        return found

    def promote(self) -> None:
        self.execute("SELECT pg_promote()")
        self._await(lambda client: client.execute("CREATE TEMPORARY TABLE written (id int)"))

    def server(self) -> Server:
        url = f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"
        return Server("postgresql", {"connection.url": url, "connection.user": "postgres"}, WorkerLimits())

    def execute(self, *statements: str) -> None:
        with self.client() as client:
            for statement in statements:
                client.execute(statement)

    def client(self) -> psycopg.Connection[Any]:
        return psycopg.connect(host="127.0.0.1", port=self.port, user="postgres", dbname="postgres", autocommit=True)

    def await_rows(self, table: str, count: int) -> None:
        """Wait until a standby has so many rows."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with suppress(psycopg.Error), self.client() as client:
                found = client.execute(f"SELECT count(*) FROM {table}").fetchone()
                if found is not None and found[0] == count:
                    return
            time.sleep(0.1)
        pytest.fail(f"service broken: the standby did not get {count} rows of {table}")

    def _await(self, act: Any) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                with self.client() as client:
                    act(client)
            except psycopg.Error as error:
                if time.monotonic() > deadline:
                    pytest.fail(f"service broken: PostgreSQL at {self.data} does not start: {error}")
                time.sleep(0.1)
            else:
                return


def run(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs as the account that owns its files."""
    command = postgres._as_account([str(postgres._binary(program)), *arguments])
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        pytest.fail(f"service broken: {program} failed: {done.stderr[-500:]}")


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Yield a new, empty server; ``folder`` is given to PostgreSQL's account."""
    postgres._open_prefixes(folder / "data", postgres._binary("postgres"))
    postgres._give_to_account(folder)
    run(
        "initdb",
        "-D",
        str(folder / "data"),
        "-U",
        "postgres",
        "--auth=trust",
        "--no-sync",
        "--locale=C",
        "--encoding=UTF8",
    )
    with (folder / "data" / "postgresql.conf").open("a") as file:
        file.write(_SETTINGS)
    made = Cluster(folder / "data", free_port())
    made.start()
    try:
        yield made
    finally:
        made.stop()

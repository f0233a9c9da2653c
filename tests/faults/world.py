"""The servers faults are injected into, and the processes that drive connectors on them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import Random
from types import TracebackType
from urllib.parse import urlsplit, urlunsplit

import psutil
import psycopg

from connect_core.configs import load_worker, providers_of
from connect_core.dev.secrets import secret
from connect_core.dev.stack import Stack
from connect_core.herder.context import Herder
from connect_core.herder.rewriting import rewrite_offsets
from connect_core.interval import failpoints
from connect_core.kafka.internal_topics import create_internal_topics
from connect_core.settings import WorkerMode
from connect_core.store import Database, migrate
from tests.faults.proxy import KafkaWatch, PostgresWatch, Proxy, Watch
from tests.integration.distribution import install
from tests.integration.topics import Topics

CHECKOUT = Path(__file__).parents[2]
_CONNECTORS = Path(__file__).with_name("moody_connectors.py")


@dataclass(slots=True)
class DriverProcess:
    """A process that drives one connector; restarted by ``World.heal`` like any task by its scheduler."""

    connector: str
    process: subprocess.Popen[bytes]

    @property
    def is_alive(self) -> bool:
        """Whether it still runs (or is paused)."""
        return self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)


class Drivers:
    """The scheduler of connectors whose runs are started by driver processes: there is nothing to tell it."""

    def deploy(self, connector: str) -> None:
        """Leave it to the connector's driver."""

    remove = pause = resume = retry = deploy

    def trigger(self, connector: str) -> str:
        """Leave it to the connector's driver."""
        return ""

    def backfill(self, connector: str, first: datetime, last: datetime) -> None:
        """Leave it to the connector's driver."""


@dataclass(slots=True)
class World:
    """Kafka, PostgreSQL and Spark with a proxy before each, and a seeded source of chance."""

    folder: Path
    random: Random
    settings: Mapping[str, str] = field(default_factory=dict)
    services: tuple[str, ...] = ("postgres", "kafka", "spark")
    batches: int = 40
    """How many thousand lines a history writes."""
    pause_seconds: float = 0.25
    """How long it waits between two thousand."""
    most: int = 100
    """How often a row repeats its fault at most."""
    stack: Stack = field(init=False)
    kafka_proxy: Proxy = field(init=False)
    database_proxy: Proxy = field(init=False)
    spark_proxy: Proxy = field(init=False)
    environment: dict[str, str] = field(init=False)
    database: Database = field(init=False)
    topics: Topics = field(init=False)
    herder: Herder = field(init=False)
    drivers: list[DriverProcess] = field(default_factory=list)
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> World:
        """Start the servers."""
        (self.folder / "drivers.log").touch()
        self.kafka_proxy = Proxy(lambda: self.stack.service("kafka").port, KafkaWatch)
        self.database_proxy = Proxy(lambda: self.stack.service("postgres").port, PostgresWatch)
        self.spark_proxy = Proxy(lambda: self.spark_port, Watch)
        settings = {
            "PYTHONPATH": str(install(self.folder / "plugins", _CONNECTORS, {"moody.MoodySource": "MoodySource"})),
            **self.settings,
            "CONNECT_FILE_ROOTS": str(self.folder),
            "CONNECT_KAFKA_ADVERTISED_PORT": str(self.kafka_proxy.port),
            failpoints.TESTING: "1",
            failpoints.FILE: str(self.armed),
        }
        self.stack = Stack(self.folder / "stack", self.services, self.project(), settings)
        self._open.callback(self.stack.down)
        self._open.callback(self.end_drivers)
        self.stack.up()
        self.environment = {**self.stack.environment(), **settings}
        worker = load_worker(None, self.environment, WorkerMode.DISTRIBUTED)
        migrate(worker.database_url)
        create_internal_topics(worker)
        self.database = Database(worker.database_url)
        self.topics = Topics(self.environment["CONNECT_BOOTSTRAP_SERVERS"])
        providers = providers_of(worker, self.environment)
        self.herder = Herder(self.database, worker, Drivers(), rewrite_offsets, providers, "faults")
        return self

    def project(self) -> Path:
        """Return where the servers' settings lie."""
        return CHECKOUT

    @property
    def spark_port(self) -> int:
        """The port of the Spark Connect server."""
        return self.stack.service("spark").port

    @property
    def armed(self) -> Path:
        """What arms a fail point in all processes, Spark's among them."""
        return self.folder / "armed"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all of it."""
        self._open.close()

    def drive(self, connector: str, more: Mapping[str, str] | None = None, within: Sequence[str] = ()) -> None:
        """Start a process that drives the connector, started ``within`` a command; several compete."""
        log = self.folder / "drivers.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                [*within, sys.executable, "-m", "tests.faults.drive", connector],
                cwd=CHECKOUT,
                env={**self.whole(), **self.proxied(), **(more or {})},
                stdout=output,
                stderr=output,
            )
        self.drivers.append(DriverProcess(connector, process))

    def heal(self, *connectors: str) -> None:
        """See to it that each connector has a driver that runs, as a scheduler does."""
        for driver in self.drivers:
            if driver.is_alive:
                driver.signal(signal.SIGCONT)
        self.drivers = [driver for driver in self.drivers if driver.is_alive]
        for name in set(connectors) - {driver.connector for driver in self.drivers}:
            self.drive(name)

    def end_drivers(self) -> None:
        """End all drivers at once; what they were doing is for the next ones to recover."""
        for driver in self.drivers:
            driver.process.kill()
            driver.process.wait()
        self.drivers = []

    def superuser(self, database: str = "connect") -> psycopg.Connection:
        """Return a connection of PostgreSQL's superuser, past the proxy."""
        password, port = secret(self.stack.home, "postgres"), self.stack.service("postgres").port
        place = f"host=127.0.0.1 port={port} dbname={database} user=postgres"
        return psycopg.connect(f"{place} password={password}", autocommit=True)

    def python_workers(self) -> list[psutil.Process]:
        """Return Spark's Python daemons with the workers that run tasks."""
        spark = psutil.Process(self.stack.service("spark").pid)
        return [one for one in spark.children(recursive=True) if _is_daemon(one)]

    def whole(self) -> dict[str, str]:
        """Return the variables of a process of the stack."""
        return {**os.environ, **self.environment}

    def proxied(self) -> dict[str, str]:
        """Return the variables by which drivers find the servers through the proxies."""
        parts = urlsplit(self.environment["CONNECT_DATABASE_URL"])
        place = f"{parts.username}:{parts.password}@127.0.0.1:{self.database_proxy.port}"
        spark = self.environment["CONNECT_SPARK_REMOTE"]
        return {
            "CONNECT_DATABASE_URL": urlunsplit(parts._replace(netloc=place)),
            "CONNECT_SPARK_REMOTE": spark.replace(f":{self.spark_port}/", f":{self.spark_proxy.port}/"),
        }


def _is_daemon(process: psutil.Process) -> bool:
    try:
        return any("daemon" in argument for argument in process.cmdline())
    except psutil.Error:
        # It has ended meanwhile.
        return False

"""The servers faults are injected into, and the processes that drive connectors on them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import TracebackType
from urllib.parse import urlsplit, urlunsplit

from connect_core.configs import load_worker
from connect_core.dev.stack import Stack
from connect_core.kafka.internal_topics import create_internal_topics
from connect_core.settings import WorkerMode
from connect_core.store import Database, migrate
from tests.faults.proxy import KafkaWatch, PostgresWatch, Proxy
from tests.integration.topics import Topics

CHECKOUT = Path(__file__).parents[2]


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


@dataclass(slots=True)
class World:
    """Kafka, PostgreSQL and Spark with proxies before the first two, and a seeded source of chance."""

    folder: Path
    random: Random
    stack: Stack = field(init=False)
    kafka_proxy: Proxy = field(init=False)
    database_proxy: Proxy = field(init=False)
    environment: dict[str, str] = field(init=False)
    database: Database = field(init=False)
    topics: Topics = field(init=False)
    drivers: list[DriverProcess] = field(default_factory=list)
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> World:
        """Start the servers."""
        self.kafka_proxy = Proxy(lambda: self.stack.service("kafka").port, KafkaWatch)
        self.database_proxy = Proxy(lambda: self.stack.service("postgres").port, PostgresWatch)
        settings = {
            "CONNECT_FILE_ROOTS": str(self.folder),
            "CONNECT_KAFKA_ADVERTISED_PORT": str(self.kafka_proxy.port),
        }
        self.stack = Stack(self.folder / "stack", services=("postgres", "kafka", "spark"), settings=settings)
        self._open.callback(self.stack.down)
        self._open.callback(self.end_drivers)
        self.stack.up()
        self.environment = {**self.stack.environment(), **settings}
        worker = load_worker(None, self.environment, WorkerMode.DISTRIBUTED)
        migrate(worker.database_url)
        create_internal_topics(worker)
        self.database = Database(worker.database_url)
        self.topics = Topics(self.environment["CONNECT_BOOTSTRAP_SERVERS"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all of it."""
        self._open.close()

    def drive(self, connector: str, more: Mapping[str, str] | None = None) -> DriverProcess:
        """Start a process that drives the connector; several for one connector compete."""
        log = self.folder / "drivers.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.drive", connector],
                cwd=CHECKOUT,
                env={**os.environ, **self.environment, **self._proxied(), **(more or {})},
                stdout=output,
                stderr=output,
            )
        driver = DriverProcess(connector, process)
        self.drivers.append(driver)
        return driver

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

    def _proxied(self) -> dict[str, str]:
        parts = urlsplit(self.environment["CONNECT_DATABASE_URL"])
        place = f"{parts.username}:{parts.password}@127.0.0.1:{self.database_proxy.port}"
        return {"CONNECT_DATABASE_URL": urlunsplit(parts._replace(netloc=place))}

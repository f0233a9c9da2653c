"""Three Kafka brokers in one cluster, each a controller as well: started, stopped and killed one by one."""

from __future__ import annotations

import base64
import secrets
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from confluent_kafka import ElectionType, KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from connect_core.dev.jars import kafka_jars
from connect_core.dev.java import find_java
from connect_core.dev.ports import is_free, is_open

__all__ = ["Broker", "Brokers"]

Found = TypeVar("Found")
"""What is waited for."""

_NUMBERS = (1, 2, 3)
_HEAP = ("-Xms128m", "-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_SECONDS = 120.0
_PORTS = range(20_000, 30_000)
"""Below the ephemeral ports: what a broker that is away listened on is not taken by an outgoing connection."""
_SERVER = """\
process.roles=broker,controller
node.id={number}
controller.quorum.voters={voters}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
log.dirs={data}
default.replication.factor=3
min.insync.replicas=2
offsets.topic.replication.factor=3
offsets.topic.num.partitions=6
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
transaction.state.log.num.partitions=6
share.coordinator.state.topic.replication.factor=3
share.coordinator.state.topic.min.isr=2
share.coordinator.state.topic.num.partitions=2
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=16777216
log.cleaner.threads=1
num.network.threads=2
num.io.threads=4
num.replica.fetchers=1
"""
_LOGGING = """\
rootLogger.level = WARN
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c)%n
"""


@dataclass(slots=True)
class Broker:
    """One broker of the three."""

    number: int
    folder: Path
    port: int
    controller: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where clients connect to."""
        return f"127.0.0.1:{self.port}"

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self.process is not None and self.process.poll() is None

    @property
    def properties(self) -> Path:
        """Its settings."""
        return self.folder / "server.properties"

    def start(self) -> None:
        """Start it; nothing is awaited."""
        with (self.folder / "console.log").open("ab") as output:
            command = [*_java(self.folder), *_HEAP, "kafka.Kafka", str(self.properties)]
            self.process = subprocess.Popen(command, stdout=output, stderr=output)

    def stop(self) -> None:
        """End it as an operator does: its partitions are led by others before it goes."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL it."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self.process is None:
            return
        self.process.send_signal(number)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass(slots=True)
class Brokers:
    """The cluster: replication factor 3, writes need two of three."""

    folder: Path
    all: tuple[Broker, ...] = ()
    _admin: AdminClient | None = field(default=None)

    def __enter__(self) -> Brokers:
        """Format and start all three, and wait until they are one cluster."""
        ports = iter(_free_ports(2 * len(_NUMBERS)))
        self.all = tuple(
            Broker(number, self.folder / f"broker-{number}", next(ports), next(ports)) for number in _NUMBERS
        )
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
        formats = [subprocess.Popen(self._format(broker, cluster), stdout=subprocess.DEVNULL) for broker in self.all]
        assert [process.wait(_SECONDS) for process in formats] == [0, 0, 0], "the brokers' folders are not formatted"
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kill all three."""
        for broker in self.all:
            broker.kill()

    @property
    def bootstrap(self) -> str:
        """The addresses of all three."""
        return ",".join(broker.address for broker in self.all)

    @property
    def admin(self) -> AdminClient:
        """A client of the test's own."""
        if self._admin is None:
            self._admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        return self._admin

    def start(self) -> None:
        """Start those that do not run, and wait until every partition has all its replicas again."""
        for broker in self.all:
            if not broker.is_alive:
                broker.start()
        _await(lambda: all(is_open(broker.port) for broker in self.all) or None, "a broker does not listen")
        _await(lambda: len(self.admin.list_topics(timeout=5).brokers) == len(self.all) or None, "a broker is missing")
        self.await_in_sync()

    def await_in_sync(self) -> None:
        """Wait until every partition has a leader and all its replicas in sync."""
        _await(lambda: not self._behind() or None, "partitions are under-replicated")

    def _behind(self) -> list[str]:
        topics = self.admin.list_topics(timeout=5).topics.values()
        partitions = ((topic.topic, part) for topic in topics for part in topic.partitions.values())
        return [name for name, part in partitions if part.leader < 0 or len(part.isrs) < len(part.replicas)]

    def leaders(self, topic: str) -> dict[int, int]:
        """Return the leader of each partition of a topic."""
        (future,) = self.admin.describe_topics(TopicCollection([topic])).values()
        return {part.id: -1 if part.leader is None else part.leader.id for part in future.result().partitions}

    def transaction_coordinator(self, transactional_id: str) -> Broker:
        """Return the broker that coordinates the transactions of an id."""
        leaders = self.leaders("__transaction_state")
        return self._numbered(leaders[_java_hash(transactional_id) % len(leaders)])

    def group_coordinator(self, group: str) -> Broker:
        """Return the broker that keeps the offsets of a consumer group."""
        leaders = self.leaders("__consumer_offsets")
        return self._numbered(leaders[_java_hash(group) % len(leaders)])

    def _numbered(self, number: int) -> Broker:
        return next(broker for broker in self.all if broker.number == number)

    def elect_preferred(self) -> int:
        """Give each partition back to its first replica → how many changed leaders."""
        moved = 0
        for error in self.admin.elect_leaders(ElectionType.PREFERRED, None).result().values():
            moved += error is None
            if error is not None and error.code() != KafkaError.ELECTION_NOT_NEEDED:
                raise KafkaException(error)
        return moved

    def reassign(self, topics: Iterable[str]) -> None:
        """Take each partition from its preferred leader, and make that broker its last replica."""
        source = Path(__file__).with_name("Reassign.java")
        command = [str(find_java()), *_HEAP, "-cp", f"{kafka_jars(print)}/*", str(source), self.bootstrap, *topics]
        subprocess.run(command, check=True, timeout=_SECONDS)

    def _format(self, broker: Broker, cluster: str) -> list[str]:
        broker.folder.mkdir(parents=True)
        voters = ",".join(f"{one.number}@127.0.0.1:{one.controller}" for one in self.all)
        values = {"number": broker.number, "voters": voters, "port": broker.port, "controller": broker.controller}
        broker.properties.write_text(_SERVER.format(data=broker.folder / "data", **values))
        (broker.folder / "log4j2.properties").write_text(_LOGGING)
        tool = ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(broker.properties)]
        return [*_java(broker.folder), *_HEAP, *tool]


def _java(folder: Path) -> list[str]:
    logging = f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}"
    return [str(find_java()), logging, "-Djava.awt.headless=true", "-cp", f"{kafka_jars(print)}/*"]


def _java_hash(text: str) -> int:
    """Return what Kafka takes the partition of a transactional id or group by: Java's hash, without its sign."""
    found = 0
    for character in text:
        found = (31 * found + ord(character)) & 0xFFFFFFFF
    signed = found - (1 << 32) if found >> 31 else found
    return 0 if signed == -(1 << 31) else abs(signed)


def _free_ports(count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        port = secrets.choice(_PORTS)
        if port not in found and is_free(port):
            found.append(port)
    return found


def _await(look: Callable[[], Found | None], what: str) -> Found:
    end = time.monotonic() + _SECONDS
    while True:
        try:
            found = look()
        except KafkaException:
            found = None
        if found is not None:
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"After {_SECONDS:.0f} s: {what}")
        time.sleep(0.2)

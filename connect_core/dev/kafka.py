"""A single-node Kafka (KRaft) with replication factors of one."""

from __future__ import annotations

import base64
import shlex
import subprocess
import uuid
from pathlib import Path
from types import MappingProxyType

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from connect_core.dev.home import Home
from connect_core.dev.jars import kafka_jars
from connect_core.dev.java import find_java
from connect_core.dev.kafka_session import end_old_session
from connect_core.dev.ports import is_open, port_of
from connect_core.dev.service import Environment, Launch, Service
from connect_core.errors import ConnectError

__all__ = ["KAFKA"]

_HEAP = "-Xms256m -Xmx1g"
_JVM = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=50",
    "-Djava.awt.headless=true",
    # Higher thresholds for C2, so that only code that stays hot is optimised: a quarter less CPU time at start.
    "-XX:Tier4InvocationThreshold=50000",
    "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000",
    "-XX:Tier4BackEdgeThreshold=400000",
)
_SERVER = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://{bind}:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{advertised}
log.dirs={data}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=10
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=10
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=2
group.initial.rebalance.delay.ms=0
log.segment.delete.delay.ms=1000
broker.heartbeat.interval.ms=1000
broker.session.timeout.ms=4000
"""
_LOGGING = """\
# A connector that tails this log would otherwise write the line it reads next.
logger.transactions.name = kafka.coordinator.transaction
logger.transactions.level = WARN
# These write every few minutes, whatever happens: such a connector would never be idle.
logger.controller.name = org.apache.kafka.controller.EventPerformanceMonitor
logger.controller.level = WARN
logger.periodic.name = org.apache.kafka.controller.PeriodicTaskControlManager
logger.periodic.level = WARN
rootLogger.level = INFO
rootLogger.appenderRef.file.ref = file
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {folder}/server.log
appender.file.filePattern = {folder}/server.log.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = [%d] %p %m (%c)%n
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 50MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 2
"""


def _launch(home: Home, environment: Environment) -> Launch:
    java, folder = find_java(), home.folder("kafka")
    jars = kafka_jars(print)
    data = folder / "data"
    properties = folder / "server.properties"
    ports = {"port": port_of(home, "kafka"), "controller": port_of(home, "kafka", "controller_port")}
    # The port that clients are directed to after the first connection, such as that of a proxy.
    ports["advertised"] = int(environment.get("CONNECT_KAFKA_ADVERTISED_PORT") or ports["port"])
    properties.write_text(_SERVER.format(bind=environment.get("CONNECT_BIND", "127.0.0.1"), data=data, **ports))
    (folder / "log4j2.properties").write_text(_LOGGING.format(folder=home.data / "broker"))
    heap = shlex.split(environment.get("KAFKA_HEAP_OPTS", _HEAP))
    start = (str(java), *_JVM, f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}", "-cp", f"{jars}/*")
    if (data / "meta.properties").exists():
        end_old_session((str(java), *_JVM), jars, folder, ports["controller"])
    else:
        _format(start, properties)
    return Launch((*start[:1], *heap, *start[1:], "kafka.Kafka", str(properties)), environment)


def _format(start: tuple[str, ...], properties: Path) -> None:
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A", 1)
    command = [*start, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ConnectError(f"Kafka's storage could not be formatted: {(done.stderr or done.stdout).strip()[-500:]}")


def _exports(home: Home) -> Environment:
    return {"CONNECT_BOOTSTRAP_SERVERS": f"127.0.0.1:{port_of(home, 'kafka')}"}


def _is_healthy(home: Home, environment: Environment) -> bool:
    if not is_open(port_of(home, "kafka")):
        return False
    client = AdminClient({"bootstrap.servers": environment["CONNECT_BOOTSTRAP_SERVERS"], "log_level": 0})
    try:
        return bool(client.list_topics(timeout=3).brokers)
    except KafkaException:
        return False


KAFKA = Service(
    name="kafka",
    launch=_launch,
    is_healthy=_is_healthy,
    exports=_exports,
    ports=MappingProxyType({"port": 9092, "controller_port": 9093}),
    # In the folder that connectors may read: an example follows this log.
    log="../data/broker/server.log",
    stop_seconds=15.0,
)

"""A broker that wants SASL over TLS and checks rights: one user each for worker, producers and consumers."""

from __future__ import annotations

import base64
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from connect_core.dev.jars import kafka_jars
from connect_core.dev.java import find_java
from tests.integration.ports import free_port

USERS = ("worker", "producer", "consumer")
_SERVER = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=SECURED://127.0.0.1:{port},INTERNAL://127.0.0.1:{internal},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=SECURED://127.0.0.1:{port},INTERNAL://127.0.0.1:{internal}
listener.security.protocol.map=SECURED:SASL_SSL,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=INTERNAL
log.dirs={folder}/data
listener.name.secured.sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.secured.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.secured.ssl.keystore.type=PEM
listener.name.secured.ssl.keystore.location={folder}/broker.pem
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
group.initial.rebalance.delay.ms=0
"""


@dataclass(frozen=True, slots=True)
class SecuredBroker:
    """``bootstrap`` is what connectors use, ``internal`` a door without a login for the test itself."""

    bootstrap: str
    internal: str
    certificate: Path

    def login(self, user: str, prefix: str = "") -> dict[str, str]:
        """Return the client settings of a user, under a prefix."""
        module = "org.apache.kafka.common.security.scram.ScramLoginModule"
        settings = {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.jaas.config": f'{module} required username="{user}" password="{user}-password";',
            "ssl.truststore.location": str(self.certificate),
            "ssl.truststore.type": "PEM",
        }
        return {prefix + key: value for key, value in settings.items()}

    def allow(self, *bindings: AclBinding) -> None:
        """Give rights."""
        admin = self.admin()
        for future in admin.create_acls(list(bindings)).values():
            future.result(30)

    def revoke(self, *bindings: AclBinding) -> None:
        """Take rights away."""
        filters = [
            AclBindingFilter(
                one.restype, one.name, one.resource_pattern_type, one.principal, one.host, one.operation,
                one.permission_type,
            )
            for one in bindings
        ]  # fmt: skip
        admin = self.admin()
        for future in admin.delete_acls(filters).values():
            future.result(30)

    def admin(self) -> AdminClient:
        """Return a client with every right; what it was asked ends with it, so it is to be kept meanwhile."""
        return AdminClient({"bootstrap.servers": self.internal, "log_level": 0})


def right(user: str, kind: ResourceType, operation: AclOperation, name: str = "*") -> AclBinding:
    """Return a right of a user on one thing, or on all of a kind."""
    return AclBinding(kind, name, ResourcePatternType.LITERAL, f"User:{user}", "*", operation, AclPermissionType.ALLOW)


def rights() -> list[AclBinding]:
    """Return what each user needs and no more: the worker its topics, producers to write, consumers to read."""
    topic, group, transaction = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
    return [
        right("worker", ResourceType.BROKER, AclOperation.ALL, "kafka-cluster"),
        right("worker", topic, AclOperation.ALL),
        right("worker", group, AclOperation.ALL),
        right("producer", topic, AclOperation.WRITE),
        right("producer", topic, AclOperation.DESCRIBE),
        right("producer", transaction, AclOperation.ALL),
        right("consumer", topic, AclOperation.READ),
        right("consumer", topic, AclOperation.DESCRIBE),
        right("consumer", group, AclOperation.READ),
    ]


@contextmanager
def secured_broker(folder: Path) -> Iterator[SecuredBroker]:
    """Run the broker until the block ends."""
    certificate = _certificate(folder)
    ports = {"port": free_port(), "internal": free_port(), "controller": free_port()}
    properties = folder / "server.properties"
    properties.write_text(_SERVER.format(folder=folder, **ports))
    java = [
        str(find_java()),
        "-Xmx512m",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-cp",
        f"{kafka_jars(lambda line: None)}/*",
    ]
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
    command = [*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    with (folder / "broker.log").open("w") as log:
        process = subprocess.Popen([*java, "kafka.Kafka", str(properties)], stdout=log, stderr=subprocess.STDOUT)
    try:
        address = "127.0.0.1:{}"
        broker = SecuredBroker(address.format(ports["port"]), address.format(ports["internal"]), certificate)
        _await(broker.admin())
        _create_users(broker.admin())
        broker.allow(*rights())
        yield broker
    finally:
        process.terminate()
        process.wait(60)


def _certificate(folder: Path) -> Path:
    """Make a key and a certificate of its own for 127.0.0.1 → the certificate, for clients to trust."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    (folder / "broker.pem").write_text(key.read_text() + certificate.read_text())
    return certificate


def _create_users(admin: AdminClient) -> None:
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    wanted = [UserScramCredentialUpsertion(user, info, f"{user}-password".encode()) for user in USERS]
    for future in admin.alter_user_scram_credentials(wanted).values():
        future.result(30)


def _await(admin: AdminClient) -> None:
    end = time.monotonic() + 120
    while True:
        try:
            if admin.list_topics(timeout=5).brokers:
                return
        except KafkaException:
            if time.monotonic() > end:
                raise

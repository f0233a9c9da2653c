"""Whether Apache Iceberg's sink has written data files in its cluster that are not in its tables yet.

Its tasks commit their offsets as soon as their files are written, and announce these in a control topic. Later one of
the tasks, the coordinator, appends them to the tables and commits its own position in that topic. If the sink is
stopped in between, as after a commit that failed, its offsets are ahead of its tables: whoever starts at them never
writes the records of those files. Apache Iceberg: ``Worker.receive``, ``Coordinator.doCommit``, ``AvroEncoderUtil``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO
from typing import Any

from connect_core.api.libraries import library
from connect_core.api.records import TopicPartition
from connect_core.errors import ConnectError
from connect_core.herder.context import Herder
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.committed_messages import CommittedMessages
from connect_core.kafka.groups import group_offsets
from connect_core.kafka.partition_ends import high_watermarks
from connect_core.kafka.topics import topic_partitions

__all__ = ["has_uncommitted_files"]

_CLASSES = frozenset(("org.apache.iceberg.connect.IcebergSinkConnector", "IcebergSinkConnector", "IcebergSink"))
"""As ``connector.class`` may name it."""
_TOPIC, _GROUP = "iceberg.control.topic", "iceberg.connect.group-id"
_MAGIC = b"\xc2\x01"
_DATA_WRITTEN = 1
_MALFORMED = (ValueError, EOFError, LookupError, TypeError, OverflowError)
"""What fastavro raises for bytes that are not as they were written."""
_SECONDS = 90.0
"""Longer than brokers let a transaction of a killed task be open (``transaction.timeout.ms``, 60 s in Java)."""


def has_uncommitted_files(herder: Herder, name: str, config: Mapping[str, str]) -> bool:
    """Return whether a sink with the configuration it has there announced files that its coordinator did not commit.

    False for other classes of connectors. Raise ConnectError if the control topic cannot be read.
    """
    if config.get("connector.class", "").strip() not in _CLASSES:
        return False
    named = {key: config[key] for key in (_TOPIC, _GROUP) if key in config}
    resolved = herder.providers.resolve(named, name)
    topic = resolved.get(_TOPIC) or "control-iceberg"
    group = resolved.get(_GROUP) or f"connect-{name}"
    # Not the connector's own login, which need not be permitted to read this topic.
    clients = KafkaClients(herder.worker.resolved)
    for message in _not_committed(clients, topic, f"{group}-coord"):
        if _is_announcement(
            message.value() or b"", group, f"{topic}-{message.partition()} at offset {message.offset()}"
        ):
            return True
    return False


def _not_committed(clients: KafkaClients, topic: str, coordinator: str) -> CommittedMessages | tuple[()]:
    """Return the messages behind the position that a coordinator's group has committed, by now."""
    admin, servers = clients.admin(), clients.bootstrap_servers
    found = topic_partitions(admin, [topic], servers).get(topic)
    if found is None:
        return ()
    partitions = [TopicPartition(topic, number) for number in range(found[1])]
    ends = high_watermarks(admin, partitions, servers)
    committed = group_offsets(clients, coordinator, partitions)
    return CommittedMessages(
        clients,
        topic,
        {one.partition: committed.get(one, 0) for one in partitions},
        {one.partition: end for one, end in ends.items()},
        _SECONDS,
    )


def _is_announcement(value: bytes, group: str, place: str) -> bool:
    """Whether a message of the control topic names data files of a connector, by its consumer group."""
    try:
        event = _decoded(value)
        return bool(event["type"] == _DATA_WRITTEN and event["group_id"] == group)
    except _MALFORMED as error:
        raise ConnectError(
            f"The message in {place} is not an event of Apache Iceberg's sink: is its topic the control topic of the "
            "connector (iceberg.control.topic)?"
        ) from error


def _decoded(value: bytes) -> dict[str, Any]:
    """Decode an event: two bytes, its Avro schema as text with a length of two bytes, then the record.

    Without its payload.
    """
    if not value.startswith(_MAGIC):
        raise ValueError("it does not start with C2 01")
    length = int.from_bytes(value[2:4], "big")
    schema = _schema(value[4 : 4 + length])
    decoded: dict[str, Any] = library("fastavro", "iceberg").schemaless_reader(BytesIO(value[4 + length :]), schema)
    return decoded


@lru_cache(maxsize=64)
def _schema(text: bytes) -> Any:
    """Return the schema without the payload, which comes last and has types of Iceberg's own."""
    avro = library("fastavro.schema", "iceberg")
    try:
        record = json.loads(text)
        names = [one["name"] for one in record["fields"]]
        return avro.parse_schema({**record, "fields": record["fields"][: names.index("group_id") + 1]})
    except avro.SchemaParseException as error:
        raise ValueError("its schema is not Avro's") from error

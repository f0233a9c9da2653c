"""The connector's control producer, and the fence around its tasks' producers (design §3)."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from confluent_kafka import KafkaException

from connect_core.api.offsets import parse
from connect_core.kafka.clients import KafkaClients, destroy, init_transactions
from connect_core.kafka.failures import code_of, to_connect_error
from connect_core.kafka.ids import control_id, transactional_id
from connect_core.kafka.marker_records import Marker, MarkerRecord, MarkerStamp, encode_epoch
from connect_core.kafka.markers import MarkerView, OffsetsTopic, newer_epoch
from connect_core.kafka.writer import OffsetsTarget, TransactionalWriter

__all__ = ["fence_producers", "write_epoch"]

_THREADS = 16
_INIT_SECONDS = 60.0


def write_epoch(
    topic: OffsetsTopic,
    deployment: str,
    connector: str,
    epoch: int,
    offsets: Mapping[str, Mapping[str, Any] | None] | None = None,
) -> None:
    """Write the epoch record, and altered offsets with it, in one transaction.

    ``offsets`` by canonical partition; ``None`` forgets one. Order: init, read
    to the high watermark, then the record. Raise StaleEpochError if an epoch ≥
    mine stands there, UnclearOutcomeError if only the topic knows.
    """
    stamp = MarkerStamp(epoch=epoch)
    target = OffsetsTarget(topic.name, connector, stamp)
    with TransactionalWriter(topic.clients, control_id(deployment, connector), target) as writer:
        writer.init()
        view = topic.read(connector)
        if view.epoch >= epoch:
            raise newer_epoch(view, epoch)
        altered = [record for key, offset in (offsets or {}).items() for record in _altered(view, key, offset, stamp)]
        writer.produce_records(topic.name, [encode_epoch(connector, stamp), *altered])
        writer.commit(())


def _altered(
    view: MarkerView, partition: str, offset: Mapping[str, Any] | None, stamp: MarkerStamp
) -> list[MarkerRecord]:
    """Return one record for each spelling of the partition: an old one must not outlive a new one."""
    record = Marker(view.connector, parse(partition), offset, stamp).encode()
    keys = view.spellings.get(partition, {record.key})
    return [replace(record, key=key) for key in sorted(keys)]


def fence_producers(clients: KafkaClients, deployment: str, connector: str, tasks: int) -> None:
    """Run ``init_transactions`` for the ids of tasks 0…``tasks``-1, several at a time.

    Afterwards no older producer of these ids can commit, and none has a
    transaction open. Raise RetriableError if the brokers do not answer.
    """
    ids = [transactional_id(deployment, connector, task) for task in range(tasks)]
    if ids:
        with ThreadPoolExecutor(min(_THREADS, len(ids)), "fence") as threads:
            list(threads.map(lambda identity: _fence(clients, identity), ids))


def _fence(clients: KafkaClients, identity: str) -> None:
    producer = clients.producer({"transactional.id": identity})
    try:
        init_transactions(producer, _INIT_SECONDS)
    except KafkaException as failure:
        raise to_connect_error(code_of(failure), f"Fencing {identity}", clients.bootstrap_servers) from failure
    finally:
        destroy(producer)

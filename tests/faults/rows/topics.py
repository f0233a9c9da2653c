"""What happens to topics behind a sink's back: poison, retention, recreation, open transactions, new partitions."""

from __future__ import annotations

import json
import time
from collections import Counter

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from tests.faults.exports import Export
from tests.faults.history import Findings
from tests.faults.rows.row import Row
from tests.faults.world import World


def _export(world: World, row: int) -> Export:
    return Export(world, f"row-{row}-{world.random.getrandbits(24):06x}")


def poison(world: World) -> Findings:
    """Values that are no JSON go to the dead letter topic, once each; the others are exported."""
    export = _export(world, 27)
    letters = world.topics.create(1)
    export.begin(
        errors__tolerance="all",
        errors__deadletterqueue__topic__name=letters,
        errors__deadletterqueue__topic__replication__factor="1",
    )
    poisoned = [b"\x80\x00", b"{", b"nonsense", b'{"n": '] * 10
    export.write(0, 1000)
    world.topics.write(export.topic, poisoned, 2)
    export.write(1000, 1000)
    world.drive(export.name)
    export.await_files(2000)
    dead = world.topics.read(letters, len(poisoned), 30)
    wrong = [] if Counter(dead) == Counter(poisoned) else [f"I13: {len(dead)} dead letters of {len(poisoned)}"]
    return export.found(set(range(2000)), len(poisoned), *wrong)


def retention(world: World) -> Findings:
    """Retention removes what was not read: an error that names it; skipped only where the policy says so."""
    export = _export(world, 32)
    export.begin(1)
    export.write(0, 2000, 1)
    world.drive(export.name)
    export.await_files(2000)
    world.end_drivers()
    export.write(2000, 2000, 1)
    admin = AdminClient({"bootstrap.servers": world.topics.bootstrap})
    for future in admin.delete_records([TopicPartition(export.topic, 0, 3000)]).values():
        future.result()
    world.drive(export.name)
    failure = export.await_failure("were removed before they were read")
    wrong = [] if "2000 to 2999" in failure else [f"I14: the removed offsets are not named: {failure[:200]}"]
    export.reconfigure(interval__data__loss="skip")
    return export.found({*range(2000), *range(3000, 4000)}, 1, *wrong)


def recreated(world: World) -> Findings:
    """A topic deleted and created again is another topic: an error; read from its start where the policy says so."""
    export = _export(world, 33)
    export.begin(1)
    export.write(0, 1500, 1)
    world.drive(export.name)
    export.await_files(1500)
    world.end_drivers()
    admin = AdminClient({"bootstrap.servers": world.topics.bootstrap})
    admin.delete_topics([export.topic])[export.topic].result()
    _await_gone(admin, export.topic)
    world.topics.create(1, export.topic)
    export.write(1500, 1500, 1)
    world.drive(export.name)
    export.await_failure("was deleted and created again")
    export.reconfigure(interval__data__loss="skip")
    return export.found(set(range(3000)), 1)


def _await_gone(admin: AdminClient, topic: str) -> None:
    end = time.monotonic() + 30
    while topic in admin.list_topics(timeout=10).topics and time.monotonic() < end:
        time.sleep(0.2)
    time.sleep(1)


def open_transaction(world: World) -> Findings:
    """A foreign transaction left open holds reading back at the last stable offset; aborted, it is left out."""
    export = _export(world, 34)
    export.begin(1)
    export.write(0, 1000, 1)
    servers = {"bootstrap.servers": world.topics.bootstrap}
    foreign = Producer({**servers, "transactional.id": export.name, "transaction.timeout.ms": 900_000})
    foreign.init_transactions(30)
    foreign.begin_transaction()
    for number in range(100_000, 100_100):
        foreign.produce(export.topic, json.dumps({"n": number}).encode(), partition=0)
    foreign.flush(30)
    export.write(1000, 1000, 1)
    world.drive(export.name)
    early = export.await_files(1000)
    time.sleep(5)
    wrong = (
        [] if sorted(export.rows()) == sorted(early) == list(range(1000)) else ["read beyond the last stable offset"]
    )
    foreign.abort_transaction(30)
    return export.found(set(range(2000)), 1, *wrong)


def more_partitions(world: World) -> Findings:
    """Partitions added while the sink runs are read from their first record."""
    export = _export(world, 33)
    export.begin(1)
    export.write(0, 1000, 1)
    world.drive(export.name)
    export.await_files(1000)
    admin = AdminClient({"bootstrap.servers": world.topics.bootstrap})
    admin.create_partitions([NewPartitions(export.topic, 4)])[export.topic].result()
    export.write(1000, 2000, 4)
    return export.found(set(range(3000)), 1)


ROWS: tuple[Row, ...] = (
    Row(27, "poison records", poison),
    Row(32, "retention removed what was planned", retention),
    Row(33, "topic recreated", recreated),
    Row(33, "partitions added", more_partitions),
    Row(34, "foreign open transaction", open_transaction),
)

"""Records in Kafka which metadata database a ``group.id`` belongs to.

Two databases with one ``group.id`` on the same brokers share the names of all transactional ids and consumer groups:
their connectors would fence each other and read each other's offsets. A record of the offsets topic names the owner;
its key is a list of three, which both Connect's reader and ours skip.
"""

from __future__ import annotations

import json
import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from connect_core.errors import RetriableError, StaleEpochError
from connect_core.kafka.ids import control_id
from connect_core.kafka.marker_records import MarkerRecord, MarkerStamp
from connect_core.kafka.markers import OffsetsTopic
from connect_core.kafka.transactional_writer import OffsetsTarget, TransactionalWriter

__all__ = ["GroupClaim", "claim_group"]

_KIND = "connect-core.deployment"
_NOBODY = ""
"""The connector name of the producer: no connector has this name."""
_SECONDS, _LONGEST_WAIT_SECONDS = 15.0, 2.0


@dataclass(frozen=True, slots=True)
class GroupClaim:
    """The database that owns a ``group.id``, and since when (ISO 8601, UTC)."""

    database: str
    since: str


def claim_group(topic: OffsetsTopic, group: str, database: str, replaced: str = "") -> GroupClaim:
    """Claim a ``group.id`` for a database, unless another one has claimed it → the valid claim.

    ``replaced``: the database whose claim is taken over. Two concurrent claims are serialised: a new producer fences
    the earlier one, which looks again. Raise RetriableError, NotFoundError without the topic.
    """
    end = time.monotonic() + _SECONDS
    while True:
        try:
            return _claim(topic, group, database, replaced)
        except (StaleEpochError, RetriableError):
            if time.monotonic() > end:
                raise
            # Drivers that start together would fence each other again and again if they all waited as long.
            time.sleep(random.uniform(0, _LONGEST_WAIT_SECONDS))


def _claim(topic: OffsetsTopic, group: str, database: str, replaced: str) -> GroupClaim:
    key = json.dumps([group, None, _KIND], separators=(",", ":")).encode()
    existing = _read(topic, key)
    if existing is not None and existing.database != replaced:
        return existing
    target = OffsetsTarget(topic.name, _NOBODY, MarkerStamp())
    with TransactionalWriter(topic.clients, control_id(group, _NOBODY), target) as writer:
        writer.init()
        existing = _read(topic, key)
        if existing is not None and existing.database != replaced:
            return existing
        mine = GroupClaim(database, datetime.now(UTC).isoformat(timespec="seconds"))
        value = json.dumps({"database": mine.database, "since": mine.since}).encode()
        writer.produce_records(topic.name, [MarkerRecord(key, value, [])])
        writer.commit(())
    return mine


def _read(topic: OffsetsTopic, key: bytes) -> GroupClaim | None:
    value = topic.value_of(key)
    if value is None:
        return None
    content = json.loads(value)
    return GroupClaim(str(content.get("database", "")), str(content.get("since", "")))

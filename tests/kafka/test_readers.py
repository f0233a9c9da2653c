"""Which topics a reader compares with the planned ones, without a broker."""

from __future__ import annotations

from typing import Any

import pytest

from connect_core.api.records import TopicPartition
from connect_core.api.sink import PartitionRange
from connect_core.errors import DataLossError
from connect_core.kafka import reader
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.reader import BoundedReader

CLIENTS = KafkaClients({"bootstrap.servers": "127.0.0.1:1"})
READ, EMPTY = PartitionRange("read", 0, 0, 9, "id-read"), PartitionRange("empty", 0, 7, 7, "id-empty")


@pytest.fixture
def existing(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The ids of the topics that exist; both, until a test deletes one."""
    found = {"read": "id-read", "empty": "id-empty"}

    def topic_ids(admin: Any, names: Any, *more: Any) -> dict[str, str]:
        return {name: found[name] for name in names if name in found}

    monkeypatch.setattr(reader, "topic_ids", topic_ids)
    return found


def test_topic_without_records_to_read_may_be_gone(existing: dict[str, str]) -> None:
    """A plan leaves such a range where a topic was deleted, or created again, and what is lost is skipped."""
    del existing["empty"]
    with BoundedReader(CLIENTS, [READ, EMPTY]) as read:
        read.verify_topics()


@pytest.mark.parametrize("topic", ["read", "empty"])
def test_topic_that_is_read_is_compared_also_after_a_seek(existing: dict[str, str], topic: str) -> None:
    del existing[topic]
    with BoundedReader(CLIENTS, [READ, EMPTY]) as read:
        read.seek(TopicPartition("empty", 0), 3)
        with pytest.raises(DataLossError, match=f"Topic {topic} was deleted"):
            read.verify_topics()

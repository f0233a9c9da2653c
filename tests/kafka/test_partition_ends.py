"""Offsets of partitions whose leaders change meanwhile, or whose broker stands still."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any

import pytest
from confluent_kafka import OFFSET_INVALID, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ListOffsetsResultInfo, OffsetSpec

from connect_core.api import TopicPartition
from connect_core.errors import ConnectError, RetriableError
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.partition_ends import (
    QUICK_SECONDS,
    QUICK_TRIES,
    LeaderChangingError,
    list_places,
    partition_ends,
)
from tests.kafka.cluster import Cluster
from tests.kafka.proxy import BrokerProxy


class Admin:
    """Refuses so many calls; a real broker does so for moments only, which no test can time."""

    def __init__(self, code: int, times: int) -> None:
        self.code, self.left = code, times

    def list_offsets(self, asked: Any, **_: Any) -> dict[Any, Future[ListOffsetsResultInfo]]:
        future: Future[ListOffsetsResultInfo] = Future()
        self.left -= 1
        if self.left >= 0:
            future.set_exception(KafkaException(KafkaError(self.code)))
        else:
            future.set_result(ListOffsetsResultInfo(7, -1, 0))
        return dict.fromkeys(asked, future)


@pytest.mark.parametrize(
    "code",
    [
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    ],
)
def test_a_change_of_leaders_is_waited_for(code: int) -> None:
    key = TopicPartition("t", 0)
    found = list_places(Admin(code, 2), [key], OffsetSpec.latest(), "b")
    assert found[key].offset == 7


def test_a_refusal_is_not_waited_for() -> None:
    admin = Admin(KafkaError.TOPIC_AUTHORIZATION_FAILED, 99)
    with pytest.raises(ConnectError) as refused:
        list_places(admin, [TopicPartition("t", 0)], OffsetSpec.latest(), "b")
    assert not isinstance(refused.value, LeaderChangingError)
    assert admin.left == 98


class DyingLeader(Admin):
    """Is silent so many calls, each time as long as it is given; then the next leader answers."""

    limits: list[float | None]

    def __init__(self, times: int) -> None:
        self.left, self.limits = times, []

    def list_offsets(self, asked: Any, **options: Any) -> dict[Any, Future[ListOffsetsResultInfo]]:
        future: Future[ListOffsetsResultInfo] = Future()
        self.limits.append(options.get("request_timeout"))
        self.left -= 1
        future.set_result(ListOffsetsResultInfo(OFFSET_INVALID if self.left >= 0 else 7, -1, 0))
        return dict.fromkeys(asked, future)


def test_a_leader_that_died_is_not_waited_for_until_the_clients_own_limit() -> None:
    key, admin = TopicPartition("t", 0), DyingLeader(2)
    assert list_places(admin, [key], OffsetSpec.latest(), "b")[key].offset == 7
    assert admin.limits == [QUICK_SECONDS] * 3
    slow = DyingLeader(QUICK_TRIES)
    assert list_places(slow, [key], OffsetSpec.latest(), "b")[key].offset == 7
    assert slow.limits == [*[QUICK_SECONDS] * QUICK_TRIES, None]


@pytest.mark.servers
@pytest.mark.parametrize("is_created", [True, False], ids=["recreated", "deleted"])
def test_offsets_are_of_the_topic_whose_id_is_told(cluster: Cluster, is_created: bool) -> None:
    """Offsets are asked for by name: a topic recreated after its id was read would lend the former one its own."""
    topic = cluster.create()
    cluster.produce(topic, [b"v"] * 7)

    class Meanwhile(AdminClient):  # type: ignore[misc]
        is_over = False

        def list_offsets(self, *asked: Any, **more: Any) -> Any:
            found = super().list_offsets(*asked, **more)
            if not self.is_over:
                for answer in found.values():
                    answer.result()
                cluster.delete(topic)
                if is_created:
                    cluster.create(name=topic)
                self.is_over = True
            return found

    admin = Meanwhile({"bootstrap.servers": cluster.bootstrap})
    with pytest.raises(RetriableError, match=topic):
        partition_ends(admin, [topic], cluster.bootstrap)


@pytest.mark.servers
def test_a_broker_that_stands_still_gives_no_offset(
    cluster: Cluster, proxy: BrokerProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = TopicPartition(cluster.create(), 0)
    admin = AdminClient({"bootstrap.servers": proxy.bootstrap, "socket.timeout.ms": 2000})
    assert list_places(admin, [partition], OffsetSpec.latest(), "b")[partition].offset == 0
    proxy.deafen()
    monkeypatch.setattr("connect_core.kafka.partition_ends.QUICK_SECONDS", 0.5)
    with pytest.raises(RetriableError, match="in time"):
        list_places(admin, [partition], OffsetSpec.latest(), "b")


@pytest.mark.servers
def test_first_offset_of_a_time(cluster: Cluster) -> None:
    partition = TopicPartition(cluster.create(), 0)
    now = int(time.time() * 1000)
    for moment in (now - 2000, now - 1000):
        cluster.produce(partition.topic, [b"v"], timestamp=moment)
    admin = KafkaAdmin(cluster.clients())
    found = [admin.first_offsets([partition], millis)[partition] for millis in (0, now - 1999, now - 999)]
    assert found == [0, 1, -1]

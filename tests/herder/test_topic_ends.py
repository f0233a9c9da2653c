"""Ends of topics: what lists, pages and the observer of one process share."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import pytest

from connect_core.api.records import TopicPartition
from connect_core.herder import topic_ends
from connect_core.herder.topic_ends import TopicEnds
from connect_core.interval.values import PartitionEnds

ALL = ("a", "b", "c")


@dataclass
class SlowKafka:
    """Answers after some seconds; ``asked``: the topics of the last question."""

    seconds: float = 0.0
    asked: Collection[str] = ()

    def partition_ends(
        self, topics: Collection[str], regex: str | None = None
    ) -> Mapping[TopicPartition, PartitionEnds]:
        time.sleep(self.seconds)
        self.asked = topics
        return {TopicPartition(topic, 0): PartitionEnds("id", 0, 1, 1) for topic in topics}

    def first_offsets(self, partitions: Collection[TopicPartition], millis: int) -> Mapping[TopicPartition, int]:
        raise NotImplementedError


def names(ends: TopicEnds, topics: Collection[str]) -> set[str]:
    return {part.topic for part in ends.known(topics)}


def eventually(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_page_of_one_connector_hides_no_lag_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = SlowKafka()
    ends = TopicEnds(kafka)
    assert names(ends, ALL) == {*ALL}
    monkeypatch.setattr(topic_ends, "_FRESH_SECONDS", 0.0)
    monkeypatch.setattr(topic_ends, "_PATIENCE_SECONDS", 0.0)
    kafka.asked = ()
    ends.known(["a"])
    eventually(lambda: bool(kafka.asked))
    # Kafka is too slow for a list to wait for it.
    kafka.seconds = 0.2
    assert names(ends, ALL) == {*ALL}


def test_new_topics_are_read_after_the_read_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = SlowKafka(0.1)
    ends = TopicEnds(kafka)
    assert names(ends, ["a"]) == {"a"}
    monkeypatch.setattr(topic_ends, "_FRESH_SECONDS", 0.0)
    ends.known(["a"])
    assert names(ends, ALL) == {*ALL}


def test_topics_that_nobody_asks_for_are_read_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = SlowKafka()
    ends = TopicEnds(kafka)
    ends.known(ALL)
    monkeypatch.setattr(topic_ends, "_FRESH_SECONDS", 0.0)
    monkeypatch.setattr(topic_ends, "_KEPT_SECONDS", 0.0001)
    time.sleep(0.01)
    ends.known(["a"])
    eventually(lambda: set(kafka.asked) == {"a"})

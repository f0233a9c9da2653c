"""Offsets through the herder: read, altered and reset as Connect does, and audited."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.records import TopicPartition
from connect_core.errors import BadRequestError, ConnectError, NotFoundError
from connect_core.herder import lifecycle, offsets
from connect_core.herder.sink_offsets import parse_sink_offsets
from connect_core.store import audit
from tests.herder.harness import SINK, Harness

pytestmark = pytest.mark.slow

LINES = {"filename": "/tmp/a.txt"}


def stopped(harness: Harness, config: dict[str, str] | None = None) -> None:
    harness.create(config=config)
    driver = harness.driver()
    moved: dict[str, Any] = {"source_offsets": {'{"filename":"/tmp/a.txt"}': {"position": 14}}}
    if config:
        moved = {"positions": {TopicPartition("lines", 0): 3}}
    driver.commit(driver.begin(), **moved)
    lifecycle.stop(harness.herder, "a")


def test_source_offsets_are_altered(harness: Harness) -> None:
    stopped(harness)
    entries = [
        {"partition": LINES, "offset": {"position": 4}},
        {"partition": {"filename": "/tmp/z.txt"}, "offset": {"position": 1}},
    ]
    message = offsets.alter(harness.herder, "a", entries)
    assert message == "The offsets for this connector have been altered successfully"
    assert offsets.get(harness.herder, "a") == entries
    offsets.alter(harness.herder, "a", [{"partition": LINES, "offset": None}])
    assert offsets.get(harness.herder, "a") == entries[1:]
    assert [move.cause for move in offsets.list_moves(harness.herder, "a").moves] == ["alter"] * 3 + ["interval"]


def test_sink_offsets_are_altered(harness: Harness) -> None:
    stopped(harness, SINK)
    entry = {"partition": {"kafka_topic": "lines", "kafka_partition": "0"}, "offset": {"kafka_offset": "1"}}
    offsets.alter(harness.herder, "a", [entry])
    assert offsets.get(harness.herder, "a") == [
        {"partition": {"kafka_partition": 0, "kafka_topic": "lines"}, "offset": {"kafka_offset": 1}}
    ]


def test_reset_forgets_all(harness: Harness) -> None:
    stopped(harness)
    for _ in range(2):
        message = offsets.reset(harness.herder, "a")
        assert message == "The offsets for this connector have been reset successfully"
        assert offsets.get(harness.herder, "a") == []


def test_changes_are_audited(harness: Harness) -> None:
    stopped(harness)
    offsets.alter(harness.herder, "a", [{"partition": LINES, "offset": {"position": 4}}])
    with harness.database.read() as connection:
        act = audit.history(connection, "a", limit=1)[0].act
    assert (act.actor, act.action) == ("jo", "alter offsets")
    assert act.before == {"offsets": [{"partition": LINES, "offset": {"position": 14}}]}
    assert act.after == {"offsets": [{"partition": LINES, "offset": {"position": 4}}]}


def test_run_before_is_fenced(harness: Harness) -> None:
    harness.create()
    driver = harness.driver()
    key = driver.begin()
    lifecycle.stop(harness.herder, "a")
    offsets.reset(harness.herder, "a")
    with pytest.raises(ConnectError, match="was replaced by epoch"):
        driver.commit(key, source_offsets={'{"filename":"/tmp/a.txt"}': {"position": 14}})
    assert offsets.get(harness.herder, "a") == []


@pytest.mark.parametrize("act", [lifecycle.resume, lifecycle.pause])
def test_change_needs_a_stopped_connector(harness: Harness, act: Any) -> None:
    harness.create()
    act(harness.herder, "a")
    with pytest.raises(BadRequestError, match=r"^Connectors must be in the STOPPED state"):
        offsets.reset(harness.herder, "a")
    with pytest.raises(BadRequestError, match=r"^Connectors must be in the STOPPED state"):
        offsets.alter(harness.herder, "a", [{"partition": LINES, "offset": {"position": 4}}])


def test_unknown_connector_is_not_found(harness: Harness) -> None:
    for call in (
        lambda: offsets.get(harness.herder, "x"),
        lambda: offsets.reset(harness.herder, "x"),
        lambda: offsets.alter(harness.herder, "x", [{"partition": {"a": 1}, "offset": {"b": 1}}]),
        lambda: offsets.list_moves(harness.herder, "x"),
    ):
        with pytest.raises(NotFoundError, match=r"^Connector x not found$"):
            call()


def test_nothing_to_alter_is_refused_first(harness: Harness) -> None:
    with pytest.raises(BadRequestError, match=r"^Partitions / offsets need to be provided"):
        offsets.alter(harness.herder, "x", [])


def test_connector_may_refuse(harness: Harness) -> None:
    stopped(harness)
    with pytest.raises(ConnectError, match="should contain the key 'filename'"):
        offsets.alter(harness.herder, "a", [{"partition": {"nope": 1}, "offset": {"position": 4}}])
    # Connect answers 500: the connector refuses it, not the API.
    for entry in ({"offset": {"position": 4}}, {"partition": None, "offset": {"position": 4}}):
        with pytest.raises(ConnectError, match=r"^Partition objects cannot be null$") as refused:
            offsets.alter(harness.herder, "a", [entry])
        assert not isinstance(refused.value, BadRequestError)


def test_negative_partition_fails(harness: Harness) -> None:
    stopped(harness, SINK)
    entry = {"partition": {"kafka_topic": "lines", "kafka_partition": -1}, "offset": {"kafka_offset": 1}}
    with pytest.raises(ConnectError, match=r"^Failed to alter consumer group offsets for connector a$"):
        offsets.alter(harness.herder, "a", [entry])


GOOD = {"kafka_topic": "t", "kafka_partition": 0}


@pytest.mark.parametrize(
    ("partition", "offset", "message"),
    [
        (None, None, "cannot be null or missing"),
        ({"topic": "t"}, None, "must contain the keys 'kafka_topic' and 'kafka_partition'"),
        ({**GOOD, "kafka_topic": None}, None, "Kafka topic names must be valid strings"),
        ({**GOOD, "kafka_partition": None}, None, "Kafka partitions must be valid numbers"),
        (
            {**GOOD, "kafka_partition": "x"},
            None,
            "Kafka partition value in the provided offsets: 'x'. Partition values",
        ),
        ({**GOOD, "kafka_partition": 2**31}, None, "'2147483648'"),
        ({**GOOD, "kafka_partition": True}, None, "'true'"),
        (GOOD, {"offset": 1}, "either be null or contain the key 'kafka_offset'"),
        (GOOD, {"kafka_offset": 1.5}, "Kafka offset value in the provided offsets: '1.5'. Offset values"),
        (GOOD, {"kafka_offset": None}, "'null'"),
    ],
)
def test_bad_sink_offset_is_refused(partition: Any, offset: Any, message: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        parse_sink_offsets([{"partition": partition, "offset": offset}])
    assert message in str(refused.value)


@given(st.integers(0, 2**31 - 1), st.none() | st.integers(0, 2**63 - 1), st.booleans())
def test_good_sink_offset_is_read(partition: int, offset: int | None, is_text: bool) -> None:
    shown: Any = str(partition) if is_text else partition
    entry = {
        "partition": {"kafka_topic": "t", "kafka_partition": shown},
        "offset": None if offset is None else {"kafka_offset": str(offset) if is_text else offset},
    }
    assert parse_sink_offsets([entry]) == {TopicPartition("t", partition): offset}

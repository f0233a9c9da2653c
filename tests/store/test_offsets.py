"""Offsets: canonical JSON has one spelling for one meaning; every move is in the history."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connect_core.api.offsets import canonical, parse
from connect_core.api.records import TopicPartition
from connect_core.interval.values import ConnectorType
from connect_core.store import Database, connectors, offsets
from connect_core.store.offsets import Move
from tests.store.harness import Harness

pytestmark = pytest.mark.slow

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
OFFSET = st.dictionaries(TEXT, SCALAR, max_size=4)
EVERY_WORLD = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@given(OFFSET)
def test_canonical_text_comes_back(partition: dict[str, Any]) -> None:
    text = canonical(partition)
    assert parse(text) == partition
    assert canonical(parse(text)) == text


@given(OFFSET, st.randoms())
def test_canonical_text_knows_no_order(partition: dict[str, Any], random: Any) -> None:
    pairs = list(partition.items())
    random.shuffle(pairs)
    assert canonical(dict(pairs)) == canonical(partition)


@given(OFFSET, OFFSET)
def test_canonical_texts_differ_with_meaning(one: dict[str, Any], other: dict[str, Any]) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (canonical(one) == canonical(other)) == same


@EVERY_WORLD
@given(data=st.lists(st.dictionaries(OFFSET.map(canonical), st.none() | OFFSET, max_size=5), max_size=5))
def test_moves_end_where_they_should(database: Database, data: list[dict[str, dict[str, Any] | None]]) -> None:
    harness = Harness(database)
    name = f"c{len(_names(database))}"
    harness.create(name, ConnectorType.SOURCE)
    expected: dict[str, Any] = {}
    with database.write() as connection:
        for number, wanted in enumerate(data):
            before = dict(expected)
            expected = {key: value for key, value in {**expected, **wanted}.items() if value is not None}
            moved = offsets.move(connection, Move(name, ConnectorType.SOURCE, "interval", 1, number), wanted)
            assert offsets.load(connection, name, ConnectorType.SOURCE) == expected
            assert moved == len(
                {key for key in before.keys() | expected.keys() if _text(before, key) != _text(expected, key)}
            )
        replayed: dict[str, Any] = {}
        for line in reversed(offsets.history(connection, name, limit=1000)):
            replayed[canonical(line.partition)] = line.after
    assert {key: value for key, value in replayed.items() if value is not None} == expected


def _text(values: dict[str, Any], key: str) -> str | None:
    return canonical(values[key]) if key in values else None


def _names(database: Database) -> list[str]:
    with database.read() as connection:
        return connectors.list_names(connection)


def test_long_partitions_are_kept(harness: Harness) -> None:
    harness.create("s", ConnectorType.SOURCE)
    wanted = {canonical({"file": "/" + "é" * 5000 + str(number)}): {"p": number} for number in range(150)}
    with harness.database.write() as connection:
        assert offsets.move(connection, Move("s", ConnectorType.SOURCE, "interval", 1), wanted) == 150
        assert offsets.move(connection, Move("s", ConnectorType.SOURCE, "interval", 1), wanted) == 0
        assert offsets.load(connection, "s", ConnectorType.SOURCE) == wanted


def test_nul_in_an_offset_is_kept(harness: Harness) -> None:
    harness.create("s", ConnectorType.SOURCE)
    wanted = {canonical({"k\x00": "a\x00b"}): {"p": "\x00"}}
    with harness.database.write() as connection:
        offsets.move(connection, Move("s", ConnectorType.SOURCE, "interval", 1), wanted)
        assert offsets.load(connection, "s", ConnectorType.SOURCE) == wanted


def test_types_keep_their_offsets_apart(harness: Harness) -> None:
    harness.create("c")
    wanted = offsets.sink_offsets({TopicPartition("t", 0): 5})
    with harness.database.write() as connection:
        offsets.move(connection, Move("c", ConnectorType.SINK, "interval", 1), wanted)
        assert offsets.load(connection, "c", ConnectorType.SOURCE) == {}
        assert offsets.sink_positions(offsets.load(connection, "c", ConnectorType.SINK)) == {TopicPartition("t", 0): 5}


def test_sink_offsets_are_in_connects_form() -> None:
    assert offsets.sink_offsets({TopicPartition("t", 3): 5, TopicPartition("t", 4): None}) == {
        '{"kafka_partition":3,"kafka_topic":"t"}': {"kafka_offset": 5},
        '{"kafka_partition":4,"kafka_topic":"t"}': None,
    }


def test_history_is_paged_newest_first(harness: Harness) -> None:
    harness.create("s", ConnectorType.SOURCE)
    with harness.database.write() as connection:
        for number in range(5):
            reason = Move("s", ConnectorType.SOURCE, "interval", 1, number)
            offsets.move(connection, reason, {'{"a":1}': {"p": number}})
        first = offsets.history(connection, "s", limit=2)
        second = offsets.history(connection, "s", limit=2, before=first[-1].id)
    assert [line.sequence for line in first + second] == [4, 3, 2, 1]

"""Records of the offsets topic: Connect's bytes, our headers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.offsets import canonical
from connect_core.errors import ConnectError
from connect_core.interval.values import TopicPosition
from connect_core.kafka.marker_records import EpochRecord, Marker, MarkerStamp, decode, encode_epoch, key_prefix
from connect_core.kafka.markers import MarkerView

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | NAMES
MAPS = st.dictionaries(NAMES, SCALARS.filter(lambda value: value not in (float("inf"), float("-inf"))), max_size=4)


def test_bytes_are_connects() -> None:
    marker = Marker('a"b', {"z": 1, "a": "é/\n\x1f", "d": 1e10, "n": None, "t": True}, {"position": 10})
    record = marker.encode()
    expected = '["a\\"b",{"z":1,"a":"é/\\n\\u001F","d":1.0E10,"n":null,"t":true}]'
    assert record.key == expected.encode()
    assert record.value == b'{"position":10}'


@given(NAMES, MAPS, MAPS | st.none(), MAPS | st.none())
def test_what_is_written_is_read(connector: str, partition: dict, offset: dict | None, state: dict | None) -> None:  # type: ignore[type-arg]
    marker = Marker(connector, partition, offset, MarkerStamp(3, 1, 4, 1, "5-9"), {"p": 2}, state)
    record = marker.encode()
    assert record.key.startswith(key_prefix(connector))
    assert json.loads(record.key) == [connector, partition]
    assert decode(record.key, record.value, record.headers) == marker


def test_record_of_a_worker_has_no_stamp() -> None:
    found = decode(b'["lines",{"file":"a"}]', b'{"at":1}', [("other", b"x")])
    assert found == Marker("lines", {"file": "a"}, {"at": 1}, MarkerStamp())


def test_epoch_key_has_three_parts() -> None:
    """Connect's reader wants two, and passes over others with a line in its log."""
    record = encode_epoch("lines", MarkerStamp(epoch=7))
    assert json.loads(record.key) == ["lines", None, "connect-core.epoch"]
    assert record.key.startswith(key_prefix("lines"))
    assert decode(record.key, record.value, record.headers) == EpochRecord("lines", 7)


@pytest.mark.parametrize(
    "key", [b"", b"x", b"{}", b"[]", b'["a"]', b'["a",null]', b'["a",1]', b"[1,{}]", b'["a",{},1]']
)
def test_other_keys_are_passed_over(key: bytes) -> None:
    assert decode(key, b"{}", []) is None


@pytest.mark.parametrize("value", [b"1", b"[]", b"nonsense", b'"x"'])
def test_value_that_is_no_map_is_refused(value: bytes) -> None:
    with pytest.raises(ConnectError, match="tombstone"):
        decode(b'["lines",{"file":"a"}]', value, [])


def view_of(*records: tuple[Marker | EpochRecord, int, int]) -> MarkerView:
    view = MarkerView("lines", TopicPosition("offsets", "id"))
    for record, partition, timestamp in records:
        view.add(record, partition, timestamp)
    return view


def marker(at: int, **stamp: Any) -> Marker:
    return Marker("lines", {"b": 1, "a": 2}, {"at": at}, MarkerStamp(**stamp))


def test_later_record_of_one_partition_counts() -> None:
    view = view_of((marker(1, epoch=2), 0, 50), (marker(2, epoch=1), 0, 40))
    assert view.projection().offsets == {canonical({"a": 2, "b": 1}): {"at": 2}}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ((marker(1), 0, 99), (marker(2, epoch=1), 1, 10)),
        ((marker(1, epoch=1, sequence=9), 0, 99), (marker(2, epoch=2), 1, 10)),
        ((marker(1, epoch=1, sequence=3), 0, 99), (marker(2, epoch=1, sequence=4), 1, 10)),
        ((marker(1, epoch=1, sequence=3), 0, 9), (marker(2, epoch=1, sequence=3), 1, 10)),
    ],
)
def test_over_two_partitions_the_newer_counts(older: tuple[Marker, int, int], newer: tuple[Marker, int, int]) -> None:
    for order in ((older, newer), (newer, older)):
        assert [dict(one) for one in view_of(*order).projection().offsets.values() if one] == [{"at": 2}]


def test_epoch_is_the_highest_of_records_and_markers() -> None:
    view = view_of((EpochRecord("lines", 3), 0, 1), (EpochRecord("lines", 2), 0, 2), (marker(1, epoch=5), 0, 3))
    assert view.projection().epoch == 5

"""Markers in the offsets topic against a real broker: up to the high watermark, by whomever they were written."""

from __future__ import annotations

import re
import time
import uuid
from dataclasses import replace

import pytest

from connect_core.errors import ConnectError, DataLossError, NotFoundError, RetriableError, StaleEpochError
from connect_core.interval.values import TopicPosition
from connect_core.kafka.control import ControlProducer, OffsetChanges, write_epoch, write_offsets
from connect_core.kafka.marker_records import Marker, MarkerStamp, encode_epoch
from connect_core.kafka.markers import MarkerView, OffsetsTopic, check_start
from connect_core.kafka.transactional_writer import OffsetsTarget, TransactionalWriter
from tests.kafka.cluster import Cluster, await_that

pytestmark = pytest.mark.servers

A, B = '{"file":"a"}', '{"file":"b"}'


@pytest.fixture
def topic(cluster: Cluster) -> OffsetsTopic:
    """An offsets topic with Connect's 25 partitions."""
    return OffsetsTopic(cluster.clients(), cluster.create(25, cleanup_policy="compact"))


def stamp(epoch: int = 1, sequence: int = 1, task: int = 0, attempt: str = "x") -> MarkerStamp:
    return MarkerStamp(epoch, 0, sequence, task, attempt)


def control_of(topic: OffsetsTopic) -> ControlProducer:
    return ControlProducer(topic, "dep", "lines")


def writer_of(topic: OffsetsTopic, own: MarkerStamp, connector: str = "lines") -> TransactionalWriter:
    target = OffsetsTarget(topic.name, connector, own)
    writer = TransactionalWriter(topic.clients, f"marker-{uuid.uuid4().hex}", target)
    writer.init()
    return writer


def offsets(view: MarkerView) -> dict[str, object]:
    return {key: marker.offset and dict(marker.offset) for key, marker in view.markers.items()}


def test_empty_topic_says_nothing(cluster: Cluster, topic: OffsetsTopic) -> None:
    view = topic.read("lines")
    start = TopicPosition(topic.name, cluster.topic_id(topic.name), dict.fromkeys(range(25), 0))
    assert (view.markers, view.epoch, view.position) == ({}, 0, start)


def test_missing_topic_is_not_found(cluster: Cluster) -> None:
    with pytest.raises(NotFoundError, match="no-such-topic"):
        OffsetsTopic(cluster.clients(), "no-such-topic").read("lines")


def test_last_committed_offset_of_each_partition(topic: OffsetsTopic) -> None:
    with writer_of(topic, stamp()) as writer:
        writer.commit([({"file": f"f{number}"}, {"at": 1}) for number in range(60)])
        writer.commit([({"file": "f7"}, {"at": 2})], {'{"file":"f7"}': {"inode": "9"}})
    view = topic.read("lines")
    assert offsets(view) == {f'{{"file":"f{number}"}}': {"at": 2 if number == 7 else 1} for number in range(60)}
    projection = view.projection()
    assert projection.states == {'{"file":"f7"}': {"inode": "9"}}
    assert view.markers['{"file":"f7"}'].start == {"at": 1}
    assert topic.read("lines", projection.position).markers == {}


def test_records_of_committed_transactions_are_counted_by_interval(topic: OffsetsTopic) -> None:
    with writer_of(topic, stamp(sequence=1)) as writer:
        writer.commit([({"file": "a"}, {"at": 1}), ({"file": "b"}, {"at": 1})], records=7)
        writer.commit([({"file": "a"}, {"at": 2})], records=5)
    with writer_of(topic, stamp(sequence=2)) as writer:
        writer.commit([({"file": "a"}, {"at": 3})], records=2)
        writer.produce_records(topic.name, [])
        writer.abort()
    assert topic.read("lines").projection().moved == {1: 12, 2: 2}


def test_only_what_is_new_since_a_position(topic: OffsetsTopic) -> None:
    with writer_of(topic, stamp()) as writer:
        writer.commit([({"file": "a"}, {"at": 1})])
        position = topic.read("lines").position
        writer.commit([({"file": "b"}, {"at": 2})])
    assert offsets(topic.read("lines", position)) == {B: {"at": 2}}


def test_other_connectors_are_not_seen(topic: OffsetsTopic) -> None:
    for connector in ("lines", "line", 'li"nes', "lines2"):
        with writer_of(topic, stamp(), connector) as writer:
            writer.commit([({"file": connector}, {"at": 1})])
    assert list(offsets(topic.read("lines"))) == ['{"file":"lines"}']
    assert list(offsets(topic.read('li"nes'))) == ['{"file":"li\\"nes"}']


def test_aborted_offsets_are_not_seen(cluster: Cluster, topic: OffsetsTopic) -> None:
    with writer_of(topic, stamp()) as writer:
        writer.produce_records(topic.name, [Marker("lines", {"file": "a"}, {"at": 1}, stamp()).encode()])
        writer._producer.flush(10)
        writer.abort()
    await_that(lambda: cluster.is_settled(topic.name))
    view = topic.read("lines")
    assert view.markers == {}
    assert sum(view.position.ends.values()) == 2


def test_records_of_a_connect_worker_are_adopted(cluster: Cluster, topic: OffsetsTopic) -> None:
    cluster.produce(topic.name, [b'{"position":42}'], key=b'["lines",{"file":"a"}]', partition=3)
    cluster.produce(topic.name, [None], key=b'["lines",{"file":"b"}]', partition=4)
    for odd in (b"\xff", b"[]", b'["lines"]', b'["lines",null]', b'{"lines":1}', b'[1,{"file":"a"}]'):
        cluster.produce(topic.name, [b"{}"], key=odd, partition=5)
    view = topic.read("lines")
    assert offsets(view) == {A: {"position": 42}, B: None}
    assert view.markers[A].stamp == MarkerStamp()


def test_newest_offsets_of_all_connectors_are_found_at_once(cluster: Cluster, topic: OffsetsTopic) -> None:
    for position in (1, 42):
        cluster.produce(topic.name, [b'{"position":%d}' % position], key=b'["lines",{"file":"a"}]', partition=3)
    cluster.produce(topic.name, [b'{"lsn":7}'], key=b'["orders",{"server":"s"}]', partition=4)
    cluster.produce(topic.name, [b'{"lsn":9}', None], key=b'["orders",{"server":"gone"}]', partition=5)
    cluster.produce(topic.name, [b"{}"], key=b"\xff", partition=5)
    found = {name: [(one.partition, one.offset) for one in own] for name, own in topic.newest().items()}
    assert found == {"lines": [({"file": "a"}, {"position": 42})], "orders": [({"server": "s"}, {"lsn": 7})]}


def test_value_that_is_no_map_names_its_place(cluster: Cluster, topic: OffsetsTopic) -> None:
    cluster.produce(topic.name, [b"[1]"], key=b'["lines",{"file":"a"}]', partition=3)
    with pytest.raises(ConnectError, match=f"{topic.name}-3 at offset 0"):
        topic.read("lines")


def test_newer_of_two_spellings_counts(cluster: Cluster, topic: OffsetsTopic) -> None:
    """A worker wrote {b, a} in one partition, we {a, b} in another: ours is newer, though read first."""
    ours = Marker("lines", {"a": 1, "b": 2}, {"at": 2}, stamp()).encode()
    cluster.produce(topic.name, [b'{"at":1}'], key=b'["lines",{"b":2,"a":1}]', partition=9)
    cluster.produce(topic.name, [ours.value], key=ours.key, headers=ours.headers, partition=2)
    view = topic.read("lines")
    assert offsets(view) == {'{"a":1,"b":2}': {"at": 2}}
    assert len(view.spellings['{"a":1,"b":2}']) == 2
    write_epoch(control_of(topic), 5)
    write_offsets(control_of(topic), 5, OffsetChanges({'{"a":1,"b":2}': None}))
    assert offsets(topic.read("lines")) == {'{"a":1,"b":2}': None}
    assert {one.key() for one in cluster.read(topic.name, 25) if one.value() is None} == {
        b'["lines",{"b":2,"a":1}]',
        b'["lines",{"a":1,"b":2}]',
    }


def test_open_transaction_of_another_is_waited_for(topic: OffsetsTopic) -> None:
    with writer_of(topic, stamp()) as mine, writer_of(topic, stamp(task=1)) as other:
        record = Marker("lines", {"file": "b"}, {"at": 1}, stamp(task=1)).encode()
        other.produce_records(topic.name, [record])
        other._producer.flush(10)
        mine.commit([({"file": "a"}, {"at": 1}), ({"file": "b"}, {"at": 7})])
        quick = OffsetsTopic(topic.clients, topic.name, timeout_seconds=0.5)
        with pytest.raises(RetriableError, match=r"task 1 of connector lines \(epoch 1, attempt x\)"):
            quick.read("lines")
        other.abort()
        assert offsets(quick.read("lines")) == {A: {"at": 1}, B: {"at": 7}}


def test_foreign_open_transaction_is_named(cluster: Cluster, topic: OffsetsTopic) -> None:
    quick = OffsetsTopic(topic.clients, topic.name, timeout_seconds=0.3)
    worker = cluster.transaction("of-a-worker", topic.name, [b"{}"], key=b'["jdbc",{"t":1}]')
    with pytest.raises(RetriableError, match="connector jdbc of a Connect worker"):
        quick.read("lines")
    worker.abort_transaction()
    foreign = cluster.transaction("foreign", topic.name, [b"{}"], key=b"?")
    with pytest.raises(RetriableError, match=f"{topic.name}-0 .*not a connector's"):
        quick.read("lines")
    foreign.abort_transaction()


def test_open_epoch_is_named_with_what_ends_it(topic: OffsetsTopic) -> None:
    quick = OffsetsTopic(topic.clients, topic.name, timeout_seconds=0.3)
    with control_of(topic) as control:
        control.init()
        control._writer.produce_records(topic.name, [encode_epoch("lines", stamp(epoch=3))])
        control._writer._producer.flush(10)
        with pytest.raises(RetriableError, match=r"control producer of connector lines \(epoch 3\)") as caught:
            quick.read("lines")
    assert re.search(rf"abort --topic {topic.name} --partition \d+ --start-offset 0`", str(caught.value))


def test_position_beyond_the_end_is_data_loss(topic: OffsetsTopic) -> None:
    beyond = replace(topic.read("lines").position, ends={0: 1})
    with pytest.raises(DataLossError, match="has lost records"):
        topic.read("lines", beyond)


def test_position_in_another_topic_says_nothing_of_this_one(cluster: Cluster, topic: OffsetsTopic) -> None:
    with writer_of(topic, stamp()) as writer:
        writer.commit([({"file": "a"}, {"at": 1})])
    here = topic.read("lines").position
    for position in (replace(here, topic="other"), replace(here, topic_id="of the one deleted")):
        view = topic.read("lines", position)
        assert (offsets(view), view.is_elsewhere) == ({A: {"at": 1}}, True)
        with pytest.raises(StaleEpochError, match="recreated after this attempt"):
            check_start(view, stamp(task=7))
    assert not topic.read("lines", here).is_elsewhere


def test_trimmed_head_is_no_loss(cluster: Cluster) -> None:
    topic = OffsetsTopic(cluster.clients(), cluster.create(cleanup_policy="compact,delete"))
    cluster.produce(topic.name, [b'{"at":1}', b'{"at":2}'], key=b'["lines",{"file":"a"}]')
    cluster.trim(topic.name, 1)
    assert offsets(topic.read("lines", topic.read("other").position.at_start())) == {A: {"at": 2}}


def test_epoch_only_rises(topic: OffsetsTopic) -> None:
    write_epoch(control_of(topic), 3)
    assert topic.read("lines").epoch == 3
    for older in (3, 2):
        with pytest.raises(StaleEpochError) as caught:
            write_epoch(control_of(topic), older)
        assert caught.value.epoch == 3
    write_epoch(control_of(topic), 4)
    write_offsets(control_of(topic), 4, OffsetChanges({A: {"at": 9}, B: None}))
    view = topic.read("lines")
    assert (view.epoch, offsets(view)) == (4, {A: {"at": 9}, B: None})
    assert topic.read("other").epoch == 0


def test_epoch_is_the_highest_seen(cluster: Cluster, topic: OffsetsTopic) -> None:
    for epoch in (7, 5):
        record = encode_epoch("lines", MarkerStamp(epoch=epoch))
        cluster.produce(topic.name, [record.value], key=record.key, headers=record.headers)
    assert topic.read("lines").epoch == 7


def test_start_is_checked_after_init(topic: OffsetsTopic) -> None:
    with writer_of(topic, stamp()) as writer:
        writer.commit([({"file": "a"}, {"at": 1})])
    position = topic.read("lines").position
    check_start(topic.read("lines", position), stamp(attempt="y"))
    with writer_of(topic, stamp(task=1)) as neighbour:
        neighbour.commit([({"file": "b"}, {"at": 1})])
    check_start(topic.read("lines", position), stamp(attempt="y"))
    with writer_of(topic, stamp()) as writer:
        writer.commit([({"file": "a"}, {"at": 2})])
    with pytest.raises(StaleEpochError, match="attempt x"):
        check_start(topic.read("lines", position), stamp(attempt="y"))


def test_start_check_sees_newer_epochs_and_workers(cluster: Cluster, topic: OffsetsTopic) -> None:
    position = topic.read("lines").position
    cluster.produce(topic.name, [b'{"at":1}'], key=b'["lines",{"file":"a"}]')
    with pytest.raises(StaleEpochError, match="unknown"):
        check_start(topic.read("lines", position), stamp(2))
    position = topic.read("lines").position
    write_epoch(control_of(topic), 3)
    with pytest.raises(StaleEpochError, match="Epoch 3") as caught:
        check_start(topic.read("lines", position), stamp(2))
    assert caught.value.epoch == 3


def test_reading_waits_for_nothing(topic: OffsetsTopic) -> None:
    with writer_of(topic, stamp()) as writer:
        writer.commit([({"file": f"f{number}"}, {"at": 1}) for number in range(100)])

    def seconds() -> float:
        began = time.monotonic()
        topic.read("lines")
        return time.monotonic() - began

    # A wait would be in each of them, a busy machine is not.
    assert min(seconds() for _ in range(6)) < 1


@pytest.mark.parametrize("number", ["9223372036854775807", "9007199254740992", '"x"', "null", "[]", "-5"])
def test_forged_epochs_end_no_connector(cluster: Cluster, topic: OffsetsTopic, number: str) -> None:
    """Above them no epoch could be raised: the connector would stand still for ever."""
    cluster.produce(topic.name, [f'{{"epoch":{number}}}'.encode()], key=b'["lines",null,"connect-core.epoch"]')
    text = number.strip('"').encode()
    forged = [(f"connect.{name}", text) for name in ("epoch", "incarnation", "sequence", "task", "records")]
    cluster.produce(topic.name, [b'{"at":1}'], key=b'["lines",{"file":"a"}]', headers=forged)
    view = topic.read("lines")
    assert (view.epoch, offsets(view)) == (0, {A: {"at": 1}})
    write_epoch(control_of(topic), 1)
    assert topic.read("lines").epoch == 1

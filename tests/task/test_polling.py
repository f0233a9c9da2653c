"""Polling: objects that a task reuses from one poll to the next, and which polls run ahead of their consumer."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from connect_core.api.batch import Batch
from connect_core.api.data import INT64_SCHEMA, SchemaBuilder, Struct
from connect_core.api.records import SourceRecord
from connect_core.api.source import RecordMetadata, SourceTask
from connect_core.converters.json import JsonConverter
from connect_core.errors import DataError
from connect_core.task.dead_letters import LettersOf
from connect_core.task.polling import Poller
from connect_core.task.source import TransactionBoundary
from tests.task.equipment import RememberedWriter, source_attempt, tolerance

pytestmark = pytest.mark.slow

ROW = SchemaBuilder.struct().field("id", INT64_SCHEMA).build()
POLLS = 300


class Reusing(SourceTask):
    """Returns one record per poll, made of the same objects each time; ``stop`` clears them."""

    def __init__(self, polls: int = POLLS) -> None:
        self.left = polls
        self.number = 0
        self.row: Any = {}
        self.offset: dict[str, Any] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Need nothing."""

    def poll(self) -> Sequence[SourceRecord] | None:
        if self.number == self.left:
            return None
        self.number += 1
        return self.given()

    def given(self) -> Sequence[SourceRecord]:
        self.row["id"] = self.number
        return [self.record(self.row)]

    def record(self, value: Any) -> SourceRecord:
        self.offset["id"] = self.number
        return SourceRecord("t", value=value, source_partition={"p": 1}, source_offset=self.offset)

    def stop(self) -> None:
        self.row.clear()


class ReusedStruct(Reusing):
    def __init__(self) -> None:
        super().__init__()
        self.row = Struct(ROW)

    def given(self) -> Sequence[SourceRecord]:
        record = self.record(self.row.put("id", self.number))
        record.value_schema = ROW
        return [record]

    def stop(self) -> None:
        """Hold nothing."""


class ReusedArray(Reusing):
    def __init__(self) -> None:
        super().__init__()
        self.row = [0]

    def given(self) -> Sequence[SourceRecord]:
        self.row[0] = self.number
        return [self.record({"id": self.row})]


class ReusedOffset(Reusing):
    def given(self) -> Sequence[SourceRecord]:
        return [self.record({"id": self.number})]


class ReusedRecord(Reusing):
    """Reuses the list that it returns, and the record in it."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[SourceRecord] = []
        self.told: list[Any] = []

    def given(self) -> Sequence[SourceRecord]:
        record = self.records[0] if self.records else self.record(self.row)
        self.row["id"] = self.offset["id"] = self.number
        self.records.clear()
        self.records.append(record)
        return self.records

    def commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        self.told.append(metadata)


class OffsetsBesideRecords(RememberedWriter):
    """Remembers at each commit the last record and the offset."""

    pairs: list[tuple[Any, Any]]

    def commit(self, offsets: Any, states: Any, records: int) -> None:
        super().commit(offsets, states, records)
        self.pairs = [*getattr(self, "pairs", ()), (ids(self)[-1], offsets[0][1]["id"])]


def ids(writer: RememberedWriter) -> list[int]:
    found = [json.loads(value or b"")["id"] for value in writer.committed]
    return [one[0] if isinstance(one, list) else one for one in found]


def as_json() -> JsonConverter:
    made = JsonConverter()
    made.configure({"schemas.enable": "false", "converter.type": "value"}, False)
    return made


@pytest.mark.parametrize("records", [1, 7, 100_000])
@pytest.mark.parametrize("kind", [Reusing, ReusedStruct, ReusedArray, ReusedOffset, ReusedRecord])
def test_objects_may_be_reused_from_one_poll_to_the_next(kind: Callable[[], Reusing], records: int) -> None:
    writer = OffsetsBesideRecords()
    run = source_attempt(kind(), writer, value=as_json(), boundary=TransactionBoundary(records=records))
    run.run()
    assert ids(writer) == list(range(1, POLLS + 1))
    assert [row for row, offset in writer.pairs if row != offset] == []
    assert writer.offsets == {'{"p":1}': {"id": POLLS}}


def test_task_that_reuses_its_list_hears_of_each_record() -> None:
    task = ReusedRecord()
    source_attempt(task, OffsetsBesideRecords(), value=as_json()).run()
    assert [place.offset for place in task.told] == list(range(POLLS))


class Picky(JsonConverter):
    """Converts record by record, those of even numbers only if told so."""

    is_picky = True

    def from_connect_batch(self, topic: Any, data: Any) -> Any:
        return None

    def from_connect_data(self, topic: str | None, schema: Any, value: Any) -> bytes | None:
        if self.is_picky and value["id"] % 2:
            raise DataError(f"{value['id']} is odd")
        return super().from_connect_data(topic, schema, value)


@pytest.mark.parametrize("fails", ["to convert", "to be taken"])
def test_dead_letters_of_reused_objects_hold_the_record_that_failed(fails: str) -> None:
    class Large(Reusing):
        def given(self) -> Sequence[SourceRecord]:
            self.row["pad"] = "x" * 60 if fails == "to be taken" and self.number % 2 else ""
            return super().given()

    converter = Picky()
    converter.is_picky = fails == "to convert"
    converter.configure({"schemas.enable": "false", "converter.type": "value"}, False)
    writer = RememberedWriter(most_bytes=50)
    letters = LettersOf("orders", 0, "dead", False)
    task = Large()
    source_attempt(task, writer, value=converter, guard=tolerance(True), letters=letters).run()
    odd = [json.loads(call[3]) for call in writer.calls if call[0] == "letter"]
    assert [one.get("payload", one)["id"] for one in odd] == list(range(1, POLLS + 1, 2))
    assert ids(writer) == list(range(2, POLLS + 1, 2))


def test_failed_conversion_ends_the_task_before_another_poll() -> None:
    task = Reusing()
    with pytest.raises(DataError, match="1 is odd"):
        source_attempt(task, RememberedWriter(), value=Picky()).run()
    assert task.number == 1


@contextmanager
def polling(task: SourceTask) -> Iterator[Poller]:
    poller = Poller(task)
    poller.start({})
    yield poller
    assert poller.stop(10)


def soon(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def test_poll_is_called_again_only_when_its_records_are_converted() -> None:
    task = Reusing()
    with polling(task) as poller:
        assert poller.next(10) is not None
        assert not soon(lambda: task.number > 1, 0.3)
        poller.proceed()
        assert soon(lambda: task.number == 2)
        assert not soon(lambda: task.number > 2, 0.3)


def test_asking_for_the_next_result_gives_the_last_one_back() -> None:
    with polling(Reusing(2)) as poller:
        assert [poller.next(10) is not None for _ in range(2)] == [True, True]


class Columnar(Reusing):
    """Gives batches; ``poll`` only every third time."""

    mixes = False

    def poll_batch(self) -> Batch | None:
        if self.mixes and self.number % 3 == 2:
            return None
        self.number += 1
        return Batch.from_records([self.record({"id": self.number})])


def test_columns_are_polled_one_ahead() -> None:
    task = Columnar()
    with polling(task) as poller:
        assert soon(lambda: task.number == 2)
        assert poller.next(10) is not None
        assert soon(lambda: task.number == 3)
        assert not soon(lambda: task.number > 3, 0.3)


def test_batches_and_records_may_alternate() -> None:
    class Mixed(Columnar):
        mixes = True

        def poll_batch(self) -> Batch | None:
            return Batch.from_records([]) if self.number == self.left else super().poll_batch()

    writer = OffsetsBesideRecords()
    source_attempt(Mixed(), writer, value=as_json(), boundary=TransactionBoundary(records=1)).run()
    assert ids(writer) == list(range(1, POLLS + 1))
    assert [row for row, offset in writer.pairs if row != offset] == []


def test_what_waits_is_converted_before_the_task_is_stopped() -> None:
    task = Reusing()
    with polling(task) as poller:
        assert soon(lambda: task.number == 1)
        found = []
        for answer in poller.last(10):
            assert answer.batch is not None
            found += [dict(one) for one in answer.batch.value.to_objects().values]
            poller.proceed()
        assert found == [{"id": 1}]
        assert task.number == 1
        assert task.row == {}


def test_stop_ends_a_poller_whose_records_nobody_converts() -> None:
    task = Reusing()
    poller = Poller(task)
    poller.start({})
    assert poller.next(10) is not None
    assert poller.stop(10)
    assert task.number == 1


def test_poll_that_never_returns_leaves_the_end_to_others() -> None:
    released = threading.Event()

    class Deaf(Reusing):
        def poll(self) -> Sequence[SourceRecord] | None:
            if self.number:
                released.wait()
            return super().poll()

    poller = Poller(Deaf())
    poller.start({})
    assert poller.next(10) is not None
    poller.proceed()
    assert list(poller.last(0.2)) == []
    released.set()


@pytest.mark.parametrize("in_columns", [False, True])
@pytest.mark.parametrize("place", ["source_partition", "source_offset"])
def test_offsets_that_cannot_be_read_back_fail_the_task_before_anything_is_sent(place: str, in_columns: bool) -> None:
    class Careless(Reusing):
        def given(self) -> Sequence[SourceRecord]:
            record = self.record({"id": self.number})
            setattr(record, place, {"n": b"x"})
            return [record]

    class CarelessColumns(Careless):
        def poll_batch(self) -> Batch | None:
            batch = Batch.from_records([self.record({"id": 1})])
            assert batch.positions is not None
            bad: Any = {("partitions" if place == "source_partition" else "offset"): ({"n": b"x"},)}
            return replace(batch, positions=replace(batch.positions, **bad))

    writer = RememberedWriter()
    task, method = (CarelessColumns(), "poll_batch") if in_columns else (Careless(), "poll")
    with pytest.raises(DataError, match=rf"\.{method} returned what cannot be committed: 'n' of {place} is b'x'"):
        source_attempt(task, writer, value=as_json(), guard=tolerance(True)).run()
    assert writer.calls == []

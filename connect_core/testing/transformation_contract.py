"""The contracts of transforms and predicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, ClassVar

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.convert import BatchRowError
from connect_core.api.records import ConnectRecord, SinkRecord, SourceRecord
from connect_core.api.transform import Predicate, Transformation
from connect_core.errors import ConnectError, DataError
from connect_core.task.pipeline import columnar
from connect_core.testing.comparing import record_facts, records_facts
from connect_core.testing.plugin_contract import PluginContract
from connect_core.testing.samples import sample_records

__all__ = ["PredicateContract", "TransformationContract"]

_PLACE = {
    SinkRecord: ("original_topic", "original_kafka_partition", "kafka_offset", "timestamp_type"),
    SourceRecord: ("source_partition", "source_offset"),
}


class _RecordContract(PluginContract):
    """The part that transforms and predicates share: their input is records."""

    def records(self) -> Sequence[ConnectRecord]:
        """Return records to try; by default structs, maps, text and nulls of both kinds."""
        return sample_records()

    def test_missing_settings_are_refused(self) -> None:
        """configure({}) raises ConfigError where a setting is required."""
        self.refuses_nothing_given()

    def test_close_frees_a_configured_plugin(self) -> None:
        """close() works right after configure()."""
        self.configured().close()


class TransformationContract(_RecordContract):
    """Tests of a transform: ``class TestMine(TransformationContract): transformation = Mine``.

    Give ``config``, and ``records`` that it can change if the samples are
    not suitable.
    """

    transformation: ClassVar[type[Transformation]]

    def plugin(self) -> type[Any]:
        """Return the class under test."""
        return self.transformation

    def test_apply_changes_some_record(self) -> None:
        """The contract cannot check a transform that refuses every record."""
        transform, records = self.configured(), self.records()
        assert any(not isinstance(_outcome(transform.apply, record), ConnectError) for record in records), (
            "apply() raised for every record: give records() that this transform accepts"
        )

    def test_apply_leaves_its_input_alone(self) -> None:
        """Records must not be mutated: the engine may need them again, for a retry or a dead letter queue."""
        transform = self.configured()
        for record in self.records():
            before = record_facts(record)
            _outcome(transform.apply, record)
            assert record_facts(record) == before, "apply() changed the record it was given: use dataclasses.replace"

    def test_apply_gives_the_same_again(self) -> None:
        """A retried record must have the same result as before, whatever was transformed in between."""
        transform, records = self.configured(), list(self.records())
        first = [_facts(_outcome(transform.apply, record)) for record in records]
        second = [_facts(_outcome(self.configured().apply, record)) for record in reversed(records)]
        assert first == second[::-1]

    def test_apply_keeps_kind_and_place(self) -> None:
        """A sink record stays one, and keeps its original position; likewise a source record."""
        transform = self.configured()
        for record in self.records():
            result = _outcome(transform.apply, record)
            if result is None or isinstance(result, ConnectError):
                continue
            assert type(result) is type(record)
            kept = _PLACE[type(record)]
            assert [getattr(result, name) for name in kept] == [getattr(record, name) for name in kept], (
                f"{', '.join(kept)} must be kept: offsets refer to them"
            )

    def test_lanes_agree(self) -> None:
        """apply_batch returns what apply returns, for every batch that it does not leave to records."""
        for records in _batches_of(self.records()):
            batch = Batch.from_records(records, range(10, 10 + len(records)))
            expected = [_outcome(self.configured().apply, record) for record in records]
            for given in (batch, columnar(batch)):
                changed = _columns(self.configured().apply_batch, given)
                if changed is not None:
                    _compare(expected, changed)
                    assert records_facts(given.to_records()) == records_facts(batch.to_records())


class PredicateContract(_RecordContract):
    """Tests of a predicate: ``class TestMine(PredicateContract): predicate = Mine``."""

    predicate: ClassVar[type[Predicate]]

    def plugin(self) -> type[Any]:
        """Return the class under test."""
        return self.predicate

    def test_test_answers_and_changes_nothing(self) -> None:
        """test() returns a bool, the same each time, and does not change the record."""
        predicate = self.configured()
        for record in self.records():
            before = record_facts(record)
            answers = [predicate.test(record), self.configured().test(record)]
            assert answers in ([True, True], [False, False])
            assert record_facts(record) == before

    def test_lanes_agree(self) -> None:
        """test_batch returns what test returns: a boolean for each row, without nulls."""
        for records in _batches_of(self.records()):
            predicate, batch = self.configured(), Batch.from_records(records)
            expected = [predicate.test(record) for record in records]
            for given in (batch, columnar(batch)):
                mask = _columns(predicate.test_batch, given)
                if mask is not None:
                    assert pa.types.is_boolean(mask.type)
                    assert mask.to_pylist() == expected


def _batches_of(records: Sequence[ConnectRecord]) -> Iterator[list[ConnectRecord]]:
    """Yield batches: each record alone, those of one schema, and all of one kind, mixed."""
    kinds: tuple[type[ConnectRecord], ...] = (SinkRecord, SourceRecord)
    for kind in kinds:
        of_kind = [record for record in records if type(record) is kind]
        yield from ([record] for record in of_kind)
        for _, alike in groupby(of_kind, key=lambda record: (record.topic, repr(record.value_schema))):
            yield list(alike)
        if of_kind:
            yield of_kind


def _outcome(apply: Callable[[Any], Any], record: ConnectRecord) -> Any:
    """Return the result for a record: a record, ``None``, or the error that was raised."""
    try:
        return apply(record)
    except ConnectError as error:
        return error


def _facts(outcome: Any) -> Any:
    if isinstance(outcome, ConnectRecord):
        return record_facts(outcome)
    return outcome and (type(outcome), str(outcome))


def _columns(apply: Callable[[Batch], Any], batch: Batch) -> Any:
    """Return the batch lane's result if the engine would use it; ``None`` if it would fall back to records."""
    try:
        return apply(batch)
    except (BatchRowError, DataError, pa.ArrowException):
        return None


def _compare(expected: Sequence[Any], changed: Batch) -> None:
    errors = [outcome for outcome in expected if isinstance(outcome, ConnectError)]
    assert errors == [], f"apply_batch() returned rows that apply() refuses with {errors[0]!r}: return None"
    kept = [(row, record) for row, record in enumerate(expected, 10) if record is not None]
    assert changed.origin.to_pylist() == [row for row, _ in kept], "origin must give the input row of each row kept"
    assert records_facts(changed.to_records()) == records_facts(record for _, record in kept)

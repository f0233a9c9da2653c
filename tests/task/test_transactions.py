"""Transactions a source task ends itself, at a record inside a batch or after a batch (KIP-618)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from connect_core.api.data import STRING_SCHEMA
from connect_core.api.records import SourceRecord
from connect_core.api.source import RecordMetadata, SourceTask
from connect_core.errors import IllegalStateError
from connect_core.interval.values import IntervalCaps
from connect_core.task.contexts import Transactions
from connect_core.task.source import SourceAttempt, TransactionBoundary
from tests.task.equipment import RememberedWriter, source_attempt

OWN = TransactionBoundary(records=2, seconds=0.01, is_connectors=True)

Ask = Callable[[Any, list[SourceRecord]], None]


class Batches(SourceTask):
    """Gives three batches of three records; ``ask`` asks for boundaries while a batch is made."""

    def __init__(self, ask: Ask, batches: int = 3) -> None:
        self.ask = ask
        self.left = batches
        self.told: list[tuple[Any, bool]] = []

    def start(self, config: Mapping[str, str]) -> None:
        self.first = 1

    def poll(self) -> Sequence[SourceRecord] | None:
        if not self.left:
            return None
        self.left -= 1
        numbers = range(self.first, self.first + 3)
        self.first += 3
        records = [
            SourceRecord("t", value_schema=STRING_SCHEMA, value=str(n), source_partition={}, source_offset={"n": n})
            for n in numbers
        ]
        self.ask(self.context.transaction_context, records)
        return records

    def commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        self.told.append((record.value, metadata is not None))

    def stop(self) -> None:
        """Do nothing."""


def run(
    ask: Ask, batches: int = 3, caps: IntervalCaps | None = None
) -> tuple[RememberedWriter, Batches, SourceAttempt]:
    writer, task = RememberedWriter(), Batches(ask, batches)
    one = source_attempt(task, writer, caps, boundary=OWN)
    one.control.stopping.clear()
    return writer, task, one


def steps(writer: RememberedWriter) -> list[Any]:
    """Return how many records were produced or dropped, and the offset of each commit."""
    return [(kind, told[0]["n"] if kind == "commit" else told) for kind, told in writer.calls]


def test_commit_is_at_the_record_inside_the_batch() -> None:
    def ask(transactions: Transactions, records: list[SourceRecord]) -> None:
        transactions.commit_transaction(records[1])

    writer, task, one = run(ask)
    finish(one, task)
    assert steps(writer)[:8] == [
        ("produce", 2), ("commit", 2),
        ("produce", 1), ("produce", 2), ("commit", 5),
        ("produce", 1), ("produce", 2), ("commit", 8),
    ]  # fmt: skip
    assert writer.committed == [str(n).encode() for n in range(1, 9)]


def test_what_the_task_left_open_is_read_again() -> None:
    writer, task, one = run(lambda transactions, records: transactions.commit_transaction(records[1]), 1)
    finish(one, task)
    assert steps(writer) == [("produce", 2), ("commit", 2), ("produce", 1), ("abort", 1)]
    assert writer.offsets == {"{}": {"n": 2}}
    assert one.counts().records == 2
    assert task.told == [("1", True), ("2", True)]


def test_abort_drops_up_to_its_record_and_moves_the_offset() -> None:
    def ask(transactions: Transactions, records: list[SourceRecord]) -> None:
        transactions.abort_transaction(records[1])
        transactions.commit_transaction()

    writer, task, one = run(ask, 1)
    finish(one, task)
    assert steps(writer) == [("produce", 2), ("abort", 2), ("commit", 2), ("produce", 1), ("commit", 3)]
    assert writer.committed == [b"3"]
    assert task.told == [("1", False), ("2", False), ("3", True)]
    assert (one.counts().records, one.counts().dropped) == (1, 2)


def test_batch_boundary_follows_the_batch_it_was_asked_in() -> None:
    def ask(transactions: Transactions, records: list[SourceRecord]) -> None:
        if records[0].value == "4":
            transactions.commit_transaction()

    writer, task, one = run(ask, 2)
    finish(one, task)
    assert steps(writer) == [("produce", 3), ("produce", 3), ("commit", 6)]


def test_aborted_batch_takes_the_whole_transaction_with_it() -> None:
    def ask(transactions: Transactions, records: list[SourceRecord]) -> None:
        if records[0].value == "4":
            transactions.abort_transaction()

    writer, task, one = run(ask, 2)
    finish(one, task)
    assert steps(writer) == [("produce", 3), ("produce", 3), ("abort", 6), ("commit", 6)]
    assert writer.committed == []


def test_cap_does_not_cut_a_transaction() -> None:
    def ask(transactions: Transactions, records: list[SourceRecord]) -> None:
        if records[0].value == "7":
            transactions.commit_transaction()

    writer, _, one = run(ask, 9, IntervalCaps(records=1))
    one.run()
    assert steps(writer) == [("produce", 3), ("produce", 3), ("produce", 3), ("commit", 9)]
    assert one.is_capped()


def test_both_at_once_make_no_sense() -> None:
    def ask(transactions: Transactions, records: list[SourceRecord]) -> None:
        transactions.commit_transaction(records[0])
        transactions.abort_transaction(records[0])

    writer, _, one = run(ask)
    with pytest.raises(IllegalStateError, match="both commit and abort"):
        one.run()
    assert not writer.committed


def test_time_ends_no_batch_in_its_middle() -> None:
    writer = RememberedWriter()
    source_attempt(Batches(lambda *_: None), writer, boundary=TransactionBoundary(None, 0.0)).run()
    assert [told for kind, told in writer.calls if kind == "produce"] == [3, 3, 3]
    assert [told[0]["n"] % 3 for kind, told in writer.calls if kind == "commit"] == [0] * 3


def finish(one: SourceAttempt, task: Batches) -> None:
    """Run until all the task gives has been produced, then as on a stop."""
    give, writer = task.poll, one.writer
    assert isinstance(writer, RememberedWriter)

    def poll() -> Sequence[SourceRecord] | None:
        records = give()
        if records is None:
            produced = sum(told for kind, told in writer.calls if kind == "produce")
            if produced == task.first - 1:
                one.control.stopping.set()
            time.sleep(0.001)
        return records

    task.poll = poll
    one.run()

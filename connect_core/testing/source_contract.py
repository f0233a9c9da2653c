"""The contract of source connectors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from connect_core.api.connector import Task
from connect_core.api.data import validate_value
from connect_core.api.offsets import canonical, checked_map, parse
from connect_core.api.records import SourceRecord
from connect_core.api.source import ConnectorTransactionBoundaries, ExactlyOnceSupport, SourceConnector
from connect_core.testing.comparing import record_facts
from connect_core.testing.connector_contract import ConnectorContract
from connect_core.testing.source_engine import Lane, Poll, Position, SourceEngine, position_after

__all__ = ["SourceContract"]

_MOST_CUTS = 12
Streams = Mapping[str, Sequence[Any]]
"""The records read, by source partition."""


class SourceContract(ConnectorContract):
    """Tests of a source: ``class TestMine(SourceContract): connector = Mine``.

    Give ``config``, and ``prepare`` when there must be something to read.
    ``extend``: add data that arrives later, and return true.
    """

    connector: ClassVar[type[SourceConnector]]
    tasks: ClassVar[int] = 1
    idle_seconds: ClassVar[float] = 0.2
    unstable: ClassVar[Collection[str]] = ("timestamp",)
    """Fields of a record that may differ when the record is read again."""

    def extend(self, folder: Path) -> bool:
        """Add data to what ``prepare`` created → false if this source cannot have more."""
        return False

    def engine(self, folder: Path) -> SourceEngine:
        """Return an engine over what ``prepare`` creates."""
        self.prepare(folder)
        return SourceEngine(self.connector, self.config, self.limits(folder), self.tasks, self.idle_seconds)

    def new_task(self, folder: Path) -> Task:
        """Return a task that is initialized and not yet started."""
        engine = self.engine(folder)
        connector = engine.start()
        config = dict(connector.task_configs(1)[0])
        task = connector.task_class()()
        task.initialize(engine.context(config, Position(), None))
        connector.stop()
        return task

    def test_records_are_complete(self, tmp_path: Path) -> None:
        """A record has a topic, a source partition and offset, and a value that fits its schema."""
        records = _records(self.engine(tmp_path).read())
        assert records, "nothing was read: prepare() must create something to read"
        for record in records:
            assert record.topic, f"no topic: {record}"
            for place in (record.source_partition, record.source_offset):
                _check_place(place)
            for schema, value in ((record.key_schema, record.key), (record.value_schema, record.value)):
                if schema is not None:
                    validate_value(schema, value)

    def test_reading_again_gives_the_same(self, tmp_path: Path) -> None:
        """An interval that is run again, as after a crash, reads the same records."""
        engine = self.engine(tmp_path)
        assert self._streams(engine.read()) == self._streams(engine.read())

    def test_reading_resumes_from_any_offset(self, tmp_path: Path) -> None:
        """After a commit at any record, a new task continues with the next one: none is repeated or left out."""
        engine = self.engine(tmp_path)
        records = _records(engine.read())
        for cut in range(1, len(records) + 1, max(1, len(records) // _MOST_CUTS)):
            begin = position_after([Poll(tuple(records[:cut]))])
            rest = self._streams(engine.read(begin))
            assert rest == self._streams([Poll(tuple(records[cut:]))]), f"resumed after {cut} records at {begin}"

    def test_reading_resumes_after_any_poll(self, tmp_path: Path) -> None:
        """The same after any poll, with the private state that is committed with the offset, in both lanes."""
        engine = self.engine(tmp_path)
        for lane in Lane:
            polls = engine.read(lane=lane)
            for cut in range(1, len(polls) + 1, max(1, len(polls) // _MOST_CUTS)):
                rest = self._streams(engine.read(position_after(polls[:cut]), lane))
                assert rest == self._streams(polls[cut:]), f"resumed after {cut} polls, {lane.value}"

    def test_stop_ends_a_waiting_poll(self, tmp_path: Path) -> None:
        """stop() is called from another thread while poll() may be waiting: both soon return."""
        engine = self.engine(tmp_path)
        end = position_after(engine.read())
        assert self._streams(engine.follow(end, Lane.RECORDS)) == {}

    def test_lanes_agree(self, tmp_path: Path) -> None:
        """poll_batch reads the same as poll, with the same schemas, offsets and order."""
        engine = self.engine(tmp_path)
        assert self._streams(engine.read(lane=Lane.BATCHES)) == self._streams(engine.read())

    def test_bound_is_reached(self, tmp_path: Path) -> None:
        """An interval reads up to the bound that ``latest`` planned; after that there is nothing to do."""
        engine = self.engine(tmp_path)
        bound = engine.bound(Position())
        if bound is None:
            return
        assert bound == engine.bound(Position()), "latest() must return the same while the source does not change"
        for lane in Lane:
            end = position_after(engine.read(lane=lane, bound=bound))
            assert dict(end.offsets) == dict(bound), "the offsets after an interval must be those latest() planned"
            assert engine.bound(end) == end.offsets, "latest() must return the committed offsets when nothing is new"

    def test_bound_shuts_out_what_comes_later(self, tmp_path: Path) -> None:
        """Data added after the plan is read by the next interval, which reads nothing else."""
        engine = self.engine(tmp_path)
        first = engine.bound(Position())
        before = self._streams(engine.read(bound=first))
        if first is None or not self.extend(tmp_path):
            return
        for lane in Lane:
            polls = engine.read(lane=lane, bound=first)
            assert self._streams(polls) == before
            end = position_after(polls)
            second = engine.bound(end)
            assert second != end.offsets, "latest() must see what extend() added"
            later = engine.read(end, lane, second)
            assert later, "the next interval must read what extend() added"
            assert self._streams([*polls, *later]) == self._streams(engine.read(lane=lane, bound=second))

    def test_hearing_of_commits_twice_does_no_harm(self, tmp_path: Path) -> None:
        """commit_record and commit may be called again after a crash, before that they were called was recorded."""
        engine = self.engine(tmp_path)
        records = _records(engine.read())
        connector = engine.start()
        config = dict(connector.task_configs(1)[0])
        task = connector.task_class()()
        task.initialize(engine.context(config, Position(), None))
        task.start(config)
        for _ in range(2):
            for record in records:
                task.commit_record(record, None)
            task.commit()
        task.stop()
        connector.stop()

    def test_promises_are_given_in_words_of_the_api(self, tmp_path: Path) -> None:
        """exactly_once_support and can_define_transaction_boundaries return their enums."""
        connector = self.engine(tmp_path).start()
        assert isinstance(connector.exactly_once_support(dict(self.config)), ExactlyOnceSupport | None)
        boundaries = connector.can_define_transaction_boundaries(dict(self.config))
        assert isinstance(boundaries, ConnectorTransactionBoundaries)
        connector.stop()

    def test_own_offsets_may_be_set_and_forgotten(self, tmp_path: Path) -> None:
        """alter_offsets accepts offsets that the connector's own tasks committed, or returns false (KIP-875)."""
        engine = self.engine(tmp_path)
        offsets = position_after(engine.read()).offsets
        connector = engine.start()
        forgotten: dict[str, Any] = dict.fromkeys(offsets)
        assert isinstance(connector.alter_offsets(dict(self.config), offsets), bool)
        assert isinstance(connector.alter_offsets(dict(self.config), forgotten), bool)
        connector.stop()

    def _streams(self, polls: Sequence[Poll]) -> Streams:
        streams: dict[str, list[Any]] = {}
        for record in _records(polls):
            place = canonical(record.source_partition or {})
            streams.setdefault(place, []).append(record_facts(record, self.unstable))
        return streams


def _records(polls: Sequence[Poll]) -> list[SourceRecord]:
    return [record for poll in polls for record in poll.records]


def _check_place(place: Mapping[str, Any] | None) -> None:
    assert isinstance(place, Mapping), f"a source partition or offset must be a map, not {place!r}"
    assert checked_map(place, "a source partition or offset") == place
    assert parse(canonical(place)) == dict(place)

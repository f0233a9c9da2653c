"""Backfill: a past time is exported again, whatever dies on the way, and the live export goes on as if it were not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from connect_core.api.records import TopicPartition
from connect_core.connectors.filesystem.storages.local.storage import LocalStaging
from connect_core.effects.perform import perform
from connect_core.errors import ConnectError, DataError, DataLossError, RetriableError
from connect_core.interval import effects as fx
from connect_core.interval.values import Counts, TargetState, TaskOutcome, TaskResult
from connect_core.plan.abandon import OffsetRequest, abandon
from tests.recovery.hourly import HourlySink, begun, exported, hour
from tests.recovery.sinks import NAME, Killed

pytestmark = pytest.mark.slow


@pytest.fixture
def sink(tmp_path: Path) -> HourlySink:
    return begun(tmp_path)


def test_hours_older_than_the_export_come_once_each_under_their_own_hour(sink: HourlySink) -> None:
    assert sink.existing() == Counter(), "it began at the end"
    positions = sink.positions()
    assert [sink.backfill(number) for number in (2, 1, 3)] == [1, 1, 1]
    assert sink.existing() == exported(sink)
    assert sink.positions() == positions == {"t-0": 11, "u-0": 3}
    assert sink.marked() == ["hour=00", "hour=01", "hour=02"]
    late = [(past.row.bound_time, past.counts.late, past.counts.future) for past in sink.past()]
    assert late == [(hour(2), 1, 1), (hour(1), 0, 0), (hour(3), 1, 0)]
    files = sorted(place.name for place in (sink.home / "t").rglob("hour=00/*.json"))
    assert len(files) == 2, "the late record is in an additional file"


def test_a_second_run_changes_nothing(sink: HourlySink) -> None:
    for number in (1, 2, 3):
        sink.backfill(number)
    before = {place: place.stat().st_ino for place in sink.home.rglob("*.json")}
    assert [sink.backfill(number) for number in (1, 2, 3)] == [0, 0, 0]
    assert {place: place.stat().st_ino for place in sink.home.rglob("*.json")} == before


def test_the_live_export_goes_on_in_between(sink: HourlySink) -> None:
    sink.append("t", 3.2, 2.8, 4.1)
    sink.append("u", 3.9)
    sink.now = 4.2
    sink.backfill(2)
    sink.live(4)
    sink.backfill(3)
    sink.append("t", 4.4, 3.3)
    sink.now = 5.1
    sink.live(5)
    sink.backfill(1)
    assert sink.existing() == exported(sink)
    assert sink.positions() == {"t-0": 16, "u-0": 4}
    assert sink.marked() == [f"hour=0{number}" for number in range(5)]


def test_an_hour_of_the_live_export_is_replaced_under_the_same_names(sink: HourlySink) -> None:
    sink.append("t", 3.2, 2.8)
    sink.now = 4.1
    sink.live(4)
    places = sorted((sink.home / "t").rglob("t+0*.json"))
    assert len(places) == 2
    places[0].write_text("damaged\n")
    assert sink.backfill(4) == 1
    assert sorted((sink.home / "t").rglob("t+0*.json")) == places
    assert sink.existing() == sink.expected("t", 11, 13)
    assert sink.marked() == ["hour=02", "hour=03"]
    marker = sink.marker(sink.history()[-1][0])
    assert sorted(map(Path, marker.replaced)) == places
    assert sink.backfill(4) == 0
    places[0].unlink()
    assert sink.backfill(4) == 1, "a file that is gone is made again"
    assert sink.existing() == sink.expected("t", 11, 13)


def test_what_was_exported_by_another_configuration_is_exported_again(sink: HourlySink) -> None:
    sink.backfill(1)
    sink.configure(**{"include.metadata": "true"})
    assert sink.backfill(1) == 1
    assert '"_offset"' in next((sink.home / "t").rglob("hour=00/*.json")).read_text()


def test_names_that_would_stand_twice_are_refused_and_hold_nothing_up(sink: HourlySink) -> None:
    sink.backfill(1)
    before = sink.existing()
    sink.configure(partitioner="daily")
    with pytest.raises(DataError, match=r"hour=00.* would stay beside files of the same records"):
        sink.backfill(1)
    assert sink.existing() == before
    sink.configure(partitioner="hourly")
    sink.append("t", 3.5)
    sink.now = 4.1
    sink.live(4)
    assert sink.positions() == {"t-0": 12, "u-0": 3}


def test_records_that_are_gone_are_named_and_nothing_is_replaced(
    sink: HourlySink, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        sink.backfill(number)
    before = sink.existing()
    sink.configure(**{"include.metadata": "true"})
    handlers = HourlySink.handlers

    def shortened(self: HourlySink) -> Any:
        table = handlers(self)
        ends = table[fx.ReadPartitionEnds]
        return {**table, fx.ReadPartitionEnds: lambda e: {p: _from(one, 3) for p, one in ends(e).items()}}

    monkeypatch.setattr(HourlySink, "handlers", shortened)
    with pytest.raises(DataLossError, match=r"no longer has offsets 2 to 2 of t-0"):
        sink.backfill(2)
    assert sink.existing() == before


@pytest.mark.parametrize("reads", [1, 2], ids=["where it begins", "where it ends"])
def test_a_topic_recreated_while_its_times_are_read_is_no_hour_without_records(sink: HourlySink, reads: int) -> None:
    steps = sink.run_steps(hour(1), hour(0))
    asked = (effect for effect in steps if isinstance(effect, fx.ReadTimeBounds))
    for _ in range(reads):
        next(asked)
    for topic in ("t", "u"):
        sink.recreate(topic)
    with pytest.raises(RetriableError, match="Topic t was deleted and created again while the times of its records"):
        next(asked)
    assert sink.history() == []
    with pytest.raises(ConnectError, match="a live run has to happen first"):
        sink.backfill(1)


def _from(ends: Any, earliest: int) -> Any:
    return replace(ends, earliest=min(earliest, ends.latest))


def test_folders_of_the_time_of_writing_are_refused(tmp_path: Path) -> None:
    sink = begun(tmp_path, **{"timestamp.extractor": "Wallclock"})
    with pytest.raises(ConnectError, match=r"cannot be backfilled: .*timestamp\.extractor"):
        sink.backfill(1)
    assert sink.history() == []


def test_a_failed_task_is_given_up_at_once(sink: HourlySink, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: HourlySink, plan: Any) -> TaskResult:
        return TaskResult(plan.task, TaskOutcome.FAILED, Counts())

    with monkeypatch.context() as patch:
        patch.setattr(HourlySink, "execute", failing)
        steps = sink.run_steps(hour(1), hour(0))
        while not sink.history() or sink.history()[-1][1] != "ABANDONED":
            next(steps)
    assert sink.positions() == {"t-0": 11, "u-0": 3}
    assert sink.backfill(1) == 1


def test_a_live_interval_that_is_not_finished_comes_first(sink: HourlySink) -> None:
    sink.append("t", 3.5)
    sink.now = 4.1
    steps = sink.run_steps(hour(4))
    while not isinstance(next(steps), fx.CommitTarget):
        pass
    with pytest.raises(RetriableError, match="live export is not finished"):
        sink.backfill(1)
    sink.live(4)
    sink.backfill(1)
    assert sink.existing() == sink.expected("t", 11, 12) + sink.expected("t", 0, 2) + sink.expected("u", 0, 1)


@pytest.mark.parametrize("is_live_first", [True, False])
def test_metadata_put_back_to_before_a_backfill_pass_it_by(tmp_path: Path, is_live_first: bool) -> None:
    sink = begun(tmp_path)
    sink.append("t", 3.2)
    sink.now = 4.1
    sink.live(4)
    backup = sink.database.content()  # type: ignore[attr-defined]
    sink.backfill(1)
    dying = sink.run_steps(hour(2), hour(1))
    while not isinstance(next(dying), fx.PublishTarget):
        pass
    sink.append("t", 4.5)
    sink.now = 5.1
    sink.live(5)
    sink.append("t", 5.5)
    sink.now = 6.1
    if is_live_first:
        sink.live(6)
    sink.database.restore(backup)  # type: ignore[attr-defined]
    if not is_live_first:
        with pytest.raises(RetriableError, match="ahead of the metadata"):
            sink.backfill(3)
    sink.live(6)
    sink.backfill(3)
    assert sink.existing() == exported(sink)
    assert sink.positions() == {"t-0": 14, "u-0": 3}


def test_offsets_altered_after_a_restore_know_the_live_intervals_beyond_a_backfill(sink: HourlySink) -> None:
    sink.append("t", 3.2)
    sink.now = 4.1
    sink.live(4)
    backup = sink.database.content()  # type: ignore[attr-defined]
    sink.backfill(1)
    sink.append("t", 4.5)
    sink.now = 5.1
    sink.live(5)
    sink.database.restore(backup)  # type: ignore[attr-defined]
    sink.aim(TargetState.STOPPED)
    handlers = sink.handlers()
    state = handlers[fx.LoadConnector](fx.LoadConnector(NAME))
    perform(abandon(sink.driven(state), OffsetRequest({})), handlers)
    assert sink.positions() == {"t-0": 13, "u-0": 3}


def test_metadata_that_are_lost_follow_the_live_interval_before_a_backfill(sink: HourlySink) -> None:
    sink.append("t", 3.5)
    sink.now = 4.1
    # The group hears of no interval of this run.
    told = {TopicPartition("t", 0): 11, TopicPartition("u", 0): 3}
    sink.live(4)
    sink.backfill(1)
    sink.topics.group.clear()
    sink.topics.group.update(told)
    sink.database.restore(sink.database.empty)  # type: ignore[attr-defined]
    sink.create()
    sink.append("t", 4.5)
    sink.now = 5.1
    sink.live(5)
    assert sink.positions() == {"t-0": 13, "u-0": 3}
    assert sink.existing() == sink.expected("t", 11, 13) + sink.expected("t", 0, 2) + sink.expected("u", 0, 1)


@pytest.mark.parametrize("moves", range(3))
@pytest.mark.parametrize("is_live_next", [True, False])
def test_a_driver_that_dies_between_two_files_is_followed_by_another(
    sink: HourlySink, monkeypatch: pytest.MonkeyPatch, moves: int, is_live_next: bool
) -> None:
    sink.append("t", 3.2, 2.8)
    sink.append("u", 3.5)
    sink.now = 4.1
    sink.live(4)
    expected, places = sink.existing(), sorted(sink.home.rglob("*+*.json"))
    assert len(places) == 3
    left, publish = iter(range(moves)), LocalStaging.publish

    def dying(self: LocalStaging, held: Any, final: str) -> None:
        if next(left, None) is None:
            raise Killed
        publish(self, held, final)

    with monkeypatch.context() as patch:
        patch.setattr(LocalStaging, "publish", dying)
        with pytest.raises(Killed):
            sink.backfill(4)
    assert sink.existing() == expected, "each file is the earlier one or the new one"
    assert sink.marked() == [], "what is not whole is not marked"
    sink.append("t", 4.5)
    sink.now = 5.1
    if is_live_next:
        sink.live(5)
        assert sink.existing() == expected + sink.expected("t", 13, 14)
    assert sink.backfill(4) == 0
    assert sorted(set(sink.home.rglob("*+*.json")) & set(places)) == places
    assert set(sink.marked()) >= {"hour=02", "hour=03"}
    assert [state for _, state, _ in sink.history()].count("ABANDONED") == 0


class Chaos:
    """Runs of both kinds, killed or put to sleep before any act; what sleeps wakes up later."""

    def __init__(self, root: Path, chance: Random) -> None:
        self.sink, self.chance = begun(root), chance
        self.asleep: list[Iterator[Any]] = []
        self.seen: Counter[Any] = Counter()
        self.last = 3
        self.holders = 0

    def look(self) -> None:
        existing = self.sink.existing()
        assert max(existing.values(), default=1) == 1, "a record stands twice"
        assert not self.seen - existing, "a record that was there is gone"
        self.seen = existing

    def run(self) -> None:
        self.holders += 1
        holder = f"h{self.holders}"
        if self.chance.random() < 0.5:
            number = self.chance.randint(1, self.last)
            steps = self.sink.run_steps(hour(number), hour(number - 1), holder)
        else:
            self.last += 1
            times = [self.chance.uniform(self.last - 2, self.last) for _ in range(self.chance.randint(0, 3))]
            self.sink.append("t", *times)
            self.sink.now = self.last + 0.1
            steps = self.sink.run_steps(hour(self.last), None, holder)
        for _ in range(self.chance.randint(1, 60)):
            if not self.step(steps):
                return
        self.asleep.append(steps)

    def step(self, steps: Iterator[Any]) -> bool:
        try:
            effect = next(steps)
        except (StopIteration, ConnectError):
            return False
        finally:
            self.look()
        return not isinstance(effect, bool)

    def wake(self) -> None:
        if self.asleep:
            steps = self.chance.choice(self.asleep)
            for _ in range(self.chance.randint(1, 20)):
                if not self.step(steps):
                    break

    def end(self) -> None:
        # The record from the future is of the past by then: what lies behind it is in the range of its hour.
        self.last = max(self.last + 1, 11)
        self.sink.now = self.last + 0.1
        self.sink.live(self.last)
        self.look()
        for number in range(1, self.last + 1):
            self.sink.backfill(number)
            self.look()
        assert self.sink.existing() == exported(self.sink)
        positions = {topic: len(log) for topic, log in self.sink.times.items()}
        assert self.sink.positions() == {f"{topic}-0": end for topic, end in positions.items()}
        assert [self.sink.backfill(number) for number in range(1, self.last + 1)] == [0] * self.last


@pytest.mark.parametrize("seed", range(8))
def test_every_record_stands_once_whoever_dies_or_wakes_up(tmp_path: Path, seed: int) -> None:
    chaos = Chaos(tmp_path, Random(seed))
    for _ in range(6):
        chaos.run()
        chaos.wake()
    chaos.end()

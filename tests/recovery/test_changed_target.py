"""A configuration changes between a crash and its recovery: the interval is ended where it was begun."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from connect_core.connectors.file.appender import control_of
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector
from connect_core.effects.perform import perform
from connect_core.errors import ConnectError
from connect_core.interval import effects as fx
from connect_core.interval.values import TargetState
from connect_core.plan.abandon import OffsetRequest, abandon
from tests.recovery.sinks import NAME, Sink, lines, new_database, topics_of

pytestmark = pytest.mark.slow

POINTS = [fx.CommitTarget, fx.PublishTarget, fx.CommitInterval]


@pytest.fixture
def sink(tmp_path: Path) -> Sink:
    made = Sink(tmp_path, topics_of("a", "b", "c"), new_database(tmp_path), {"file": "one.txt", "topics": "t"})
    made.create()
    return made


@pytest.mark.parametrize("point", POINTS)
def test_an_interval_is_in_one_file_only(sink: Sink, point: type[fx.Effect[Any]]) -> None:
    sink.die(point)
    sink.configure(file="two.txt")
    sink.topics.produce("d")
    assert sink.work() == ["COMMITTED", "IDLE"]
    one, two = lines(sink.root / "one.txt"), lines(sink.root / "two.txt")
    assert (one, two) == (([], ["a", "b", "c", "d"]) if point is fx.CommitTarget else (["a", "b", "c"], ["d"]))
    assert sink.positions() == {"t-0": 4}


@pytest.mark.parametrize("point", POINTS)
def test_an_interval_is_under_one_path_only(tmp_path: Path, point: type[fx.Effect[Any]]) -> None:
    config = {"path": "one", "topics": "t"}
    sink = Sink(tmp_path, topics_of("a", "b"), new_database(tmp_path), config, FileSystemSinkConnector)
    sink.create()
    sink.die(point)
    sink.configure(path="two")
    sink.topics.produce("c")
    assert sink.work() == ["COMMITTED", "IDLE"]
    found = [
        ds.dataset(place, format="parquet", exclude_invalid_files=True).to_table()["value"].to_pylist()
        for place in (tmp_path / "one" / "t", tmp_path / "two" / "t")
        if place.exists()
    ]
    assert found == ([["a", "b", "c"]] if point is fx.CommitTarget else [["a", "b"], ["c"]])


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("change", [{"topics": "u"}, {"tasks.max": "3"}, {"value.converter": "another"}])
def test_another_change_leaves_the_interval_where_it_is(
    sink: Sink, point: type[fx.Effect[Any]], change: dict[str, str]
) -> None:
    sink.topics.create("u", "x")
    sink.die(point)
    sink.configure(**change)
    sink.work()
    assert sorted(lines(sink.root / "one.txt")) == (["a", "b", "c", "x"] if "topics" in change else ["a", "b", "c"])


def test_a_driver_of_the_earlier_target_commits_nothing_after_it(sink: Sink) -> None:
    """It slept between its look at the epoch and its manifest."""
    planned = sink.plan(sink.run_of("run h 1"))
    assert planned.plan is not None
    results = [sink.execute(task) for task in planned.plan.tasks]
    sink.configure(file="two.txt")
    assert sink.work("run h 2") == ["COMMITTED", "IDLE"]
    control = control_of("one.txt", NAME, sink.limits, sink.deployment)
    assert control.commit(planned.plan.row.key, results[0].staged, {"lines": []}).aborted
    assert (lines(sink.root / "one.txt"), lines(sink.root / "two.txt")) == ([], ["a", "b", "c"])


def test_a_target_that_does_not_answer_is_waited_for_or_given_up_by_a_reset(sink: Sink) -> None:
    sink.configure(file="in/one.txt")
    (sink.root / "in").mkdir()
    sink.die(fx.PublishTarget)
    shutil.move(sink.root / "in", sink.root / "away")
    (sink.root / "in").symlink_to("/proc")
    sink.configure(file="two.txt")
    with pytest.raises(
        ConnectError, match=r"Interval 1 was started with configuration 2, .* restore that configuration"
    ):
        sink.work()
    assert not (sink.root / "two.txt").exists()
    sink.aim(TargetState.STOPPED)
    handlers = sink.handlers()
    state = handlers[fx.LoadConnector](fx.LoadConnector(NAME))
    perform(abandon(sink.driven(state), OffsetRequest(None, "jo")), handlers)
    sink.aim(TargetState.STARTED)
    assert sink.work("run h 2") == ["COMMITTED", "IDLE"]
    assert lines(sink.root / "two.txt") == ["a", "b", "c"]


def test_a_pause_ends_it_where_it_was_begun(sink: Sink) -> None:
    sink.die(fx.PublishTarget)
    sink.configure(file="two.txt")
    sink.aim(TargetState.PAUSED)
    assert sink.work() == ["STOP"]
    assert lines(sink.root / "one.txt") == ["a", "b", "c"]
    assert sink.positions() == {"t-0": 3}

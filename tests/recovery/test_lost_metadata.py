"""The metadata database is lost, recreated or restored: a marker proves something only with its identity."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector
from connect_core.effects.perform import perform
from connect_core.errors import ConfigError
from connect_core.interval import effects as fx
from connect_core.interval.values import TargetState
from connect_core.plan.abandon import OffsetRequest, abandon
from tests.recovery.sinks import NAME, Killed, Sink, Topics, lines, new_database, topics_of

pytestmark = pytest.mark.slow


def file_sink(root: Path, topics: Topics, **more: object) -> Sink:
    return Sink(root, topics, new_database(root), {"file": str(root / "out.txt"), "topics": "t"}, **more)  # type: ignore[arg-type]


def folder_sink(root: Path, topics: Topics) -> Sink:
    config = {"path": str(root / "lake"), "topics": "t"}
    return Sink(root, topics, new_database(root), config, FileSystemSinkConnector)


def rows(root: Path) -> list[str]:
    table = ds.dataset(root / "lake" / "t", format="parquet", exclude_invalid_files=True).to_table()
    return sorted(table["value"].to_pylist())


def one_by_one(sink: Sink, *values: str) -> None:
    for value in values:
        sink.topics.produce(value)
        assert sink.work() == ["COMMITTED", "IDLE"]


def test_a_database_begun_anew_believes_no_manifest_of_the_earlier_life(tmp_path: Path) -> None:
    first = file_sink(tmp_path, topics_of())
    first.create()
    one_by_one(first, "old-0", "old-1")
    second = file_sink(tmp_path, topics_of())
    second.create()
    one_by_one(second, "new-0", "new-1", "new-2")
    assert lines(tmp_path / "out.txt") == ["old-0", "old-1", "new-0", "new-1", "new-2"]
    assert second.positions() == {"t-0": 3}


def test_nor_where_the_topic_and_its_offsets_are_the_same(tmp_path: Path) -> None:
    """Whoever moves the file away and starts over gets all of it again."""
    topics = topics_of()
    first = file_sink(tmp_path, topics)
    first.create()
    one_by_one(first, "a", "b")
    (tmp_path / "out.txt").rename(tmp_path / "out.old")
    topics.group.clear()
    second = file_sink(tmp_path, topics)
    second.create()
    assert second.work() == ["COMMITTED", "IDLE"]
    assert lines(tmp_path / "out.txt") == ["a", "b"]


@pytest.mark.parametrize("make", [file_sink, folder_sink])
def test_a_commit_that_neither_the_lost_database_nor_the_group_knows_is_not_repeated(tmp_path: Path, make: Any) -> None:
    first = make(tmp_path, topics_of())
    first.create()
    one_by_one(first, "a", "b")
    first.topics.produce("c")
    first.before = _die_before(fx.PublishTarget)
    with pytest.raises(Killed):
        first.work()
    first.topics.produce("d")
    second = make(tmp_path, first.topics)
    second.create()
    assert second.work() == ["COMMITTED", "IDLE"]
    written = lines(tmp_path / "out.txt") if make is file_sink else rows(tmp_path)
    assert written == ["a", "b", "c", "d"]
    assert second.positions() == {"t-0": 4}


def _die_before(act: type[fx.Effect[Any]]) -> Callable[[fx.Effect[Any]], None]:
    def before(effect: fx.Effect[Any]) -> None:
        if isinstance(effect, act):
            raise Killed

    return before


def test_parquet_of_a_database_begun_anew_is_whole(tmp_path: Path) -> None:
    first = folder_sink(tmp_path, topics_of())
    first.create()
    one_by_one(first, "old-0", "old-1")
    shutil.rmtree(tmp_path / "lake" / "t")
    second = folder_sink(tmp_path, topics_of())
    second.create()
    one_by_one(second, "new-0", "new-1", "new-2")
    assert rows(tmp_path) == ["new-0", "new-1", "new-2"]


@pytest.mark.parametrize("make", [file_sink, folder_sink])
def test_a_second_deployment_of_the_same_name_and_place_is_refused_by_name(tmp_path: Path, make: object) -> None:
    first = make(tmp_path, topics_of("a"))  # type: ignore[operator]
    first.create()
    first.work()
    second = make(tmp_path, topics_of("b"))  # type: ignore[operator]
    second.deployment = "there"
    second.create()
    with pytest.raises(ConfigError, match=r"connector copy of the deployment here \(this one is there\) writes there"):
        second.work()
    assert second.positions() == {}
    first.topics.produce("c")
    assert first.work() == ["COMMITTED", "IDLE"]


def test_a_manifest_of_another_deployment_is_passed_by(tmp_path: Path) -> None:
    """The operator has taken its claim away, as the refusal says; the keys are the same."""
    first = file_sink(tmp_path, topics_of("a"))
    first.create()
    first.work()
    (tmp_path / ".connect-out.txt" / "owner.json").unlink()
    second = file_sink(tmp_path, topics_of("b"), deployment="there")
    second.create()
    assert second.work() == ["COMMITTED", "IDLE"]
    assert lines(tmp_path / "out.txt") == ["a", "b"]


def test_restored_metadata_find_what_was_committed_since(tmp_path: Path) -> None:
    sink = file_sink(tmp_path, topics_of())
    sink.create()
    one_by_one(sink, "a")
    backup = sink.backed_up()
    one_by_one(sink, "b", "c", "d")
    sink.topics.produce("e")
    sink.restore(backup)
    assert sink.work() == ["COMMITTED", "IDLE"]
    assert lines(tmp_path / "out.txt") == ["a", "b", "c", "d", "e"]
    assert [state for _, state, _ in sink.history()] == ["COMMITTED"] * 5


def test_restored_metadata_pass_by_what_began_elsewhere(tmp_path: Path) -> None:
    """After the backup the offsets were reset: the manifests since then begin at other offsets."""
    sink = file_sink(tmp_path, topics_of())
    sink.create()
    one_by_one(sink, "a", "b")
    backup = sink.backed_up()
    sink.aim(TargetState.STOPPED)
    handlers = sink.handlers()
    state = handlers[fx.LoadConnector](fx.LoadConnector(NAME))
    perform(abandon(sink.driven(state), OffsetRequest(None, "jo")), handlers)
    sink.aim(TargetState.STARTED)
    assert sink.work() == ["COMMITTED", "IDLE"]
    assert lines(tmp_path / "out.txt") == ["a", "b", "a", "b"]
    sink.topics.produce("c")
    sink.restore(backup)
    assert sink.work() == ["COMMITTED", "IDLE"]
    assert lines(tmp_path / "out.txt") == ["a", "b", "a", "b", "c"]
    assert sink.positions() == {"t-0": 3}
    assert [state for _, state, _ in sink.history()] == ["COMMITTED", "COMMITTED", "ABANDONED", "COMMITTED"]


@pytest.mark.parametrize("wanted", [None, {'{"kafka_partition":0,"kafka_topic":"t"}': {"kafka_offset": 1}}])
def test_what_is_asked_for_anew_after_a_restore_is_written_anew(tmp_path: Path, wanted: object) -> None:
    """The intervals since the backup have the keys and the starts of those that are planned next."""
    sink = file_sink(tmp_path, topics_of())
    sink.create()
    one_by_one(sink, "a")
    backup = sink.backed_up()
    one_by_one(sink, "b")
    sink.restore(backup)
    sink.aim(TargetState.STOPPED)
    handlers = sink.handlers()
    perform(abandon(sink.driven(handlers[fx.LoadConnector](fx.LoadConnector(NAME))), OffsetRequest(wanted)), handlers)  # type: ignore[arg-type]
    sink.aim(TargetState.STARTED)
    sink.work()
    assert lines(tmp_path / "out.txt") == ["a", "b", *(["a", "b"] if wanted is None else ["b"])]


def test_a_connector_deleted_after_a_restore_leaves_the_target_s_offsets(tmp_path: Path) -> None:
    sink = file_sink(tmp_path, topics_of())
    sink.create()
    one_by_one(sink, "a")
    backup = sink.backed_up()
    one_by_one(sink, "b", "c")
    sink.restore(backup)
    sink.aim(TargetState.STOPPED)
    handlers = sink.handlers()
    perform(abandon(sink.driven(handlers[fx.LoadConnector](fx.LoadConnector(NAME))), OffsetRequest({})), handlers)
    assert sink.positions() == {"t-0": 3}
    sink.delete()
    sink.create()
    one_by_one(sink, "d")
    assert lines(tmp_path / "out.txt") == ["a", "b", "c", "d"]


def test_a_foreign_manifest_that_comes_just_before_the_commit_is_not_believed(tmp_path: Path) -> None:
    sink = file_sink(tmp_path, topics_of("a", "b"))
    sink.create()

    def intrude(effect: fx.Effect[Any]) -> None:
        if isinstance(effect, fx.CommitTarget) and effect.key.sequence == 1:
            place = tmp_path / ".connect-out.txt" / "manifests" / NAME / "1" / f"{effect.key.sequence:010d}.json"
            place.parent.mkdir(parents=True, exist_ok=True)
            other = [{"topic": "t", "partition": 0, "start": 0, "end": 2}]
            place.write_text(json.dumps({"deployment": "here", "aborted": False, "ranges": other,
                                         "topic_ids": {"t": "another"}, "lines": []}))  # fmt: skip

    sink.before = intrude
    assert sink.work() == ["ABANDONED", "COMMITTED", "IDLE"]
    assert lines(tmp_path / "out.txt") == ["a", "b"]

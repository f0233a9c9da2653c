"""A past hour is exported again on every storage: its files are replaced once, whoever dies or sleeps meanwhile."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from connect_core.connectors import link_free
from connect_core.connectors.filesystem.sink.committer import FileSystemCommitter
from connect_core.connectors.filesystem.storages.azure.client import AzureContainer
from connect_core.connectors.filesystem.storages.gcs.client import GcsBucket
from connect_core.connectors.filesystem.storages.hdfs.client import HdfsClient
from connect_core.connectors.filesystem.storages.s3 import staging
from connect_core.connectors.filesystem.storages.s3.bucket import Bucket
from connect_core.errors import ConnectError
from connect_core.interval import effects as fx
from connect_core.interval.values import Counts, TaskOutcome, TaskResult
from tests.connectors.filesystem.storages.stores import FileStore, started
from tests.full_run import IS_FULL_RUN
from tests.recovery.hourly import HourlySink, begun, exported, hour
from tests.recovery.sinks import NAME, Killed

pytestmark = pytest.mark.slow

SERVERS = pytest.mark.servers
KINDS = ["local", "moto", *(pytest.param(one, marks=SERVERS) for one in ("s3", "gcs"))]
KINDS += [pytest.param(one, marks=(SERVERS, pytest.mark.matrix)) for one in ("azure", "hdfs")]
HDFS_DYING = pytest.param("hdfs", marks=(SERVERS, pytest.mark.faults))
"""A small file of HDFS takes half a second: whoever dies there does so with the other faults."""
DYING = ["local", "moto", pytest.param("s3", marks=SERVERS)]
DYING += [pytest.param(one, marks=(SERVERS, pytest.mark.matrix)) for one in ("gcs", "azure")]
each = pytest.mark.parametrize("kind", KINDS, indirect=True, scope="module")
each_dying = pytest.mark.parametrize("kind", [*DYING, HDFS_DYING], indirect=True, scope="module")
STRIDES = {} if IS_FULL_RUN else {"local": 2, "moto": 9, "azure": 5, "hdfs": 4, "s3": 3, "gcs": 3}
"""Of how many acts one is the last in ``make test``, where each is slow."""
ACTS: dict[str, tuple[Any, str]] = {
    "local": (link_free, "rename"),
    "moto": (Bucket, "complete"),
    "s3": (Bucket, "copy"),
    "gcs": (GcsBucket, "copy"),
    "azure": (AzureContainer, "commit"),
    "hdfs": (HdfsClient, "rename"),
}
"""The act that makes a file visible, by storage."""
_NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def store(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileStore]:
    with ExitStack() as open_things:
        yield started(kind, tmp_path_factory.mktemp("store"), open_things)


@pytest.fixture
def sink(
    kind: str, store: FileStore, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> HourlySink:
    """Return an export of which the fourth hour is exported: two files of the first topic, one of the second."""
    if kind == "moto":
        # Uploads under the final names are left open here, as larger files are; on the other S3 server copies are made.
        monkeypatch.setattr(staging, "SMALL", 0)
    root = tmp_path_factory.getbasetemp() if kind == "local" else tmp_path_factory.mktemp("sink")
    made = begun(root, store, f"lake-{next(_NUMBERS)}")
    made.append("t", 3.2, 2.8)
    made.append("u", 3.5)
    made.now = 4.1
    made.live(4)
    return made


def expected(sink: HourlySink) -> Counter[tuple[str, int, str]]:
    """Return what readers see where nothing before the fourth hour is exported."""
    return sink.expected("t", 11, len(sink.times["t"])) + sink.expected("u", 3, len(sink.times["u"]))


def contents(sink: HourlySink) -> dict[str, bytes]:
    """Return what readers see, by name."""
    assert sink.store is not None
    return {name: sink.store.content(sink.folder, name) for name in sink.store.names(sink.folder)}


def staged(sink: HourlySink) -> list[str]:
    """Return what is left of staged files after sweeping."""
    assert sink.store is not None
    handlers = sink.handlers()
    # Whoever has asked the target for something sweeps it.
    handlers[fx.ReadLastInterval](fx.ReadLastInterval(NAME))
    handlers[fx.SweepTarget](fx.SweepTarget(NAME, ()))
    return sink.store.staged(sink.folder)


@each
def test_files_are_replaced_and_a_second_run_changes_nothing(sink: HourlySink) -> None:
    names, positions = contents(sink).keys(), sink.positions()
    sink.configure(**{"include.metadata": "true"})
    assert sink.backfill(4) == 1
    after = contents(sink)
    assert after.keys() == names
    assert all(b"_offset" in content for name, content in after.items() if name.endswith(".json"))
    assert sink.existing() == expected(sink)
    assert sink.marked() == ["hour=02", "hour=03"]
    assert sorted(Path(one).name for one in sink.marker(sink.history()[-1][0]).replaced) == sorted(
        Path(name).name for name in names if name.endswith(".json")
    )
    assert [sink.backfill(number) for number in (4, 1, 4, 2, 3, 1, 2, 3)] == [0, 1, 0, 1, 1, 0, 0, 0]
    assert sink.existing() == exported(sink)
    assert sink.marked() == ["hour=00", "hour=01", "hour=02", "hour=03"]
    assert {name: content for name, content in contents(sink).items() if name in after} == after
    assert sink.positions() == positions
    assert staged(sink) == []


@each
def test_a_backfill_that_is_given_up_leaves_nothing(sink: HourlySink, monkeypatch: pytest.MonkeyPatch) -> None:
    before, execute = contents(sink), HourlySink.execute

    def failing(self: HourlySink, plan: Any) -> TaskResult:
        execute(self, plan)
        return TaskResult(plan.task, TaskOutcome.FAILED, Counts())

    with monkeypatch.context() as patch:
        patch.setattr(HourlySink, "execute", failing)
        steps = sink.run_steps(hour(4), hour(3))
        while sink.history()[-1][1] != "ABANDONED":
            next(steps)
    assert contents(sink) == before
    assert staged(sink) == []


@each_dying
def test_a_driver_that_dies_before_any_act_is_followed_by_another(sink: HourlySink, kind: str) -> None:
    wanted, died, stride = expected(sink), 0, STRIDES.get(kind, 1)
    for act in itertools.count(1, stride):
        sink.configure(**{"include.metadata": str(died % 2 == 0).lower()})
        steps = sink.run_steps(hour(4), hour(3), f"one {act}")
        if sum(1 for _ in itertools.islice(steps, act)) < act:
            break
        died += 1
        assert sink.existing() == wanted, f"before act {act}"
        if died % 2:
            sink.now += 1
            sink.live(4 + act)
        sink.backfill(4)
        assert sink.existing() == wanted, f"after act {act}"
        assert (sink.backfill(4), sink.marked()) == (0, ["hour=02", "hour=03"]), f"after act {act}"
    assert died * stride > 12
    assert sink.positions() == {"t-0": 13, "u-0": 4}
    assert staged(sink) == []


@each_dying
@pytest.mark.parametrize("is_late", [False, True], ids=["before", "after"])
def test_a_driver_that_dies_between_two_files_is_followed_by_another(
    sink: HourlySink, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    wanted, move = expected(sink), FileSystemCommitter._move
    for moves in range(3):
        left = iter(range(moves))

        def dying(*given: Any, left: Iterator[int] = left) -> None:
            is_last = next(left, None) is None
            if is_late or not is_last:
                move(*given)
            if is_last:
                raise Killed

        sink.configure(**{"include.metadata": str(moves % 2 == 0).lower()})
        with monkeypatch.context() as patch:
            patch.setattr(FileSystemCommitter, "_move", dying)
            with pytest.raises(Killed):
                sink.backfill(4)
        assert sink.existing() == wanted, "each file is the earlier one or the new one"
        assert sink.marked() == [], "what is not whole is not marked"
        assert sink.backfill(4) == 0
        assert sink.existing() == wanted
        assert sink.marked() == ["hour=02", "hour=03"]
    assert staged(sink) == []


@each_dying
@pytest.mark.parametrize("is_inside", [False, True], ids=["file", "act"])
def test_a_driver_that_wakes_up_replaces_no_later_file(
    sink: HourlySink, kind: str, monkeypatch: pytest.MonkeyPatch, is_inside: bool
) -> None:
    """One sleeps before a file of its, or within its publication; meanwhile the hour is finished and made once more."""
    wanted = expected(sink)
    # Files of other contents than those that stand, so that they are published at all.
    sink.configure(**{"include.key": "true"})
    sleeper = sink.run_steps(hour(4), hour(3), "sleeper")
    while not isinstance(next(sleeper), fx.PublishTarget):
        pass
    place, name = ACTS[kind] if is_inside else (FileSystemCommitter, "_move")
    is_new = iter([True])

    def meanwhile(act: Callable[..., Any]) -> Callable[..., Any]:
        def asleep(*given: Any, **named: Any) -> Any:
            if next(is_new, False):
                assert sink.backfill(4) == 0
                sink.configure(**{"include.metadata": "true"})
                assert sink.backfill(4) == 1
            return act(*given, **named)

        return asleep

    with monkeypatch.context() as patch:
        patch.setattr(place, name, meanwhile(getattr(place, name)))
        with pytest.raises(ConnectError):
            next(sleeper)
    assert not next(is_new, False)
    found = contents(sink)
    assert [name for name, data in found.items() if name.endswith(".json") and b"_offset" not in data] == []
    assert sink.existing() == wanted
    assert sink.backfill(4) == 0
    assert staged(sink) == []

"""A sink's folder is swapped for a link after it was checked: nothing is written, or removed, where the link leads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from connect_core.connectors import link_free
from connect_core.connectors.file.sink import FileStreamSinkConnector, FileStreamSinkTask
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector, FileSystemSinkTask
from connect_core.connectors.staged_file import StagedFile
from connect_core.errors import ConnectError
from tests.connectors.contexts import DriverSide, SinkSide, interval_of, limits_of
from tests.connectors.file.test_sink import A0, records

pytestmark = pytest.mark.slow

PARQUET = (FileSystemSinkConnector, FileSystemSinkTask, {"path": "data/out"})
LINES = (FileStreamSinkConnector, FileStreamSinkTask, {"file": "data/out/lines.txt"})
Step = Callable[[], object]


class Sink:
    """An interval of a sink step by step, and the folder it may not touch."""

    def __init__(self, place: Path, kind: tuple[Any, Any, dict[str, str]]) -> None:
        connector, task, config = kind
        self.root, self.victim = place / "root", place / "victim"
        self.out = self.root / "data" / "out"
        self.out.mkdir(parents=True)
        self.victim.mkdir()
        self.interval = interval_of(A0)
        made = connector()
        made.initialize(DriverSide(limits_of(self.root), "copy"))
        made.start(config)
        self.committer = made.committer(config)
        self.task = task()
        self.task.initialize(SinkSide(limits_of(self.root), config, self.interval))
        self.task.start(config)

    def steps(self) -> Iterator[Step]:
        key = self.interval.key
        yield lambda: self.committer.fence(1)
        yield lambda: self.task.put(records(A0))
        staged = self.task.stage({A0.topic_partition: A0.end})
        yield lambda: self.committer.commit(key, staged)
        marker = self.committer.read_marker(key)
        yield lambda: self.committer.publish(key, marker)
        yield lambda: self.committer.sweep([])
        yield self.committer.release

    def swap(self, name: str) -> None:
        """Put a link to the victim in the place of a folder; the victim looks like what was there."""
        place = self.root / name
        place.rename(place.with_name("before"))
        place.symlink_to(self.victim)


@pytest.mark.parametrize("kind", [PARQUET, LINES], ids=["FileSystemSink", "FileStreamSink"])
@pytest.mark.parametrize("name", ["data", "data/out"])
@pytest.mark.parametrize("before", range(5))
def test_nothing_is_written_where_a_link_leads(
    tmp_path: Path, kind: tuple[Any, Any, dict[str, str]], name: str, before: int
) -> None:
    sink = Sink(tmp_path, kind)
    for number, step in enumerate(sink.steps()):
        if number < before:
            step()
            continue
        sink.swap(name)
        with suppress(ConnectError, FileNotFoundError):
            step()
            # Rows are held back by the task until they are staged.
            sink.task.stage({A0.topic_partition: A0.end})
        break
    assert list(sink.victim.rglob("*")) == []


def test_the_folders_replacement_is_named(tmp_path: Path) -> None:
    sink = Sink(tmp_path, PARQUET)
    sink.swap("data/out")
    with pytest.raises(ConnectError, match="out is a link or no longer a folder"):
        sink.committer.fence(1)


@contextmanager
def swapping(folder: Path, victim: Path) -> Iterator[None]:
    """Swap a folder and a link to the victim, as fast as can be."""
    link, kept, is_over = folder.with_name("link"), folder.with_name("kept"), threading.Event()
    link.symlink_to(victim)

    def swap() -> None:
        while not is_over.is_set():
            folder.rename(kept)
            link.rename(folder)
            folder.rename(link)
            kept.rename(folder)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_a_race_for_the_folder_is_lost_by_who_swaps_it(tmp_path: Path) -> None:
    folder, victim = tmp_path / "out", tmp_path / "victim"
    folder.mkdir()
    victim.mkdir()
    (victim / "precious").mkdir()
    with swapping(folder, victim):
        for number in range(2000):
            with suppress(ConnectError, FileNotFoundError):
                StagedFile(folder / f"{number}.lines").discard()
                link_free.rename(folder / f"{number}.lines", folder / f"{number}.txt")
                link_free.remove_tree(folder / "precious")
    assert [place.name for place in victim.iterdir()] == ["precious"]
    assert len(list(folder.iterdir())) > 0

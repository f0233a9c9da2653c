"""What the files of an interval are is asked of the target."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from connect_core.connectors.filesystem.sink.committer import FileSystemCommitter
from connect_core.errors import NotFoundError, RetriableError
from connect_core.herder.interval_files import FilesRequest, list_files
from tests.herder.exports import EXPORT, Export, world_of
from tests.herder.harness import Harness

pytestmark = pytest.mark.slow


@pytest.fixture
def export(harness: Harness, tmp_path: Path) -> Export:
    """Two intervals of a FileSystemSink: three rows in two files, and one in one."""
    made = Export(world_of(harness, tmp_path), tmp_path, {**EXPORT, "flush.size": "2"}).create()
    made.run([{"n": number} for number in range(3)])
    made.run([{"n": 4}])
    return made


def test_files_are_those_a_reader_finds(export: Export) -> None:
    found = list_files(export.harness.herder, "a", FilesRequest(1))
    first, second, _ = export.files()
    told = [(file.path, file.records, file.bytes) for file in found.files]
    assert told == [(str(first), 2, first.stat().st_size), (str(second), 1, second.stat().st_size)]
    assert (found.file_count, found.records, found.bytes) == (2, 3, sum(size for _, _, size in told))
    assert found.reason is None


def test_some_of_many_are_listed(export: Export) -> None:
    found = list_files(export.harness.herder, "a", FilesRequest(1, limit=1))
    assert (len(found.files), found.file_count, found.records) == (1, 2, 3)


def test_intervals_without_files_say_why(export: Export) -> None:
    herder = export.harness.herder
    with pytest.raises(NotFoundError, match="no interval 9"):
        list_files(herder, "a", FilesRequest(9))
    with pytest.raises(NotFoundError):
        list_files(herder, "nobody", FilesRequest(1))
    export.run([{"n": 5}], is_marked=False)
    assert list_files(herder, "a", FilesRequest(3)).reason == "The target keeps no list of files of this interval"


def test_a_target_that_hangs_holds_nobody_up(export: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    wake = threading.Event()
    monkeypatch.setattr(FileSystemCommitter, "read_marker", lambda *_: wake.wait(60))
    herder = export.harness.herder
    try:
        for _ in range(8):
            with pytest.raises(RetriableError, match=r"did not respond within 0\.01 s"):
                list_files(herder, "a", FilesRequest(1, seconds=0.01))
        with pytest.raises(RetriableError, match="8 lists of an interval's files are running: try again"):
            list_files(herder, "a", FilesRequest(1, seconds=0.01))
    finally:
        wake.set()

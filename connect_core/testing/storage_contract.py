"""The contract of FileSystemSink's storages."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from connect_core.connectors.filesystem.side_by_side import for_each
from connect_core.connectors.filesystem.storages import FileEntry, Held, SourceFiles, Staging, Storage
from connect_core.connectors.filesystem.storages.source_files import FileChangedError, FileGoneError
from connect_core.errors import ConnectError

__all__ = ["StorageContract"]


class StorageContract:
    """Tests of a storage: give ``storage``, ``listed`` and ``content``."""

    def storage(self, folder: Path) -> Storage:
        """Return an empty storage; called again with the same folder, another object for the same location."""
        raise NotImplementedError("storage(): return a storage that was opened")

    def listed(self, folder: Path) -> list[str]:
        """Return the names of the files that readers see, sorted, without those hidden below ``_connect``."""
        raise NotImplementedError("listed(): list the files as a reader does")

    def content(self, folder: Path, name: str) -> bytes:
        """Return the content of a visible file."""
        raise NotImplementedError("content(): read the file as a reader does")

    def source(self, folder: Path) -> SourceFiles | None:
        """Return the same location for reading; ``None`` if this storage is only written."""
        return None

    def staging(self, folder: Path) -> Staging:
        """Return the staged files of an interval."""
        storage = self.storage(folder)
        return storage.staging(storage.root / "_connect" / "+tmp" / "mine" / "1-1")

    def hold(self, folder: Path, data: bytes = b"data", name: str = "1-a/0", final: str = "") -> Held:
        """Write a file and leave it staged."""
        output = self.staging(folder).create(name, "t/p/f")
        output.write(data)
        assert output.tell() == len(data)
        held: Held = json.loads(json.dumps(output.finish(final)))
        assert held["size"] == len(data), "what is held must be JSON, and contain the size"
        return held

    def test_staged_file_is_invisible(self, tmp_path: Path) -> None:
        """Neither a finished nor an unfinished file is visible before publication."""
        self.hold(tmp_path)
        self.staging(tmp_path).create("1-a/1", "t/p/g").write(b"unfinished")
        assert self.listed(tmp_path) == []

    def test_files_are_published_side_by_side(self, tmp_path: Path) -> None:
        """As many threads as the storage allows may publish at once, and two of them the same file."""
        held = {f"t/p/{number}": self.hold(tmp_path, bytes([number]) * 9, f"1-a/{number}") for number in range(24)}
        storage = self.storage(tmp_path)
        staging = storage.staging(storage.root / "_connect" / "+tmp" / "mine" / "1-1")
        at_once = storage.requests_at_once
        for_each([*held] * min(2, at_once), at_once, lambda name: staging.publish(held[name], name))
        storage.settle(held.keys())
        for_each(["t/p", "t/q", "t"] * at_once, at_once, lambda folder: storage.mark(f"{folder}/_SUCCESS"))
        for_each(["t/p", "t/q"] * at_once, at_once, lambda folder: storage.unmark(f"{folder}/_SUCCESS"))
        assert self.listed(tmp_path) == sorted([*held, "t/_SUCCESS"])
        assert all(self.content(tmp_path, name) == bytes([int(name[4:])]) * 9 for name in held)

    @pytest.mark.parametrize("final", ["", "t/p/f"])
    @pytest.mark.parametrize("size", [0, 1, 100, 9_000_000])
    def test_published_file_is_whole(self, tmp_path: Path, size: int, final: str) -> None:
        """A file of any size can be published by another object, whether or not its final name was known."""
        data = bytes(range(256)) * (size // 256 + 1)
        held = self.hold(tmp_path, data[:size], final=final)
        assert self.listed(tmp_path) == []
        self.staging(tmp_path).publish(held, "t/p/f")
        self.storage(tmp_path).settle({"t/p/f"})
        assert self.listed(tmp_path) == ["t/p/f"]
        assert self.content(tmp_path, "t/p/f") == data[:size]

    def test_sealed_file_is_finished_later(self, tmp_path: Path) -> None:
        """A file may be sealed before the interval ends, while others are still written."""
        staging = self.staging(tmp_path)
        outputs = [staging.create(f"1-a/{number}", f"t/p/{number}") for number in range(3)]
        for number, output in enumerate(outputs):
            output.write(b"a" * number)
            output.seal()
        for number, output in enumerate(outputs):
            staging.publish(output.finish(f"t/p/{number}"), f"t/p/{number}")
            output.discard()
        assert [self.content(tmp_path, f"t/p/{number}") for number in range(3)] == [b"", b"a", b"aa"]

    @pytest.mark.parametrize("size", [4, 9_000_000])
    def test_publication_may_be_repeated(self, tmp_path: Path, size: int) -> None:
        """Idempotent: called again by a recovering driver."""
        held = self.hold(tmp_path, b"a" * size, final="t/p/f")
        for _ in range(3):
            self.staging(tmp_path).publish(held, "t/p/f")
        assert self.content(tmp_path, "t/p/f") == b"a" * size

    @pytest.mark.parametrize("final", ["", "t/p/f"])
    def test_publication_replaces(self, tmp_path: Path, final: str) -> None:
        """A range exported again replaces its file; a file staged in a folder removed since then replaces nothing."""
        storage, held, staging = self.storage(tmp_path), self.hold(tmp_path, final=final), self.staging(tmp_path)
        staging.publish(held, "t/p/f")
        assert storage.control.remove_tree(storage.root / "_connect" / "+tmp" / "mine" / "1-1")
        staging.publish(self.hold(tmp_path, b"newer", "2-b/0", final), "t/p/f")
        with pytest.raises(ConnectError) if storage.replaces else nullcontext():
            staging.publish(held, "t/p/f")
        assert (self.listed(tmp_path), self.content(tmp_path, "t/p/f")) == (["t/p/f"], b"newer")

    def test_final_name_may_be_another_than_expected(self, tmp_path: Path) -> None:
        """An interval that ends early has other bounds than planned, so its files have other names."""
        self.staging(tmp_path).publish(self.hold(tmp_path), "t/p/g")
        assert self.listed(tmp_path) == ["t/p/g"]

    def test_staged_file_can_be_read(self, tmp_path: Path) -> None:
        """The driver reads staged files to unite them."""
        with self.staging(tmp_path).open(self.hold(tmp_path)) as file:
            assert file.read() == b"data"

    def test_name_is_given_once(self, tmp_path: Path) -> None:
        """Two executions never write the same staged file."""
        held = self.hold(tmp_path)
        with pytest.raises(FileExistsError):
            self.hold(tmp_path, b"other")
        self.staging(tmp_path).publish(held, "t/p/f")
        assert self.content(tmp_path, "t/p/f") == b"data"

    @pytest.mark.parametrize("size", [4, 9_000_000])
    def test_lost_file_is_an_error(self, tmp_path: Path, size: int) -> None:
        """Publishing a file that is neither staged nor published fails, and nothing becomes visible."""
        held = self.hold(tmp_path, b"a" * size, final="t/p/f")
        storage = self.storage(tmp_path)
        storage.control.remove_tree(storage.root / "_connect" / "+tmp" / "mine" / "1-1")
        with pytest.raises(ConnectError):
            self.staging(tmp_path).publish(held, "t/p/f")
        assert self.listed(tmp_path) == []

    def test_marks_come_and_go(self, tmp_path: Path) -> None:
        """``_SUCCESS`` may be written and removed any number of times."""
        storage = self.storage(tmp_path)
        self.staging(tmp_path).publish(self.hold(tmp_path), "t/p/f")
        for _ in range(2):
            for _ in range(2):
                storage.mark("t/_SUCCESS")
                assert self.content(tmp_path, "t/_SUCCESS") == b""
            storage.unmark("t/_SUCCESS")
            storage.unmark("t/_SUCCESS")
            assert self.listed(tmp_path) == ["t/p/f"]

    def test_published_files_can_be_recounted(self, tmp_path: Path) -> None:
        """They are listed at any depth, and can be read from any position; staged and missing files are left out."""
        files = self.storage(tmp_path).published()
        if files is None:
            pytest.skip("published() is None: what this storage contains is not recounted")
        names = ["t/f", "t/p/f", "t/p/q/f", "tt/f"]
        data = bytes(range(256)) * 9000
        for number, name in enumerate(names):
            self.staging(tmp_path).publish(self.hold(tmp_path, data[: 1 + number * 700_000], f"1-a/{number}"), name)
        self.hold(tmp_path, b"staged", "1-a/staged")
        assert sorted(files.names("t")) == names[:3]
        assert list(files.names("nowhere")) == []
        assert [files.size(name) for name in (*names, "t/g")] == [1, 700_001, 1_400_001, 2_100_001, None]
        with files.open("tt/f") as file:
            assert file.seek(-3, 2) == 2_099_998
            assert file.read() == data[2_099_998:2_100_001]
            assert file.seek(1_000_000) == 1_000_000
            assert (file.read(5), file.tell()) == (data[1_000_000:1_000_005], 1_000_005)
            file.seek(0)
            assert file.read() == data[:2_100_001]
        with pytest.raises(FileNotFoundError):
            files.open("t/g").read()

    def test_first_proof_stands(self, tmp_path: Path) -> None:
        """If several create the same control file, the first one wins, and all get its content."""
        places = [self.storage(tmp_path).root / "_connect" / "mine" / name for name in ("a.json", "b.json")]
        for place in places:
            assert self.storage(tmp_path).control.read(place) is None
            made = [self.storage(tmp_path).control.create(place, {"n": number}) for number in range(3)]
            assert made == [{"n": 0}] * 3
        control = self.storage(tmp_path).control
        assert sorted(control.names(places[0].parent)) == ["a.json", "b.json"]
        for _ in range(2):
            control.remove(places[0])
        assert list(control.names(places[0].parent)) == ["b.json"]

    def test_no_name_leads_out_of_the_root(self, tmp_path: Path) -> None:
        """A name that leads out of the root is refused, even if a manifest contains it."""
        held = self.hold(tmp_path)
        with pytest.raises(ConnectError):
            self.staging(tmp_path).publish(held, "../outside")

    def test_source_lists_what_readers_see(self, tmp_path: Path) -> None:
        """Files are listed with sizes and versions, without hidden and staged ones."""
        source = self.source(tmp_path)
        if source is None:
            return
        assert list(source.listed()) == []
        for name, size in (("t/p/f", 4), ("t/é a+%41.txt", 9), ("t/_SUCCESS", 1), ("t/.x", 1), ("t/p/f.tmp", 1)):
            self._publish(tmp_path, name, b"a" * size)
        self.hold(tmp_path, name="2-b/0")
        found = sorted(source.listed(), key=lambda entry: entry.name)
        assert [(entry.name, entry.size) for entry in found] == [("t/p/f", 4), ("t/é a+%41.txt", 9)]
        assert {entry.version for entry in found} == {entry.version for entry in source.listed()}
        assert all(abs(time.time() - entry.modified / 1e9) < 600 for entry in found), "in nanoseconds since 1970"

    def test_source_reads_any_bytes(self, tmp_path: Path) -> None:
        """A file can be read from any position, and repeatedly."""
        source = self.source(tmp_path)
        if source is None:
            return
        data = bytes(range(256)) * 12_000
        self._publish(tmp_path, "t/p/f", data)
        (entry,) = source.listed()
        with source.open(entry) as file:
            for begin, length in ((0, 10), (2_900_000, 5), (1_000_000, 1_500_000), (len(data) - 3, 100), (7, 0)):
                file.seek(begin)
                assert file.read(length) == data[begin : begin + length]
            assert (file.seek(0), file.read()) == (0, data)
        source.check(entry)

    def test_source_tells_another_version(self, tmp_path: Path) -> None:
        """Reading a file that was replaced or removed since it was listed fails."""
        source = self.source(tmp_path)
        if source is None:
            return
        self._publish(tmp_path, "t/p/f", b"data")
        (entry,) = source.listed()
        self._publish(tmp_path, "t/p/f", b"newer", "2-b/0")
        with pytest.raises(FileChangedError):
            self._read(source, entry)
        (newer,) = source.listed()
        assert newer.version != entry.version
        assert self._read(source, newer) == b"newer"
        self.storage(tmp_path).unmark("t/p/f")
        with pytest.raises(FileGoneError):
            self._read(source, newer)

    def test_source_puts_files_away(self, tmp_path: Path) -> None:
        """Files are marked, deleted and, if the storage can, moved; repeating that changes nothing."""
        source = self.source(tmp_path)
        if source is None:
            return
        can = self.storage(tmp_path).after_commit
        for name in ("a/delete", "a/mark", "a/move"):
            self._publish(tmp_path, name, name.encode())
        entries = {entry.name[2:]: entry for entry in source.listed()}
        for _ in range(2):
            source.mark(entries["mark"])
            source.remove(entries["delete"])
            if "move" in can:
                source.move(entries["move"])
        moved = "_read/a/move" if "move" in can else "a/move"
        assert self.listed(tmp_path) == sorted(["a/_mark.read", "a/mark", moved])
        assert self.content(tmp_path, moved) == b"a/move"
        assert sorted(entry.name for entry in source.listed()) == ["a/mark", *(["a/move"] if "move" not in can else [])]

    def _publish(self, folder: Path, name: str, data: bytes, staged: str = "") -> None:
        held = self.hold(folder, data, staged or f"1-{name.replace('/', '-')}/0", name)
        self.staging(folder).publish(held, name)

    def _read(self, source: SourceFiles, entry: FileEntry) -> bytes:
        with source.open(entry) as file:
            data = file.read()
        source.check(entry)
        return data

"""What holds in every store, whatever it is: of storages, and of FileSystemSink's exports to them.

A test module has a fixture ``store`` and a class that inherits from each contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connect_core.connectors.filesystem.storages import SourceFiles, Storage
from connect_core.testing import StorageContract
from tests.connectors.filesystem.export import Crash, CrashingCommitter, Export, json_of, numbered
from tests.connectors.filesystem.storages.stores import FileStore

__all__ = ["ExportContract", "StoreContract", "StoreExport"]

_DRIVERS = 8
_TOPICS = ("../../etc", "_connect", "a/b", "x" * 249, "%2e%2e", "é\n", "a:b")
_VALUES = ("../../x", "a=b", "%2F", "Österreich", "", "x" * 1000, "*?[{#", "a:b", "a b\\c")


class StoreContract(StorageContract):
    """The contract of storages; a test's folder stands for one in the store."""

    @pytest.fixture(autouse=True)
    def _store(self, store: FileStore) -> None:
        self.file_store = store

    def storage(self, folder: Path) -> Storage:
        return self.file_store.open(folder.name)

    def source(self, folder: Path) -> SourceFiles:
        return self.file_store.open_source(folder.name)

    def listed(self, folder: Path) -> list[str]:
        return self.file_store.names(folder.name)

    def content(self, folder: Path, name: str) -> bytes:
        return self.file_store.content(folder.name, name)


class StoreExport(Export):
    """As ``Export``, in a store."""

    def __init__(self, store: FileStore, folder: Path, **config: str) -> None:
        super().__init__(folder, **{**store.config(folder.name), **config})
        self.file_store = store

    def files(self) -> list[str]:
        return [name for name in self.file_store.names(self.folder.name) if not name.endswith("_SUCCESS")]

    def rows(self, topic: str = "t") -> list[dict[str, Any]]:
        names = [name for name in self.files() if name.startswith(f"{topic}/")]
        tables = [pq.read_table(pa.BufferReader(self.file_store.content(self.folder.name, name))) for name in names]
        return [row for table in tables for row in table.to_pylist()]

    def staged(self) -> list[str]:
        return self.file_store.staged(self.folder.name)


class ExportContract:
    """Recovery, sweeping and names that were meant to do harm."""

    @pytest.fixture
    def export(self, store: FileStore, tmp_path: Path) -> StoreExport:
        return StoreExport(store, tmp_path)

    @pytest.mark.parametrize("steps", range(5))
    def test_recovery_after_a_crash_while_publishing(self, export: StoreExport, steps: int) -> None:
        records = [*numbered([{"a": 1}]), *numbered([{"b": 2}], partition=1), *numbered([{"c": 3}], "u")]
        interval = export.interval(records)
        healthy = export.committer()
        dying = CrashingCommitter("copy", healthy.layout, healthy.format)
        dying.left = steps
        marker = dying.commit(interval.key, json_of(export.stage(interval, records)))
        with pytest.raises(Crash):
            dying.publish(interval.key, marker)
        assert len(export.files()) == min(steps, 3)
        committer = export.committer(2)
        found = committer.read_marker(interval.key)
        assert found == marker
        committer.publish(interval.key, found)
        assert export.rows() == [{"a": 1, "b": None}, {"a": None, "b": 2}]
        assert export.rows("u") == [{"c": 3}]
        committer.sweep([])
        assert export.staged() == []
        # Nothing is staged any more, and what is in place is known again.
        committer.publish(interval.key, found)

    def test_sweeping_leaves_what_is_unfinished_and_nothing_else(self, export: StoreExport) -> None:
        export.run(numbered([{"a": 1}]))
        records = numbered([{"a": 2}])
        unfinished = export.interval(records, 2)
        export.stage(unfinished, records)
        task = export.task(unfinished)
        task.put(records)
        committer = export.committer()
        committer.sweep([])
        assert export.staged()
        committer.abandon(unfinished.key, None)
        committer.sweep([])
        assert export.staged() == []
        task.stop()
        assert export.rows() == [{"a": 1}]

    @pytest.mark.parametrize("topic", _TOPICS)
    def test_hostile_topics_stay_within_the_folder(self, export: StoreExport, topic: str) -> None:
        export.run(numbered([{"a": 1}], topic))
        (name,) = export.files()
        assert not name.startswith((".", "_"))

    @pytest.mark.parametrize("value", _VALUES)
    def test_hostile_values_read_back_equal(self, store: FileStore, tmp_path: Path, value: str) -> None:
        export = StoreExport(store, tmp_path, **{"partitioner": "field", "partition.field.name": "v"})
        export.run(numbered([{"v": value}]))
        assert export.rows() == [{"v": value}]

    def test_many_drivers_at_once_make_one_proof(self, store: FileStore, tmp_path: Path) -> None:
        def create(number: int) -> Mapping[str, Any]:
            storage = store.open(tmp_path.name)
            return storage.control.create(storage.root / "_connect" / "proof.json", {"n": number})

        with ThreadPoolExecutor(_DRIVERS) as pool:
            made = list(pool.map(create, range(_DRIVERS)))
        assert all(one == made[0] for one in made)

"""Finding the earlier export of a range among many manifests."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier
from typing import Any

from connect_core.api import IntervalKey, PartitionRange, Staged
from connect_core.connectors.control_folder import ControlFolder
from connect_core.connectors.control_store import LocalControlStore
from connect_core.connectors.filesystem.sink.replacing import existing
from connect_core.connectors.filesystem.storages.local.storage import LocalStorage

AT_ONCE = 8


class Together(LocalControlStore):
    """A store that answers only once eight read: it stands for one in which each request takes its time."""

    def __init__(self) -> None:
        self.barrier = Barrier(AT_ONCE)

    def read(self, place: Path) -> dict[str, Any] | None:
        self.barrier.wait(10)
        return super().read(place)


def test_manifests_of_a_store_are_read_side_by_side(tmp_path: Path) -> None:
    """The newest of the manifests that have the range counts, wherever they are."""
    storage = LocalStorage(tmp_path)
    storage.requests_at_once = AT_ONCE
    control = ControlFolder(tmp_path / "c", tmp_path / "tmp")
    places = [0, 1, *range(62), 1, *range(62, 125)]
    for sequence, place in enumerate(places, 1):
        part = Staged("t", 0, place * 10, place * 10 + 10, {})
        control.commit(IntervalKey("c", 1, sequence, 1), [part], {"files": []})
    slow = ControlFolder(tmp_path / "c", tmp_path / "tmp", store=Together())
    found = existing(slow, storage, [PartitionRange("t", 0, 0, 20)])
    assert [one.sequence for one in found.exported] == [3, 65]
    assert found.gaps == ()

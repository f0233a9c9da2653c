"""The production storage of a local folder and its control folder, one operation at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from connect_core.connectors.control_store import LocalControlStore
from connect_core.connectors.filesystem.storages.local.storage import LocalStaging, LocalStorage, _LocalOutput
from connect_core.connectors.filesystem.storages.storage import Held
from connect_core.connectors.link_free import make_folders
from tests.simulator.turns import turn

__all__ = ["TurningStorage"]


class TurningControl(LocalControlStore):
    """Proofs on disk; ``on_proof`` is told of each that comes to be, or that becomes another."""

    def __init__(self, on_proof: Callable[[Path, Mapping[str, Any]], None]) -> None:
        self._on_proof = on_proof

    def read(self, place: Path) -> dict[str, Any] | None:
        return turn(lambda: LocalControlStore.read(self, place))

    def create(self, place: Path, content: Mapping[str, Any]) -> dict[str, Any]:
        return turn(lambda: self._create(place, content))

    def _create(self, place: Path, content: Mapping[str, Any]) -> dict[str, Any]:
        # As a store of its own: within one operation nothing is handed over.
        store = LocalControlStore()
        before, existing = store.read(place), store.create(place, content)
        if store.read(place) != before:
            self._on_proof(place, existing)
        return existing

    def names(self, folder: Path) -> list[str]:
        return turn(lambda: LocalControlStore.names(self, folder))

    def remove(self, place: Path) -> None:
        turn(lambda: LocalControlStore.remove(self, place))

    def remove_tree(self, place: Path) -> bool:
        return turn(lambda: LocalControlStore.remove_tree(self, place))


class TurningStorage(LocalStorage):
    """A folder whose files are staged, renamed and marked; ``is_changed``: since somebody last looked."""

    def __init__(self, root: Path, on_proof: Callable[[Path, Mapping[str, Any]], None]) -> None:
        super().__init__(root)
        self.control = TurningControl(on_proof)
        self.is_changed = False

    def staging(self, folder: Path) -> TurningStaging:
        return TurningStaging(self, folder)

    def settle(self, names: Collection[str]) -> None:
        self.change(lambda: LocalStorage.settle(self, names))

    def mark(self, name: str) -> None:
        # In one turn with the look at the epoch before it: no storage makes a mark conditional on another file.
        self.is_changed = True
        super().mark(name)

    def unmark(self, name: str) -> None:
        self.is_changed = True
        super().unmark(name)

    def change(self, operation: Callable[[], Any]) -> Any:
        """Do one operation that readers may see."""
        self.is_changed = True
        return turn(operation)


class TurningStaging(LocalStaging):
    """Staged files, each of which is torn for a while."""

    storage: TurningStorage

    def create(self, name: str, expected: str) -> _TurningOutput:
        place = self.folder / name

        def create() -> _TurningOutput:
            make_folders(place.parent)
            return _TurningOutput(place, name)

        return turn(create)

    def open(self, held: Held) -> BinaryIO:
        return turn(lambda: LocalStaging.open(self, held))

    def publish(self, held: Held, final: str) -> None:
        self.storage.change(lambda: LocalStaging.publish(self, held, final))


class _TurningOutput(_LocalOutput):
    """A file of which one half is on disk while the other one is still to be written."""

    _rest = b""

    def write(self, data: bytes) -> int:
        # No turn here: Arrow's writers call this out of C++.
        self._rest += bytes(memoryview(data).cast("B"))
        return memoryview(data).nbytes

    def tell(self) -> int:
        return super().tell() + len(self._rest)

    def finish(self, final: str = "") -> Held:  # type: ignore[override]
        half = len(self._rest) // 2
        super().write(self._rest[:half])
        self._rest = self._rest[half:]

        def finish() -> Held:
            _LocalOutput.write(self, self._rest)
            self._rest = b""
            return _LocalOutput.finish(self, final)

        return turn(finish)

"""How a backfill's interval replaces the earlier export of its ranges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from connect_core.api.backfill import Backfill, ExistingExports, Exported
from connect_core.api.sink import CommitMarker, IntervalKey, PartitionRange
from connect_core.connectors.control_folder import ControlFolder
from connect_core.connectors.filesystem.partitioners import Partitioner
from connect_core.connectors.filesystem.side_by_side import for_each
from connect_core.connectors.filesystem.sink.exported import Found, newest_over
from connect_core.connectors.filesystem.sink.finished import SUCCESS, ends_of
from connect_core.connectors.filesystem.storages.storage import Storage
from connect_core.errors import DataError, RetriableError

__all__ = ["clear_staged", "existing", "marks", "refusal", "replacement"]

Files = Sequence[Mapping[str, Any]]
_READ_AHEAD = 4
"""How many manifests are read ahead for each request that may be sent at once."""


def refusal(storage: Storage, partitioner: Partitioner) -> str | None:
    """Return why a repeated export cannot replace the earlier one; ``None`` if it can."""
    if not storage.replaces:
        return f"files in {storage.root} cannot be replaced; backfill needs a storage whose class says replaces"
    if not partitioner.is_repeatable:
        return "its folders are named after the time of writing; set timestamp.extractor to Record or RecordField"
    return None


def existing(control: ControlFolder, storage: Storage, ranges: Sequence[PartitionRange]) -> ExistingExports:
    """Return the earlier export of these ranges."""
    found, gaps = newest_over(_markers(control, storage.requests_at_once), ranges)
    return ExistingExports(tuple(_exported(storage, *one) for one in found), gaps)


def clear_staged(control: ControlFolder, interval: IntervalKey) -> None:
    """Remove what earlier intervals have staged, before new files replace theirs.

    A driver that was thought dead then finds nothing that it could publish in place of a later file. Raises
    RetriableError if something cannot be removed.
    """
    if not control.sweep([interval]):
        raise RetriableError(
            f"What earlier intervals staged in {control.staging} cannot be removed yet: one is not published, or "
            "an upload is just starting; nothing is exported again until then"
        )


def replacement(
    control: ControlFolder, storage: Storage, ranges: Sequence[PartitionRange], files: Files
) -> dict[str, Any]:
    """Return what a manifest of these ranges and files adds: that it moves no position, and what it replaces.

    Raises DataError if an earlier file of these ranges would remain, as its records would be there twice.
    """
    found, _ = newest_over(_markers(control, storage.requests_at_once), ranges)
    earlier = sorted({file["name"] for _, _, marker in found for file in _files(marker)})
    present = {name for name, size in zip(earlier, _sizes(storage, earlier), strict=True) if size is not None}
    left = sorted(present - {file["name"] for file in files})
    if left:
        raise DataError(
            f"{storage.address(left[0])} would stay beside files of the same records ({len(left)} in all): the "
            "configuration gives other names than when it was exported. Set it as it was then, or move that file away"
        )
    return {"moves": False, "replaces": sorted(present)}


def marks(storage: Storage, partitioner: Partitioner, files: Files, backfill: Backfill) -> list[str]:
    """Return the folders by time that are finished afterwards: those that were before, and the backfill's."""
    before = partitioner.folder_at(backfill.since - 1)

    def is_own(folder: str, end: int) -> bool:
        is_begun_before = before is not None and f"/{folder}".endswith(f"/{before}")
        return backfill.is_last and backfill.since < end <= backfill.before and not is_begun_before

    def is_marked(folder: str) -> bool:
        return _size(storage, f"{folder}/{SUCCESS}") is not None

    ends = ends_of(files)
    return sorted(folder for folder, end in ends.items() if is_own(folder, end) or is_marked(folder))


def _markers(control: ControlFolder, at_once: int) -> Iterator[Found]:
    """Return the markers, the newest first; some are read at once, as the hours of a year have thousands."""
    places = control.intervals()
    while some := list(islice(places, at_once * _READ_AHEAD if at_once > 1 else 1)):
        for place, marker in zip(some, _read(control, some, at_once), strict=True):
            if marker is not None:
                yield *place, marker


def _read(control: ControlFolder, places: Sequence[tuple[int, int]], at_once: int) -> list[CommitMarker | None]:
    found: list[CommitMarker | None] = [None] * len(places)

    def read(at: int) -> None:
        found[at] = control.marker(IntervalKey("", *places[at], 0))

    for_each(range(len(places)), at_once, read)
    return found


def _exported(storage: Storage, incarnation: int, sequence: int, marker: CommitMarker) -> Exported:
    version = (marker.detail or {}).get("config_version")
    files = tuple(_files(marker))
    is_complete = version is not None and _sizes(storage, [one["name"] for one in files]) == [
        one["size"] for one in files
    ]
    return Exported(incarnation, sequence, marker.ranges or (), version, is_complete)


def _sizes(storage: Storage, names: Sequence[str]) -> list[int | None]:
    found: list[int | None] = [None] * len(names)

    def look(at: int) -> None:
        found[at] = _size(storage, names[at])

    for_each(range(len(names)), storage.requests_at_once, look)
    return found


def _size(storage: Storage, name: str) -> int | None:
    published = storage.published()
    return None if published is None else published.size(name)


def _files(marker: CommitMarker) -> Iterable[Mapping[str, Any]]:
    files: Iterable[Mapping[str, Any]] = (marker.detail or {}).get("files", ())
    return files

"""Determines which folders by time are finished when an interval is: those that a reader may take as complete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from connect_core.api.sink import IntervalKey, Staged
from connect_core.connectors.control_folder import ControlFolder

__all__ = ["SUCCESS", "ends_of", "folders_of", "left_open", "touched"]

SUCCESS = "_SUCCESS"

_LOOK_BACK = 1000
"""How many manifests without this information, of abandoned intervals, are skipped at most."""

Files = Iterable[Mapping[str, Any]]


def touched(files: Files) -> set[str]:
    """Return the folders by time that receive files."""
    return set(ends_of(files))


def ends_of(files: Files) -> dict[str, int]:
    """Return the ends of the folders by time that receive files, in milliseconds since 1970."""
    return {file["name"].rpartition("/")[0]: file["ends"] for file in files if file.get("ends") is not None}


def folders_of(
    control: ControlFolder, interval: IntervalKey, staged: Iterable[Staged], files: Files
) -> dict[str, Any] | None:
    """Return the folders that end by the interval's time, and the other ones with their ends.

    ``None`` if the interval has no end time. The folders that earlier intervals left open are in the last one's
    manifest.
    """
    bounds = [bound for part in staged if (bound := part.detail.get("bound")) is not None]
    if not bounds:
        return None
    known = {**left_open(control, interval), **ends_of(files)}
    finished = sorted(folder for folder, end in known.items() if end <= min(bounds))
    return {"finished": finished, "open": {folder: known[folder] for folder in sorted({*known} - {*finished})}}


def left_open(control: ControlFolder, interval: IntervalKey) -> dict[str, int]:
    """Return the folders that earlier intervals have left open, with their ends."""
    # Most often the interval before tells it. Listing the manifests of years takes a store minutes.
    before = _told(control, interval, interval.incarnation, interval.sequence - 1)
    if before is not None:
        return before
    last = control.last_interval()
    if last is None or last[0] > interval.incarnation:
        return {}
    incarnation, newest = last
    for sequence in range(newest, max(0, newest - _LOOK_BACK), -1):
        told = _told(control, interval, incarnation, sequence)
        if told is not None:
            return told
    return {}


def _told(control: ControlFolder, interval: IntervalKey, incarnation: int, sequence: int) -> dict[str, int] | None:
    """Return the folders that a manifest names as open, ``None`` if there is none that tells it."""
    marker = control.marker(IntervalKey(interval.connector, incarnation, sequence, interval.epoch))
    if marker is None or marker.is_foreign:
        return None
    folders = (marker.detail or {}).get("folders")
    return None if folders is None else dict(folders["open"])

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
    last = control.last_interval()
    if last is None or last[0] > interval.incarnation:
        return {}
    incarnation, newest = last
    for sequence in range(newest, max(0, newest - _LOOK_BACK), -1):
        marker = control.marker(IntervalKey(interval.connector, incarnation, sequence, interval.epoch))
        told = (marker.detail or {}).get("folders") if marker is not None and not marker.is_foreign else None
        if told is not None:
            return dict(told["open"])
    return {}

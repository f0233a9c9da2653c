"""Wrong protocols of FileSystemSink's committer, its control folder and its staged files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from connect_core.api.sink import CommitMarker, IntervalKey
from connect_core.connectors import staged_file
from connect_core.connectors.control_folder import ControlFolder
from connect_core.connectors.control_store import LocalControlStore
from connect_core.connectors.filesystem.sink import task as sink_task
from connect_core.connectors.filesystem.sink.committer import FileSystemCommitter
from connect_core.connectors.filesystem.sink.layout import Layout
from connect_core.connectors.filesystem.storages.local.storage import LocalStaging
from connect_core.connectors.link_free import make_folders, open_file, read_bytes, rename
from tests.simulator.chances import Plot
from tests.simulator.turns import turn
from tests.simulator.wrong import Patch, Wrong

__all__ = ["WRONG_FILES"]


def _publish_unproven(committer: Any, interval: IntervalKey, staged: Any) -> CommitMarker:
    """Move files to their final names, then create the manifest."""
    committer._control.check_epoch(interval.epoch)
    existing = committer._control.marker(interval)
    if existing is None:
        _, content = committer._content(interval, staged)
        staging = committer.layout.staging(committer._control, interval)
        for file in content["files"]:
            committer._move(staging, file)
    return _commit(committer, interval, staged)


_commit = FileSystemCommitter.commit


def _last_writer_wins(store: Any, place: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Replace a manifest that is there."""
    if place.suffix == ".json" and place.parent.name.isdigit():
        LocalControlStore.remove(store, place)
    return _create(store, place, content)


_create = LocalControlStore.create


def _staged_again(path: Any, name: Path) -> None:
    """Open a staged file whoever wrote it before: nothing says that a name is used up."""
    path.path = name
    path._descriptor = open_file(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    path._digest, path._size = hashlib.sha256(), 0


def _attempt_alone(attempt: str) -> str:
    """Stage under the attempt's name, however often Spark executes it."""
    return attempt


def _must_be_staged(staging: Any, held: Any, final: str) -> None:
    """Publish what is staged, and know nothing of a publication before."""
    place = staging.storage.place(final)
    staged_file.verify(staging.folder / held["staged"], held["size"], held["sha256"])
    make_folders(place.parent)
    rename(staging.folder / held["staged"], place)


def _copied(staging: Any, held: Any, final: str) -> None:
    """Write under the final name, in pieces, what is staged."""
    staged, place = staging.folder / held["staged"], staging.storage.place(final)
    content = read_bytes(staged)
    make_folders(place.parent)
    place.write_bytes(content[: len(content) // 2])
    turn(lambda: place.write_bytes(content))


def _swept_unkept(control: Any, keep: Any) -> bool:
    """Remove all that is staged, whatever a live interval still needs."""
    for name in control.store.names(control.staging):
        control.store.remove_tree(control.staging / name)
    return True


def _swept_never(control: Any, keep: Any) -> bool:
    """Keep all that was ever staged."""
    return True


def _said_before(committer: Any, interval: IntervalKey, marker: CommitMarker) -> None:
    """Record that all is in place, then move the files."""
    if marker.aborted or committer._control.is_published(interval):
        return
    committer._control.set_published(interval)
    for file in (marker.detail or {})["files"]:
        committer._move(committer.layout.staging(committer._control, interval), file)
    for home in {committer._home(file) for file in (marker.detail or {})["files"]}:
        committer._close(home)


def _marked_first(committer: Any, interval: IntervalKey, marker: CommitMarker) -> None:
    """Leave ``_SUCCESS`` in place while files are moved."""
    if marker.aborted or committer._control.is_published(interval):
        return
    for file in (marker.detail or {})["files"]:
        committer._move(committer.layout.staging(committer._control, interval), file)
    for home in {committer._home(file) for file in (marker.detail or {})["files"]}:
        committer._close(home)
    committer._control.set_published(interval)


def _unlooked(*arguments: Any) -> None:
    """Look at no epoch."""


def _same_names(layout: Any, topic: str, topic_id: str) -> Sequence[str]:
    """Give files of a recreated topic the names of the former one's."""
    return []


def _committed(control: Any, interval: IntervalKey, positions: Any) -> CommitMarker:
    """Write an abort mark over what is committed."""
    control.store.remove(control._place(interval, "json"))
    return _abandon(control, interval, positions)


_abandon = ControlFolder.abandon


def _wrong(*patches: Patch, plot: Plot = ()) -> Wrong:
    return Wrong("files", patches, plot, {"target": "folder"})


WRONG_FILES: Mapping[str, Wrong] = {
    "files moved before the manifest": _wrong((FileSystemCommitter, "commit", _publish_unproven)),
    "a manifest replaces the one that is there": _wrong((LocalControlStore, "create", _last_writer_wins)),
    "an abort mark replaces a manifest": _wrong((ControlFolder, "abandon", _committed)),
    "staged names shared by executions": _wrong(
        (sink_task, "execution_of", _attempt_alone), (staged_file.StagedFile, "__init__", _staged_again)
    ),
    "a second publication knows nothing of the first": _wrong((LocalStaging, "publish", _must_be_staged)),
    "files copied to their final names": _wrong((LocalStaging, "publish", _copied)),
    "staged files of a live interval swept": _wrong((ControlFolder, "sweep", _swept_unkept)),
    "staged files never swept": _wrong((ControlFolder, "sweep", _swept_never)),
    "published before the last file is moved": _wrong((FileSystemCommitter, "publish", _said_before)),
    "_SUCCESS stays while files are moved": _wrong((FileSystemCommitter, "publish", _marked_first)),
    # A driver sleeps while it publishes; it wakes while another one publishes a later interval.
    "no epoch looked at before _SUCCESS": _wrong(
        (FileSystemCommitter, "_check_epoch", _unlooked), plot=(("K8", "zombie"), ("K8", "revived"))
    ),
    "files of a recreated topic under the former's names": _wrong((Layout, "_recreated", _same_names)),
}
"""Name → the mistake."""

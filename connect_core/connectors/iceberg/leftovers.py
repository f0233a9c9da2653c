"""Removes files that lost attempts have left at a table's location."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Callable, Mapping
from typing import Any

from pyarrow.fs import FileSelector, FileType
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import Table

from connect_core.connectors.iceberg.file_lists import files_of_text
from connect_core.connectors.iceberg.upserts import REWRITE
from connect_core.connectors.lake.folders import Folders

__all__ = ["remove_leftovers"]

_LOG = logging.getLogger(__name__)


def remove_leftovers(table: Table, folders: Folders, decision: Mapping[str, Any], marker: Mapping[str, Any]) -> None:
    """Remove files of a decided interval that the decision does not name; if they cannot be listed, they are left.

    ``marker``: the newest interval that the table contains. Once it contains this one, its keys are no longer needed,
    and of the copies made for it only those that its snapshot names.
    """
    if not isinstance(table.io, PyArrowFileIO):
        return
    place = decision["incarnation"], decision["sequence"]
    contents = list(decision["tables"].values())
    named = {file.file_path for one in contents for part in one["lists"]
             for file in files_of_text(part["files"], part["spec"])}  # fmt: skip
    is_applied = marker.get("control") == decision["control"] and (marker["incarnation"], marker["sequence"]) >= place
    if not is_applied:
        named |= {one["file"] for content in contents for one in content.get("keys", ())}
    kept = {PyArrowFileIO.parse_location(one)[2] for one in named}
    try:
        _remove(table, folders.interval(*place), lambda found: [path for path in found.values() if path not in kept])
        if is_applied:
            known = _rewrites(table, marker)
            _remove(table, folders.rewritten(*place), lambda found: _lost_copies(found, known))
    except OSError as error:
        _LOG.info("What lost attempts have left of interval %s in %s stays there: %s", place, table.name(), error)


def _rewrites(table: Table, marker: Mapping[str, Any]) -> set[str]:
    """Return the folders of copies that snapshots name, and the newest interval that the table contains."""
    summaries = [one.summary.additional_properties for one in table.metadata.snapshots if one.summary is not None]
    return {str(told[REWRITE]) for told in summaries if REWRITE in told} | {str(marker.get("rewrite"))}


def _lost_copies(found: Mapping[str, str], known: set[str]) -> list[str]:
    """Return the copies of lost attempts; none if no snapshot names any of them: it has expired."""
    tokens = {name: name.partition("/")[0] for name in found}
    return [path for name, path in found.items() if tokens[name] not in known] if known & {*tokens.values()} else []


def _remove(table: Table, folder: str, lost: Callable[[Mapping[str, str]], list[str]]) -> None:
    """Remove what ``lost`` returns of the files in a folder, given by name within it. Raises OSError."""
    place = table.location_provider().new_data_location(folder)
    scheme, host, home = PyArrowFileIO.parse_location(place)
    system = table.io.fs_by_scheme(scheme, host)
    infos = system.get_file_info(FileSelector(home, recursive=True, allow_not_found=True))
    files = [info.path for info in infos if info.type is FileType.File]
    for path in lost({posixpath.relpath(path, home): path for path in files}):
        system.delete_file(path)

"""Removes files that lost attempts have left at a table's location."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from pyarrow.fs import FileSelector, FileType
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import Table

from connect_core.connectors.iceberg.file_lists import files_of_text
from connect_core.connectors.iceberg.upserts import REWRITE, rewritten_folder
from connect_core.connectors.path_names import escaped

__all__ = ["remove_leftovers"]

_LOG = logging.getLogger(__name__)


def remove_leftovers(table: Table, connector: str, decision: Mapping[str, Any], marker: Mapping[str, Any]) -> None:
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
    _remove_others(table, f"connect/{escaped(connector)}/{place[0]}-{place[1]}", named)
    rewrite = _rewrite(table, connector, place, marker) if is_applied else None
    if rewrite:
        _remove_others(table, rewritten_folder(connector, *place), set(), f"/{rewrite}/")


def _rewrite(table: Table, connector: str, place: tuple[int, int], marker: Mapping[str, Any]) -> str | None:
    """Return the folder of the copies that an interval's snapshot names; ``None``: none, or it has expired."""
    if (marker["incarnation"], marker["sequence"]) == place:
        return str(marker["rewrite"]) if "rewrite" in marker else None
    for snapshot in table.metadata.snapshots:
        told = {} if snapshot.summary is None else snapshot.summary.additional_properties
        found = told.get("connect-core.incarnation"), told.get("connect-core.sequence")
        if (
            told.get("connect-core.connector") == connector
            and found == (str(place[0]), str(place[1]))
            and REWRITE in told
        ):
            return str(told[REWRITE])
    return None


def _remove_others(table: Table, folder: str, named: set[str], part: str | None = None) -> None:
    """Remove the files of a folder except those named, and those with a part of their path."""
    place = table.location_provider().new_data_location(folder)
    scheme, host, path = PyArrowFileIO.parse_location(place)
    system = table.io.fs_by_scheme(scheme, host)
    kept = {PyArrowFileIO.parse_location(one)[2] for one in named}
    try:
        for info in system.get_file_info(FileSelector(path, recursive=True, allow_not_found=True)):
            if info.type is FileType.File and info.path not in kept and not (part and part in info.path):
                system.delete_file(info.path)
    except OSError as error:
        _LOG.info("What lost attempts have left in %s stays there: %s", place, error)

"""Removes files that lost attempts have left at a table's location."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from pyarrow.fs import FileSelector, FileType
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import Table

from connect_core.connectors.iceberg.file_lists import files_of_text
from connect_core.connectors.path_names import escaped

__all__ = ["remove_leftovers"]

_LOG = logging.getLogger(__name__)


def remove_leftovers(table: Table, connector: str, decision: Mapping[str, Any]) -> None:
    """Remove files of a decided interval that the decision does not name; if they cannot be listed, they are left."""
    if not isinstance(table.io, PyArrowFileIO):
        return
    folder = f"connect/{escaped(connector)}/{decision['incarnation']}-{decision['sequence']}"
    place = table.location_provider().new_data_location(folder)
    scheme, host, path = PyArrowFileIO.parse_location(place)
    system = table.io.fs_by_scheme(scheme, host)
    named = {
        PyArrowFileIO.parse_location(file.file_path)[2]
        for one in decision["tables"].values()
        for part in one["lists"]
        for file in files_of_text(part["files"], part["spec"])
    }
    try:
        found = system.get_file_info(FileSelector(path, recursive=True, allow_not_found=True))
        for info in found:
            if info.type is FileType.File and info.path not in named:
                system.delete_file(info.path)
    except OSError as error:
        _LOG.info("What lost attempts have left in %s stays there: %s", place, error)

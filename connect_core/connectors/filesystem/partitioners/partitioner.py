"""The folder of a record: the contract of partitioners."""

from __future__ import annotations

from abc import ABC, abstractmethod

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.connectors.filesystem.pluggable import Pluggable

__all__ = ["Partitioner", "constant"]


class Partitioner(Pluggable, ABC):
    """Assigns records to folders within their topic's folder. Used by one thread at a time."""

    @abstractmethod
    def folders(self, batch: Batch) -> pa.Array:
        """Return the folder of each record: strings, or a dictionary of them; parts with ``/`` between.

        ``batch``: records of one schema, read from one partition. The same record must always get the same folder,
        otherwise a range exported again does not replace its earlier files. No part is ``..`` or empty, is longer than
        255 bytes, or begins with ``_`` or ``.``, which listing readers skip. Raises DataError if some record has no
        folder; it is then called for each record separately.
        """

    def end_of(self, folder: str) -> int | None:
        """Return when the time of a folder returned by ``folders`` ends, in milliseconds since 1970.

        ``None``: the folder has no time.
        """
        return None

    def folder_at(self, millis: int) -> str | None:
        """Return the folder of a time, in milliseconds since 1970; ``None`` if folders have no time."""
        return None

    @property
    def keys(self) -> tuple[str, ...] | None:
        """The names in folders of the form ``name=value/name=value``, in order; ``None`` if it gives other folders."""
        return None

    @property
    def is_repeatable(self) -> bool:
        """Whether the same record always gets the same folder, so that a repeated export replaces its earlier files."""
        return True


def constant(folder: str, count: int) -> pa.Array:
    """Return one folder for ``count`` records."""
    zeros = pa.Array.from_buffers(pa.int32(), count, [None, pa.py_buffer(bytes(4 * count))])
    return pa.DictionaryArray.from_arrays(zeros, pa.array([folder]))

"""In which folder a record lies: the contract of partitioners."""

from __future__ import annotations

from abc import ABC, abstractmethod

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.connectors.filesystem.pluggable import Pluggable

__all__ = ["Partitioner", "constant"]


class Partitioner(Pluggable, ABC):
    """Shares records out to folders below their topic's. Used by one thread at a time."""

    @abstractmethod
    def folders(self, batch: Batch) -> pa.Array:
        """Return the folder of each record: strings, or a dictionary of them; parts with ``/`` between.

        ``batch``: records of one schema, read from one partition. The same record must always get the same folder,
        or a range exported again leaves its earlier files. No part is ``..`` or empty, is longer than 255 bytes, or
        begins with ``_`` or ``.``: listing readers skip such. Raises DataError where some record has no folder; it is
        then asked for each by itself.
        """

    def end_of(self, folder: str) -> int | None:
        """Return when the time of a folder that ``folders`` has named is over, in milliseconds since 1970.

        ``None``: it stands for no time.
        """
        return None

    def folder_at(self, millis: int) -> str | None:
        """Return the folder of a time, in milliseconds since 1970; ``None`` where folders stand for none."""
        return None

    @property
    def is_repeatable(self) -> bool:
        """Whether the same record always gets the same folder: what is exported again replaces its earlier files."""
        return True


def constant(folder: str, count: int) -> pa.Array:
    """Return one folder for so many records."""
    zeros = pa.Array.from_buffers(pa.int32(), count, [None, pa.py_buffer(bytes(4 * count))])
    return pa.DictionaryArray.from_arrays(zeros, pa.array([folder]))

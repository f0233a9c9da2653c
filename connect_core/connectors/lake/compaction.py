"""Which small data files of a table are merged, and when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, Range
from connect_core.errors import ConfigError

__all__ = ["Compaction", "compaction_of", "with_compaction"]

MIN_FILES = "compaction.min.files"
TARGET_BYTES = "compaction.target.bytes"

_FEWEST = 2
_SMALLEST_TARGET = 1024 * 1024
_TARGET = 128 * 1024 * 1024
_RUN_BYTES = 2 * 1024 * 1024 * 1024
"""How many bytes of files one run merges: a table that has never been compacted takes several runs."""

File = TypeVar("File")


@dataclass(frozen=True, slots=True)
class Compaction:
    """``least``: how many small files of one partition are merged; ``target``: the most bytes of a merged file."""

    least: int
    target: int

    def is_small(self, size: int) -> bool:
        """Return whether a file of so many bytes is merged: half the target is large enough to be left alone."""
        return size * 2 < self.target

    def groups(self, files: Iterable[tuple[str, int, File]]) -> list[list[File]]:
        """Return the files that become one, group by group. ``files``: partition, bytes and file, in the table's order.

        Partitions with fewer small files than ``least`` are left alone, and what is beyond 2 GiB for a later run.
        """
        partitions: dict[str, list[tuple[int, File]]] = {}
        for partition, size, file in files:
            if self.is_small(size):
                partitions.setdefault(partition, []).append((size, file))
        found: list[list[File]] = []
        total = 0
        for small in partitions.values():
            for group in self._filled(small) if len(small) >= self.least else ():
                total += sum(size for size, _ in group)
                if found and total > _RUN_BYTES:
                    return found
                found.append([file for _, file in group])
        return found

    def _filled(self, small: list[tuple[int, File]]) -> list[list[tuple[int, File]]]:
        """Fill one group after the other up to the target; a single file is no group."""
        groups: list[list[tuple[int, File]]] = [[]]
        for one in small:
            if sum(size for size, _ in groups[-1]) + one[0] > self.target:
                groups.append([])
            groups[-1].append(one)
        return [group for group in groups if len(group) >= _FEWEST]


def with_compaction(config: ConfigDef) -> ConfigDef:
    """Add the settings of compaction to those of a sink."""
    return config.define(
        MIN_FILES,
        ConfigType.INT,
        0,
        validator=Range.at_least(0),
        importance=Importance.MEDIUM,
        doc="At the end of a run, small files of a table are merged once a partition of it has so many, by a commit of "
        "their own that changes no row. 0: never.",
    ).define(
        TARGET_BYTES,
        ConfigType.LONG,
        _TARGET,
        validator=Range.at_least(_SMALLEST_TARGET),
        importance=Importance.LOW,
        doc="The size of merged files at most. Files of less than half of it are small.",
    )


def compaction_of(parsed: AbstractConfig) -> Compaction | None:
    """Return the settings, ``None`` if files are never merged. Raises ConfigError."""
    least = parsed.get_int(MIN_FILES) or 0
    if least == 1:
        raise ConfigError(MIN_FILES, "1", "one file has nothing to be merged with: set 2 or more, or 0 for never")
    return Compaction(least, parsed.get_long(TARGET_BYTES) or _TARGET) if least else None

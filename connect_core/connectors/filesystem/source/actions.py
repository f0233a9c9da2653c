"""What becomes of files that were read, once that is committed."""

from __future__ import annotations

from enum import Enum

from connect_core.connectors.filesystem.storages.source_files import FileEntry, SourceFiles

__all__ = ["AfterCommit"]


class AfterCommit(Enum):
    """Each may be repeated, as after a crash: the second time nothing changes."""

    LEAVE = "leave"
    MARK = "mark"
    MOVE = "move"
    DELETE = "delete"

    @property
    def removes(self) -> bool:
        """Whether files that were read are no longer listed."""
        return self in (AfterCommit.MOVE, AfterCommit.DELETE)

    def apply(self, files: SourceFiles, entry: FileEntry) -> None:
        """Do it. Raises RetriableError where the storage does not let it."""
        if self is AfterCommit.MARK:
            files.mark(entry)
        elif self is AfterCommit.MOVE:
            files.move(entry)
        elif self is AfterCommit.DELETE:
            files.remove(entry)

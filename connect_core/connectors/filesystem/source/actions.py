"""What happens to files once the reading of them is committed."""

from __future__ import annotations

from enum import Enum

from connect_core.connectors.filesystem.storages.source_files import FileEntry, SourceFiles

__all__ = ["AfterCommit"]


class AfterCommit(Enum):
    """Each action is idempotent: it may be repeated, for example after a crash."""

    LEAVE = "leave"
    MARK = "mark"
    MOVE = "move"
    DELETE = "delete"

    @property
    def removes(self) -> bool:
        """Whether files that were read are no longer listed."""
        return self in (AfterCommit.MOVE, AfterCommit.DELETE)

    def apply(self, files: SourceFiles, entry: FileEntry) -> None:
        """Carry out the action. Raises RetriableError if the storage refuses it."""
        if self is AfterCommit.MARK:
            files.mark(entry)
        elif self is AfterCommit.MOVE:
            files.move(entry)
        elif self is AfterCommit.DELETE:
            files.remove(entry)

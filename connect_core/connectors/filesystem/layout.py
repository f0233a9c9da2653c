"""Where files lie: names that are safe on disk whatever a topic or connector is called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from connect_core.api.records import TopicPartition
from connect_core.connectors.control_folder import ControlFolder
from connect_core.connectors.path_names import escaped
from connect_core.errors import DataError

__all__ = ["Layout"]


@dataclass(frozen=True, slots=True)
class Layout:
    """The tree under a connector's ``path``.

    ``<topic>/partition=<n>/<topic>+<n>+<start>+<end>.parquet`` is data;
    ``_connect`` holds manifests and staged files, which listing readers skip.
    """

    root: Path

    def control(self, connector: str) -> ControlFolder:
        """Return where a connector's epochs, manifests and staged files are."""
        folder, name = self.root / "_connect", escaped(connector)
        return ControlFolder(folder / name, folder / "+tmp" / name)

    def owner(self, topic: str) -> Path:
        """Return the file that names the one connector that writes a topic's folder."""
        return self.root / "_connect" / "+topics" / f"{escaped(topic)}.json"

    def owners(self) -> list[Path]:
        """Return the files that name owners, of all topics."""
        return sorted(self.owner("").parent.glob("*.json"))

    def topic_folder(self, topic: str) -> Path:
        """Return the folder of a topic's data."""
        return self.root / escaped(topic)

    def final_name(self, topic: str, read: TopicPartition, start: int, end: int) -> str:
        """Return a data file's path below the root: the same for the same range, for ever.

        ``topic`` is the one transforms left; ``read`` the partition the offsets
        belong to, so that topics routed into one folder keep apart.
        """
        name = f"{escaped(read.topic)}+{read.partition}+{start:020d}+{end:020d}.parquet"
        return f"{escaped(topic)}/partition={read.partition}/{name}"

    def place(self, name: str) -> Path:
        """Return the path of a final name. Raises DataError if it leaves the root."""
        place = self.root / name
        if ".." in place.parts or not place.resolve().is_relative_to(self.root.resolve()):
            raise DataError(f"{name} lies outside {self.root}: nothing is written there")
        return place

"""Where files lie: names that are safe on disk whatever a topic or connector is called."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from connect_core.api.sink import Staged
from connect_core.connectors.control_folder import ControlFolder, create_if_absent
from connect_core.connectors.link_free import make_folders
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

    def control(self, connector: str, deployment: str = "") -> ControlFolder:
        """Return where a connector's epochs, manifests and staged files are."""
        folder, name = self.root / "_connect", escaped(connector)
        return ControlFolder(folder / name, folder / "+tmp" / name, deployment=deployment)

    def owner(self, topic: str) -> Path:
        """Return the file that names the one connector that writes a topic's folder."""
        return self.root / "_connect" / "+topics" / f"{escaped(topic)}.json"

    def owners(self) -> list[Path]:
        """Return the files that name owners, of all topics."""
        return sorted(self.owner("").parent.glob("*.json"))

    def topic_folder(self, topic: str) -> Path:
        """Return the folder of a topic's data."""
        return self.root / escaped(topic)

    def final_name(self, topic: str, part: Staged) -> str:
        """Return a data file's path below the root: the same for the same range, for ever.

        ``topic`` is the one transforms left; ``part`` says what was read, so
        that topics routed into one folder keep apart.
        """
        offsets = f"{part.start:020d}+{part.end:020d}{self._recreated(part.topic, part.detail['topic_id'])}"
        return f"{escaped(topic)}/partition={part.partition}/{escaped(part.topic)}+{part.partition}+{offsets}.parquet"

    def place(self, name: str) -> Path:
        """Return the path of a final name. Raises DataError if it leaves the root."""
        place = self.root / name
        if ".." in place.parts or not place.resolve().is_relative_to(self.root.resolve()):
            raise DataError(f"{name} lies outside {self.root}: nothing is written there")
        return place

    def _recreated(self, topic: str, topic_id: str) -> str:
        """Return what keeps files of a topic apart from those of an earlier one of its name; nothing for the first.

        A topic that was deleted and created again has the same offsets with other records.
        """
        if not topic_id:
            return ""
        place = self.root / "_connect" / "+ids" / f"{escaped(topic)}.json"
        make_folders(place.parent)
        first = create_if_absent(place, {"topic_id": topic_id})["topic_id"]
        return "" if topic_id == first else f"+{sha256(topic_id.encode()).hexdigest()[:8]}"

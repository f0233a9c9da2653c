"""The locations of files: names that are safe on disk for any topic or connector name."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256
from pathlib import Path

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey
from connect_core.connectors.control_folder import ControlFolder
from connect_core.connectors.filesystem.sink.name_template import NameTemplate
from connect_core.connectors.filesystem.sink.staging.staged_file import FileKey
from connect_core.connectors.filesystem.storages.storage import Staging, Storage
from connect_core.connectors.path_names import escaped

__all__ = ["Layout", "Naming", "Offsets"]


class Offsets(Enum):
    """The offsets in names of files."""

    RANGE = "range"
    """The range [start, end) that was read: equal ranges have equal names, whether they have records or not."""
    FIRST = "first"
    """The offset of the first record in the file."""
    FIRST_LAST = "first-last"
    """The offsets of the first and of the last record."""


@dataclass(frozen=True, slots=True)
class Naming:
    """The naming of data files."""

    extension: str = "parquet"
    delimiter: str = "+"
    digits: int = 20
    folder: str = ""
    """The location of the topics' folders, relative to the root."""
    offsets: Offsets = Offsets.RANGE
    template: NameTemplate | None = None
    """Names files completely, in place of all of the above."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The folder tree of a connector's root.

    ``<topic>/<folder>/<topic>+<partition>+<start>+<end>.<extension>`` is data; ``_connect`` contains manifests and
    staged files, and is skipped by listing readers.
    """

    storage: Storage
    naming: Naming = Naming()
    _first_ids: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Cache of the first ids of topics, which never change."""

    def control(self, connector: str, deployment: str = "") -> ControlFolder:
        """Return the folder of a connector's epochs, manifests and staged files."""
        folder, name = self._hidden, escaped(connector)
        return ControlFolder(folder / name, folder / "+tmp" / name, deployment=deployment, store=self.storage.control)

    def staging(self, control: ControlFolder, interval: IntervalKey) -> Staging:
        """Return the staged files of an interval."""
        return self.storage.staging(control.attempt_folder(interval, ""))

    def owner(self, topic: str) -> Path:
        """Return the file that names the only connector that writes to a topic's folder."""
        name = f"{self.naming.folder}/{topic}" if self.naming.folder else topic
        return self._hidden / "+topics" / f"{escaped(name)}.json"

    def owners(self) -> list[Path]:
        """Return the files that name owners, for all topics."""
        folder = self._hidden / "+topics"
        return [folder / name for name in self.storage.control.names(folder) if name.endswith(".json")]

    def home(self, topic: str) -> str:
        """Return the folder of a topic's data, relative to the root."""
        if self.naming.template is not None:
            # Files named by a template do not share a folder for their topic.
            return f"_connect/+homes/{escaped(topic)}"
        return "/".join(filter(None, (self.naming.folder, escaped(topic))))

    def final_name(self, key: FileKey, read: TopicPartition, start: int, end: int, topic_id: str = "") -> str:
        """Return a data file's path, relative to the root: always the same for the same range.

        ``key.topic`` is the topic after transforms; ``read`` is the partition that was read, so that topics routed into
        one folder have different names.
        """
        first = start if key.first is None else key.first
        if self.naming.template is not None:
            name = self.naming.template.render(escaped(read.topic), read.partition, first, key.folder)
            return _with_suffix(name, self._recreated(read.topic, topic_id))
        last = end - 1 if key.last is None else key.last
        told = {Offsets.RANGE: (first, end), Offsets.FIRST: (first,), Offsets.FIRST_LAST: (first, last)}
        offsets = [f"{offset:0{self.naming.digits}d}" for offset in told[self.naming.offsets]]
        parts = [escaped(read.topic), str(read.partition), *offsets]
        name = self.naming.delimiter.join([*parts, *self._recreated(read.topic, topic_id)])
        return "/".join(filter(None, (self.home(key.topic), key.folder, f"{name}.{self.naming.extension}")))

    @property
    def _hidden(self) -> Path:
        return self.storage.root / "_connect"

    def _recreated(self, topic: str, topic_id: str) -> list[str]:
        """Return a suffix that distinguishes files of a recreated topic from the first one's; empty for the first.

        A topic that was deleted and created again has the same offsets with other records.
        """
        if not topic_id:
            return []
        if topic not in self._first_ids:
            place = self._hidden / "+ids" / f"{escaped(topic)}.json"
            self._first_ids[topic] = self.storage.control.create(place, {"topic_id": topic_id})["topic_id"]
        return [] if topic_id == self._first_ids[topic] else [sha256(topic_id.encode()).hexdigest()[:8]]


def _with_suffix(name: str, recreated: list[str]) -> str:
    """Return a name with the suffix of a recreated topic before its extensions."""
    folder, slash, last = name.rpartition("/")
    stem, point, endings = last.partition(".")
    return f"{folder}{slash}{'+'.join([stem, *recreated])}{point}{endings}"

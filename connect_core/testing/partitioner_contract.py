"""The contract of FileSystemSink's partitioners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import unquote

from connect_core.api.batch import Batch
from connect_core.api.records import SinkRecord
from connect_core.connectors.filesystem.partitioners import Partitioner
from connect_core.task.pipeline import columnar
from connect_core.testing.samples import ORDER_SCHEMA, orders, sink_records

__all__ = ["PartitionerContract"]

_HOSTILE = (
    "../../x",
    "..",
    ".",
    "_hidden",
    "/etc/passwd",
    "a/b",
    "=",
    "%2F",
    "",
    "Zoë",
    "日本",
    "x" * 1000,
    "\n",
    "\0",
)


class PartitionerContract:
    """Tests of a partitioner: ``class TestMine(PartitionerContract): partitioner = Mine``."""

    partitioner: ClassVar[type[Partitioner]]
    config: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def records(self) -> Sequence[SinkRecord]:
        """Return records of one schema and one partition that the partitioner accepts."""
        found = [one for one in sink_records(ORDER_SCHEMA, orders(10)) if one.value is not None]
        return [one for one in found if one.original_kafka_partition == found[0].original_kafka_partition]

    def hostile_records(self, text: str) -> Sequence[SinkRecord]:
        """Return records with a text that may become part of the folder; none if no text can."""
        return ()

    def made(self) -> Partitioner:
        """Return a configured partitioner."""
        made = self.partitioner()
        made.configure(dict(self.config))
        return made

    def folders(self, records: Sequence[SinkRecord]) -> list[str]:
        """Return the folder of each record."""
        found: list[str] = self.made().folders(Batch.from_records(records)).to_pylist()
        return found

    def test_settings_are_documented(self) -> None:
        """Every setting has a doc."""
        bare = [key.name for key in self.partitioner.definition.config_keys().values() if not (key.doc or "").strip()]
        assert bare == [], f"settings without doc: {bare}"

    def test_each_record_has_a_folder(self) -> None:
        """There are as many folders as records, each a path below the topic that readers see."""
        records = self.records()
        found = self.folders(records)
        assert len(found) == len(records)
        for folder in found:
            _check(folder)

    def test_keys_are_those_of_folders(self) -> None:
        """If the partitioner names the keys of its folders, every folder of a record with values has them, in order."""
        keys = self.made().keys
        for folder in self.folders(self.records()) if keys is not None else ():
            assert tuple(unquote(part.partition("=")[0]) for part in folder.split("/")) == keys

    def test_lanes_agree(self) -> None:
        """Records and columns of the same values have the same folders."""
        batch = columnar(Batch.from_records(self.records()))
        assert self.made().folders(batch).to_pylist() == self.folders(self.records())

    def test_folder_hangs_on_the_record_alone(self) -> None:
        """A record always has the same folder, alone or among others, so that exporting it again replaces its file."""
        records = self.records()
        assert [self.folders([record])[0] for record in records] == self.folders(records)

    def test_hostile_texts_stay_below_the_topic(self) -> None:
        """No text leads out of the topic's folder, makes a hidden folder or a name that is too long."""
        found: dict[str, Any] = {}
        for text in _HOSTILE:
            records = self.hostile_records(text)
            for folder in self.folders(records) if records else ():
                _check(folder)
                found.setdefault(folder, text)
                assert found[folder] == text, f"{found[folder]!r} and {text!r} have the same folder"


def _check(folder: str) -> None:
    for part in folder.split("/"):
        assert part, f"{folder!r} has an empty part"
        assert part[0] not in "._", f"{part!r} is hidden from readers that list folders"
        assert len(part.encode()) <= 255, f"{part!r} is too long for a name"
        assert "\0" not in part, f"{part!r} is not a name"

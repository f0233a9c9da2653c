"""The contract of FileSystemSink's file formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, ClassVar

from connect_core.api.batch import Batch
from connect_core.api.records import SinkRecord
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.columns import ColumnKinds, merge_columns, stored
from connect_core.connectors.filesystem.formats import Format
from connect_core.connectors.filesystem.rows import Rows
from connect_core.connectors.filesystem.storages import LocalStorage
from connect_core.connectors.filesystem.tables import table_of
from connect_core.task.pipeline import columnar
from connect_core.testing.samples import sink_records

__all__ = ["FormatContract"]


class FormatContract:
    """Tests of a format: ``class TestMine(FormatContract): format = Mine``. Give ``contents`` too."""

    format: ClassVar[type[Format]]
    config: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def contents(self, data: bytes) -> Any:
        """Return a file's contents, in a form that can be compared, read by another library than the format's own."""
        raise NotImplementedError("contents(): read the file with another library, and return its rows or lines")

    def records(self) -> Sequence[SinkRecord]:
        """Return records without a schema that the format accepts."""
        return sink_records(None, [{"id": 1, "name": "Zoë"}, {"id": 2, "name": None}, {"id": 3, "name": "x\n\"'"}])

    def more_records(self) -> Sequence[SinkRecord]:
        """Return records with a field that the others do not have."""
        return sink_records(None, [{"id": 4, "name": "y", "late": True}])

    def made(self) -> Format:
        """Return a configured format."""
        made = self.format()
        made.configure(dict(self.config))
        return made

    def test_settings_are_documented(self) -> None:
        """Every setting has a doc."""
        bare = [key.name for key in self.format.definition.config_keys().values() if not (key.doc or "").strip()]
        assert bare == [], f"settings without doc: {bare}"

    def test_extension_is_part_of_a_name(self) -> None:
        """It is a suffix of file names, without the leading dot and without path separators."""
        extension = self.made().extension
        assert extension
        assert not extension.startswith(".")
        assert "/" not in extension

    def test_rows_are_as_many_as_records(self) -> None:
        """Each record is one row, in both lanes."""
        made, batch = self.made(), Batch.from_records(self.records())
        for lane in (batch, columnar(batch)):
            assert made.rows(lane, Extras()).length == len(batch)

    def test_lanes_agree(self, tmp_path: Path) -> None:
        """Records and columns of the same values result in the same file."""
        batch = Batch.from_records(self.records())
        one, other = self._write(tmp_path / "records", batch), self._write(tmp_path / "columns", columnar(batch))
        assert self.contents(one) == self.contents(other)

    def test_writes_follow_each_other(self, tmp_path: Path) -> None:
        """Two writes result in the same file as one."""
        records = self.records()
        halves = [Batch.from_records(records[:1]), Batch.from_records(records[1:])]
        whole = self.contents(self._write(tmp_path / "whole", Batch.from_records(records)))
        assert self.contents(self._write(tmp_path / "halves", *halves)) == whole

    def test_parts_become_one_file(self, tmp_path: Path) -> None:
        """A file staged in parts, because a column was added late, is finally the same as one of a single part."""
        batches = [Batch.from_records(self.records()), Batch.from_records(self.more_records())]
        made = self.made()
        found = [made.rows(batch, Extras()) for batch in batches]
        columns = stored(merge_columns(found[0].columns, found[1].columns))
        files: list[tuple[BinaryIO, ColumnKinds]] = []
        for number, (batch, rows) in enumerate(zip(batches, found, strict=True)):
            files.append((BytesIO(self._write(tmp_path / str(number), batch)), stored(rows.columns)))
        output = LocalStorage(tmp_path).staging(tmp_path / "united").create("file", "final")
        made.unite(files, output, columns)
        output.finish()
        united = (tmp_path / "united" / "file").read_bytes()
        assert self.contents(united) == self.contents(self._write(tmp_path / "whole", *batches, columns=columns))

    def test_abandoned_file_is_left_alone(self, tmp_path: Path) -> None:
        """After abandon nothing is written, even when the writer is garbage-collected: its output is closed."""
        made, batch = self.made(), Batch.from_records(self.records())
        rows = made.rows(batch, Extras())
        output = LocalStorage(tmp_path).staging(tmp_path / "staged").create("file", "final")
        writer = made.open(output, stored(rows.columns))
        writer.write(_table(rows, stored(rows.columns)))
        writer.abandon()
        output.discard()
        before = (tmp_path / "staged" / "file").read_bytes()
        del writer
        assert (tmp_path / "staged" / "file").read_bytes() == before

    def _write(self, folder: Path, *batches: Batch, columns: ColumnKinds | None = None) -> bytes:
        made = self.made()
        found = [made.rows(batch, Extras()) for batch in batches]
        merged: ColumnKinds = ()
        for rows in found:
            merged = merge_columns(merged, rows.columns)
        wanted = stored(merged) if columns is None else columns
        output = LocalStorage(folder).staging(folder).create("file", "final")
        writer = made.open(output, wanted)
        for rows in found:
            writer.write(_table(rows, wanted))
        writer.close()
        held = output.finish()
        data = (folder / "file").read_bytes()
        assert held["size"] == len(data)
        return data


def _table(rows: Rows, columns: ColumnKinds) -> Any:
    return table_of([[array] for array in rows.cast(columns)], columns, rows.length)

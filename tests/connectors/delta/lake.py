"""A connector on Delta tables in a folder: tasks stage, the committer decides and appends."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.table import TableAlterer

from connect_core.connectors.delta.committer import DeltaCommitter
from connect_core.connectors.delta.sink import DeltaSinkConnector
from tests.connectors.lake.table_sink import TableSink, numbered

__all__ = ["Killed", "Lake", "killed_at", "numbered", "total"]


class Killed(BaseException):
    """A driver dies."""


@contextmanager
def killed_at(number: int, *, answers: bool) -> Iterator[None]:
    """Kill the driver at this commit of the block, from 1: before it, or after it with the answer lost."""
    commits: list[object] = []

    def dying(straight: Callable[..., None]) -> Callable[..., None]:
        def call(*args: Any, **kwargs: Any) -> None:
            commits.append(straight)
            is_here = len(commits) == number
            if is_here and not answers:
                raise Killed
            straight(*args, **kwargs)
            if is_here:
                raise Killed

        return call

    with pytest.MonkeyPatch.context() as patched, suppress(Killed):
        patched.setattr(DeltaTable, "create_write_transaction", dying(DeltaTable.create_write_transaction))
        patched.setattr(TableAlterer, "set_table_properties", dying(TableAlterer.set_table_properties))
        yield


class Lake(TableSink):
    """One that writes below the folder ``lake``."""

    kind = DeltaSinkConnector

    def __init__(self, folder: Path, deployment: str = "here") -> None:
        super().__init__(folder, {"path": "lake"}, deployment=deployment)

    def committer(self, epoch: int = 1) -> DeltaCommitter:
        return self.fenced(DeltaCommitter, epoch)

    def table(self, name: str = "t") -> DeltaTable:
        return DeltaTable(str(self.folder / "lake" / name))

    def rows(self, name: str = "t") -> list[dict[str, Any]]:
        return list(self.table(name).to_pyarrow_table().to_pylist())

    def data_files(self) -> list[Path]:
        files = (self.folder / "lake").rglob("*.parquet")
        return sorted(place for place in files if "_delta_log" not in place.parts)

    def append_again(self) -> None:
        write_deltalake(self.table(), self.table().to_pyarrow_table(), mode="append")

    def create(self, columns: pa.Schema) -> None:
        DeltaTable.create(str(self.folder / "lake" / "t"), columns)

    def drop(self) -> None:
        shutil.rmtree(self.folder / "lake" / "t")


def total(lake: Lake, name: str, column: str) -> Any:
    """Return what DuckDB says of the files that the table's log names."""
    files = lake.table(name).file_uris()
    return duckdb.execute(f"select sum({column}) from read_parquet({files!r})").fetchall()[0][0]

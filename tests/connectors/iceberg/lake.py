"""A connector on a catalog of SQLite: tasks stage, the committer decides and appends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from connect_core.connectors.iceberg.committer import IcebergCommitter
from connect_core.connectors.iceberg.sink import IcebergSinkConnector
from tests.connectors.lake.table_sink import TableSink, numbered

__all__ = ["CONFIG", "Lake", "numbered"]

CONFIG = {
    "iceberg.tables": "db.orders",
    "iceberg.catalog.uri": "sqlite:///catalog.db",
    "iceberg.catalog.warehouse": "warehouse",
    "iceberg.tables.auto-create-enabled": "true",
    "iceberg.tables.evolve-schema-enabled": "true",
}


class Lake(TableSink):
    """One that writes the table ``db.orders``."""

    kind = IcebergSinkConnector

    def __init__(self, folder: Path, name: str = "copy", deployment: str = "here", **config: str) -> None:
        changes = {key.replace("__", "."): value for key, value in config.items()}
        super().__init__(folder, {**CONFIG, **changes}, name, deployment)

    def committer(self, epoch: int = 1) -> IcebergCommitter:
        return self.fenced(IcebergCommitter, epoch)

    @property
    def catalog(self) -> SqlCatalog:
        place = self.folder.resolve()
        return SqlCatalog("iceberg", uri=f"sqlite:///{place}/catalog.db", warehouse=f"file://{place}/warehouse")

    def table(self, name: str | tuple[str, ...] = "db.orders") -> Table:
        return self.catalog.load_table(name)

    def rows(self, name: str | tuple[str, ...] = "db.orders") -> list[dict[str, Any]]:
        return list(self.table(name).scan().to_arrow().to_pylist())

    def types(self, name: str = "db.orders") -> dict[str, str]:
        return {field.name: str(field.field_type) for field in self.table(name).schema().fields}

    def data_files(self) -> list[Path]:
        return sorted((self.folder / "warehouse").rglob("*.parquet"))

    def append_again(self) -> None:
        self.table().append(self.table().scan().to_arrow())

    def create(self, columns: pa.Schema) -> None:
        self.catalog.create_namespace_if_not_exists("db")
        self.catalog.create_table("db.orders", columns)

    def drop(self) -> None:
        self.catalog.drop_table("db.orders")

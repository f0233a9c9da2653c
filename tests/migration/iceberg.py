"""Iceberg tables that Apache's sink writes in a Connect cluster and ours here, in a catalog in PostgreSQL."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import NoSuchTableError

from tests.connectors.jdbc.clusters import Cluster
from tests.java_plugins.apache_iceberg import APACHE

__all__ = ["Lake"]

COMMIT_MILLIS = 2000


@dataclass(frozen=True)
class Lake:
    """The tables; a login of their own, ``lake``, owns the catalog."""

    database: Cluster
    warehouse: Path

    def create(self) -> None:
        """Create the login and, as it, the catalog: readers who come before the sink would own its tables."""
        self.database.execute("CREATE ROLE lake LOGIN PASSWORD 'lake'")
        self.database.execute("GRANT CREATE ON SCHEMA public TO lake")
        self.catalog()

    def sink(self, topic: str, table: str, **more: str) -> dict[str, str]:
        """Return the configuration of a sink of records with a column ``line``, for both sides."""
        return {
            "connector.class": APACHE,
            "topics": topic,
            "consumer.override.auto.offset.reset": "earliest",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "iceberg.tables": table,
            "iceberg.tables.auto-create-enabled": "true",
            "iceberg.control.commit.interval-ms": str(COMMIT_MILLIS),
            "iceberg.control.commit.timeout-ms": "5000",
            "iceberg.catalog.type": "jdbc",
            "iceberg.catalog.uri": f"jdbc:postgresql://127.0.0.1:{self.database.port}/postgres",
            "iceberg.catalog.jdbc.user": "lake",
            "iceberg.catalog.jdbc.password": "lake",
            "iceberg.catalog.jdbc.schema-version": "V1",
            "iceberg.catalog.warehouse": f"file://{self.warehouse}",
            **more,
        }

    def catalog(self) -> Catalog:
        uri = f"postgresql+psycopg://lake:lake@127.0.0.1:{self.database.port}/postgres"
        return load_catalog("iceberg", type="sql", uri=uri, warehouse=f"file://{self.warehouse}")

    def lines(self, table: str) -> Counter[int]:
        """Return how often each line is in a table, as pyiceberg reads it."""
        try:
            found = self.catalog().load_table(table)
        except NoSuchTableError:
            return Counter()
        return Counter(int(line) for line in found.scan(selected_fields=("line",)).to_arrow()["line"].to_pylist())

    def refuse_commits(self) -> None:
        """Let every commit to a table fail."""
        self.database.execute("REVOKE UPDATE ON iceberg_tables FROM lake")

    def permit_commits(self) -> None:
        self.database.execute("GRANT UPDATE ON iceberg_tables TO lake")

"""The driver's side of the marker: fences the target and reads its positions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from sqlalchemy import Connection, Table
from sqlalchemy.schema import CreateTable

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, IntervalKey, Staged
from connect_core.connectors.jdbc.catalog import TableName
from connect_core.connectors.jdbc.connection import JdbcDatabase
from connect_core.connectors.jdbc.sink.config import OFFSETS_TABLE
from connect_core.connectors.jdbc.sink.offsets import (
    OffsetsTable,
    Owner,
    claim,
    fence,
    forget,
    read_positions,
    set_positions,
)
from connect_core.connectors.jdbc.sink.tables import create_if_absent
from connect_core.errors import ConfigError, ConnectError

__all__ = ["JdbcSinkCommitter"]


class JdbcSinkCommitter:
    """Tasks commit rows and positions together themselves; the committer reads, fences and moves positions."""

    def __init__(self, connector: str, deployment: str, database: JdbcDatabase, own: OffsetsTable) -> None:
        self._connector = connector
        self._deployment = deployment
        self._database = database
        self._own = own
        self._has_tables = False

    def fence(self, epoch: int) -> Mapping[TopicPartition, int]:
        """Stop older epochs → the positions. Raises StaleEpochError, or ConfigError if another deployment owns them."""
        self._create_tables()
        with self._database.begin() as connection:
            return self._fenced(connection, Owner(self._connector, epoch, ""))

    def last_interval(self) -> None:
        """Return ``None``: no interval has a marker of its own."""

    def read_marker(self, interval: IntervalKey) -> CommitMarker | None:
        """Return ``None``: positions are the marker, and an interval is continued from them."""
        return None

    def commit(self, interval: IntervalKey, staged: Sequence[Staged]) -> CommitMarker:
        """Return the target's positions: the tasks have committed. Raises ConnectError if one has not."""
        marker = CommitMarker(self._positions())
        for part in staged:
            place = TopicPartition(part.topic, part.partition)
            if part.start < part.end and marker.positions.get(place, part.start) < part.end:
                raise ConnectError(f"{place} is at {marker.positions.get(place)} in the target, not at {part.end}")
        return marker

    def publish(self, interval: IntervalKey, marker: CommitMarker) -> None:
        """Do nothing: what is committed is visible."""

    def abandon(self, interval: IntervalKey, positions: Mapping[TopicPartition, int | None] | None) -> CommitMarker:
        """Move positions, under the epoch that fenced the target."""
        owner = Owner(self._connector, interval.epoch, "")
        self._create_tables()
        with self._database.begin() as connection:
            self._fenced(connection, owner)
            set_positions(connection, self._own.offsets, owner, positions or {})
            return CommitMarker(read_positions(connection, self._own.offsets, self._connector), aborted=True)

    def sweep(self, keep: Collection[IntervalKey]) -> None:
        """Do nothing: the database has rolled back what was not committed."""

    def release(self) -> None:
        """Remove the positions of a deleted connector; its epoch is kept."""
        self._create_tables()
        with self._database.begin() as connection:
            forget(connection, self._own.offsets, self._connector)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _fenced(self, connection: Connection, owner: Owner) -> dict[TopicPartition, int]:
        """Fence, unless another deployment owns the positions: then the transaction is rolled back."""
        positions = fence(connection, self._own.offsets, owner)
        whose = claim(connection, self._own.offsets, owner, self._deployment) if self._deployment else ""
        if whose != self._deployment:
            name = self._own.offsets.fullname
            raise ConfigError(
                OFFSETS_TABLE,
                name,
                f"it holds the positions of a connector {self._connector} of the deployment {whose} (this one is "
                f"{self._deployment}); name another table, give the connector another name, or delete it there (or, if "
                f"that deployment is permanently lost, the row of {name} with kafka_topic='deployment:{whose}')",
            )
        return positions

    def _positions(self) -> dict[TopicPartition, int]:
        with self._database.connect() as connection:
            return read_positions(connection, self._own.offsets, self._connector)

    def _create_tables(self) -> None:
        """Create the missing tables. This is checked once."""
        if self._has_tables:
            return
        with self._database.connect() as connection:
            for table in (self._own.offsets, self._own.schemas):
                self._create(connection, table)
        self._has_tables = True

    def _create(self, connection: Connection, table: Table) -> None:
        name = TableName(table.schema, table.name)
        found = self._database.dialect.table(connection, name)
        missing = set(table.c.keys()) - {column.name for column in found.columns} if found else set()
        if missing:
            raise ConfigError(
                OFFSETS_TABLE, str(name), f"this table exists and has no column {min(missing)}; choose another name"
            )
        if found is None:
            statement = str(CreateTable(table).compile(dialect=connection.dialect))
            create_if_absent(connection, statement, partial(self._exists, name))

    def _exists(self, name: TableName) -> bool:
        with self._database.connect() as connection:
            return self._database.dialect.table(connection, name) is not None

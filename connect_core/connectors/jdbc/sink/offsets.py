"""Positions stored in the target: the marker of the sink's exactly-once (plan/README.md#targets).

The table has one row per topic partition, one row of the connector itself (without a topic) whose epoch covers
partitions that have no row yet, and one that names the deployment (``deployment:…``, which is not a valid topic name):
positions of another deployment's connector of the same name are not trusted. A task's transaction moves its rows first,
on two conditions: they have the offset at which the task began, and no newer epoch was written. Whether it succeeded is
read back, as not every driver returns the number of rows that an update found; ``attempt`` names the transaction that
moved a position, so that no other one mistakes its success for its own.

Moving first also proves that an earlier transaction is over: it locks the rows of its positions until it ends, so that
the next transaction to move them either waits for its end (PostgreSQL, MariaDB, MySQL, SQLite) or makes its COMMIT fail
as the later of two conflicting ones (DuckDB and others that do not lock).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError
from sqlalchemy.types import TypeEngine

from connect_core.api.data import STRING_SCHEMA, Schema
from connect_core.api.records import TopicPartition
from connect_core.connectors.jdbc.catalog import TableName
from connect_core.errors import RetriableError, StaleEpochError

__all__ = [
    "Moves",
    "OffsetsTable",
    "Owner",
    "claim",
    "fence",
    "forget",
    "is_at",
    "move",
    "offsets_table",
    "read_positions",
    "set_positions",
]

_NO_TOPIC, _NO_PARTITION = "", -1
"""The connector's own row: no topic can have this name."""

_DEPLOYMENT = "deployment:"

_NONCE_MARK, _NONCE_LETTERS = "/", 16


@dataclass(frozen=True, slots=True)
class Owner:
    """Who moves positions: the connector, the epoch it plans under, and this attempt.

    Spark may execute one attempt more than once, side by side, and one execution may begin further transactions:
    ``transaction`` identifies exactly one of them.
    """

    connector: str
    epoch: int
    attempt: str
    transaction: str = field(default_factory=lambda: uuid.uuid4().hex[:_NONCE_LETTERS])

    def renewed(self) -> Owner:
        """Return the same owner with a new transaction."""
        return replace(self, transaction=uuid.uuid4().hex[:_NONCE_LETTERS])

    @property
    def marker(self) -> str:
        """The value that identifies, in a position's row, the transaction that moved it."""
        return f"{self.attempt}{_NONCE_MARK}{self.transaction}"

    def is_sibling(self, marker: str) -> bool:
        """Return whether another transaction of the same attempt wrote this marker."""
        return marker != self.marker and marker.rpartition(_NONCE_MARK)[0] == self.attempt


Moves = Mapping[TopicPartition, tuple[int, int]]
"""Positions by partition: the required start and the new position."""


@dataclass(frozen=True, slots=True)
class OffsetsTable:
    """The sink's own two tables in the target."""

    offsets: sa.Table
    schemas: sa.Table


def offsets_table(name: TableName, column_type: Callable[[Schema, bool], TypeEngine[Any]]) -> OffsetsTable:
    """Return the tables; ``column_type`` is the dialect's."""
    key_text = column_type(STRING_SCHEMA, True)
    offsets = sa.Table(
        name.name,
        sa.MetaData(),
        sa.Column("connector", key_text, primary_key=True),
        sa.Column("kafka_topic", key_text, primary_key=True),
        sa.Column("kafka_partition", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kafka_offset", sa.BigInteger, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("attempt", sa.String(100), nullable=False),
        schema=name.schema,
    )
    schemas = sa.Table(
        f"{name.name}_schemas",
        sa.MetaData(),
        sa.Column("connector", key_text, primary_key=True),
        sa.Column("table_name", key_text, primary_key=True),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("arrow_schema", sa.Text, nullable=False),
        schema=name.schema,
    )
    return OffsetsTable(offsets, schemas)


def fence(connection: Connection, table: sa.Table, owner: Owner) -> dict[TopicPartition, int]:
    """Prevent older epochs from moving positions → the positions.

    Raises StaleEpochError with the newer epoch, and RetriableError if the connector's first fence commits meanwhile:
    that of an earlier try whose COMMIT was thought lost.
    """
    mine = table.c.connector == owner.connector
    own_row = mine & (table.c.kafka_topic == _NO_TOPIC)
    if connection.execute(sa.select(table.c.epoch).where(own_row)).first() is None:
        _add_connector(connection, table, owner)
    raised = {"epoch": owner.epoch}
    # The connector's row first, in a separate statement: it waits for a transaction that is adding a partition, so that
    # the second statement sees the added row.
    connection.execute(table.update().where(own_row & (table.c.epoch < owner.epoch)).values(raised))
    connection.execute(table.update().where(mine & (table.c.epoch < owner.epoch)).values(raised))
    newest = connection.execute(sa.select(sa.func.max(table.c.epoch)).where(mine)).scalar_one()
    if newest > owner.epoch:
        raise _stale(owner, newest)
    return read_positions(connection, table, owner.connector)


def _add_connector(connection: Connection, table: sa.Table, owner: Owner) -> None:
    try:
        connection.execute(table.insert(), [_row(owner, TopicPartition(_NO_TOPIC, _NO_PARTITION), 0)])
    except IntegrityError as error:
        # Waited for the other transaction, which has committed: the next try finds its row.
        told = f"Another transaction has added connector {owner.connector} to {table.fullname} at the same time"
        raise RetriableError(told) from error


def read_positions(connection: Connection, table: sa.Table, connector: str) -> dict[TopicPartition, int]:
    """Return the connector's positions."""
    columns = (table.c.kafka_topic, table.c.kafka_partition, table.c.kafka_offset)
    found = connection.execute(sa.select(*columns).where(table.c.connector == connector))
    return {TopicPartition(topic, part): offset for topic, part, offset in found if part != _NO_PARTITION}


def claim(connection: Connection, table: sa.Table, owner: Owner, deployment: str) -> str:
    """Record the owning deployment, unless one is recorded → the owning deployment. Call ``fence`` before.

    The connector's row is locked meanwhile: of two deployments that begin at once, the second one sees the first.
    """
    own_row = _of(table, owner.connector, TopicPartition(_NO_TOPIC, _NO_PARTITION))
    connection.execute(table.update().where(own_row).values(kafka_offset=0))
    topics = sa.select(table.c.kafka_topic).where(
        (table.c.connector == owner.connector) & (table.c.kafka_partition == _NO_PARTITION)
    )
    said = [topic for topic in connection.execute(topics).scalars() if topic.startswith(_DEPLOYMENT)]
    if said:
        return str(said[0]).removeprefix(_DEPLOYMENT)
    connection.execute(table.insert(), [_row(owner, TopicPartition(f"{_DEPLOYMENT}{deployment}", _NO_PARTITION), 0)])
    return deployment


def move(connection: Connection, table: sa.Table, owner: Owner, moves: Moves) -> bool:
    """Move positions from (expected start) to (end), all or none by the caller's transaction.

    Returns false if another transaction of this attempt, an earlier try or a second execution of the task, has
    committed all of it: then write no rows, and roll back. Raises StaleEpochError if another attempt or a newer epoch
    was faster, or the target was set back before the start.
    """
    for part, (start, end) in sorted(moves.items()):
        row = _of(table, owner.connector, part)
        found = connection.execute(sa.select(table.c.kafka_offset).where(row)).first()
        if found is None:
            _add(connection, table, owner, part, (start, end))
        else:
            allowed = row & (table.c.kafka_offset == start) & (table.c.epoch <= owner.epoch)
            values = {"kafka_offset": end, "epoch": owner.epoch, "attempt": owner.marker}
            connection.execute(table.update().where(allowed).values(values))
        if not is_at(connection, table, owner, {part: end}):
            if _is_done(connection, table, owner, moves):
                return False
            raise _overtaken(connection, table, owner, part, start)
    return True


def is_at(connection: Connection, table: sa.Table, owner: Owner, ends: Mapping[TopicPartition, int]) -> bool:
    """Return whether exactly this transaction has moved all these positions."""
    return all(
        _current(connection, table, owner.connector, part) == (end, owner.epoch, owner.marker)
        for part, end in ends.items()
    )


def _is_done(connection: Connection, table: sa.Table, owner: Owner, moves: Moves) -> bool:
    """Return whether other transactions of this attempt have reached or passed all these ends."""
    found = [(_current(connection, table, owner.connector, part), end) for part, (_, end) in moves.items()]
    return all(
        row is not None and row[0] >= end and row[1] == owner.epoch and owner.is_sibling(row[2]) for row, end in found
    )


def _current(connection: Connection, table: sa.Table, connector: str, part: TopicPartition) -> Any:
    columns = (table.c.kafka_offset, table.c.epoch, table.c.attempt)
    return connection.execute(sa.select(*columns).where(_of(table, connector, part))).first()


def set_positions(
    connection: Connection, table: sa.Table, owner: Owner, positions: Mapping[TopicPartition, int | None]
) -> None:
    """Set positions to an operator's values; ``None`` deletes one. Fence first, in the same transaction."""
    for part, offset in positions.items():
        connection.execute(table.delete().where(_of(table, owner.connector, part)))
        if offset is not None:
            connection.execute(table.insert(), [_row(owner, part, offset)])


def forget(connection: Connection, table: sa.Table, connector: str) -> None:
    """Remove the positions of a deleted connector; the epoch is kept, as it must never start over."""
    gone = (table.c.connector == connector) & (table.c.kafka_topic != _NO_TOPIC)
    connection.execute(table.delete().where(gone))


def _add(connection: Connection, table: sa.Table, owner: Owner, part: TopicPartition, bounds: tuple[int, int]) -> None:
    """Insert a partition's first position, locking the connector's row so that no fence can pass meanwhile.

    Without a position nothing was ever written: only a start at 0 leaves nothing out.
    """
    start, end = bounds
    own_row = _of(table, owner.connector, TopicPartition(_NO_TOPIC, _NO_PARTITION))
    still_mine = own_row & (table.c.epoch <= owner.epoch)
    connection.execute(table.update().where(still_mine).values(epoch=owner.epoch, attempt=owner.marker))
    epoch = connection.execute(sa.select(table.c.epoch).where(own_row)).scalar_one_or_none()
    if epoch != owner.epoch:
        raise _stale(owner, epoch or 0)
    if _current(connection, table, owner.connector, part) is not None:
        return
    if start > 0:
        raise StaleEpochError(
            f"{part} has no position in {table.name}, but {start} was expected: was the table restored?"
        )
    connection.execute(table.insert(), [_row(owner, part, end)])


def _of(table: sa.Table, connector: str, part: TopicPartition) -> sa.ColumnElement[bool]:
    return sa.and_(
        table.c.connector == connector, table.c.kafka_topic == part.topic, table.c.kafka_partition == part.partition
    )


def _row(owner: Owner, part: TopicPartition, offset: int) -> dict[str, object]:
    return {
        "connector": owner.connector,
        "kafka_topic": part.topic,
        "kafka_partition": part.partition,
        "kafka_offset": offset,
        "epoch": owner.epoch,
        "attempt": owner.marker,
    }


def _overtaken(
    connection: Connection, table: sa.Table, owner: Owner, part: TopicPartition, start: int
) -> StaleEpochError:
    found = _current(connection, table, owner.connector, part)
    if found is None:
        return StaleEpochError(f"{part} no longer has a position in {table.name}: the table was reset or restored")
    offset, epoch, _ = found
    if epoch > owner.epoch:
        return _stale(owner, epoch)
    why = "another attempt was faster" if offset > start else "the target was restored to an earlier state"
    return StaleEpochError(f"{part} is at {offset} in {table.name}, not at {start}: {why}")


def _stale(owner: Owner, newer: int) -> StaleEpochError:
    error = StaleEpochError(
        f"connector {owner.connector} is at epoch {newer} in its target; {owner.epoch} has been fenced"
    )
    error.epoch = newer
    return error

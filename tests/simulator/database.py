"""A database as target: the production positions, fence and transactional writer, on SQLite in memory.

SQLite has one connection here, and so no locks between transactions. A COMMIT under way holds the rows it moved:
whoever moves, fences or sets positions next waits for its end, which is played by ending it first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, OperationalError

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, IntervalKey
from connect_core.connectors.jdbc.catalog import TableName
from connect_core.connectors.jdbc.sink.committer import JdbcSinkCommitter
from connect_core.connectors.jdbc.sink.offsets import Owner, move, offsets_table
from connect_core.connectors.jdbc.sink.transaction import TargetWriter
from connect_core.errors import RetriableError, StaleEpochError
from connect_core.interval.values import TaskPlan
from connect_core.store import database as databases
from tests.simulator.targets import Acting, Ranges, answered

__all__ = ["DatabaseTarget"]

Moves = Mapping[TopicPartition, tuple[int, int]]
_OWN = offsets_table(TableName(None, "connect_offsets"), lambda schema, is_key: sa.String(200))


@dataclass(slots=True)
class Server:
    """What the production code asks of ``JdbcDatabase``."""

    engine: sa.Engine

    def open(self) -> sa.Connection:
        return self.engine.connect()

    def close(self, connection: sa.Connection) -> None:
        connection.close()

    @contextmanager
    def connect(self) -> Iterator[sa.Connection]:
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def begin(self) -> Iterator[sa.Connection]:
        with self.engine.connect() as connection, connection.begin():
            yield connection

    def translated(self, error: DBAPIError) -> RetriableError:
        return RetriableError(f"the database does not answer: {error}")

    @property
    def raw(self) -> Any:
        with self.engine.connect() as connection:
            return connection.connection.driver_connection


@cache
def _server(process: int) -> tuple[Server, bytes]:
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    sa.event.listen(engine, "connect", databases._prepare_sqlite)
    sa.event.listen(engine, "begin", databases._begin_sqlite)
    server = Server(engine)
    with server.begin() as connection:
        _OWN.offsets.metadata.create_all(connection)
    return server, bytes(server.raw.serialize())


@dataclass(slots=True)
class Prepared:
    """In place of the preparation of tables: no rows are written but those that ``Writer`` notes."""

    newest: dict[Any, Any] = field(default_factory=dict)

    def fit(self, pieces: Any, raised: Any) -> tuple[Any, ...]:
        return ()

    def forget(self) -> None:
        self.newest.clear()


class Writer(TargetWriter):
    """The production writer, whose COMMIT may be lost, or land after it was given up."""

    target: DatabaseTarget
    ranges: Ranges

    def _end(self, commit: Callable[[], None], *rest: Any) -> None:
        owner = rest[0] if isinstance(rest[0], Owner) else self.owner
        super()._end(lambda: self._commit_with_fault(commit, owner), *rest)

    def _commit_with_fault(self, commit: Callable[[], None], owner: Owner) -> None:
        fault, self.target.fault = self.target.fault, None
        if fault in (None, "lost reply"):
            commit()
            self.target.show(self.ranges, owner.epoch)
        elif fault == "delay":
            self.target.send(Late(self.target, self.ranges, owner))
        if fault is not None:
            raise OperationalError("COMMIT", None, Exception(fault), connection_invalidated=True)


@dataclass(slots=True)
class Late:
    """A transaction whose COMMIT is on its way."""

    target: DatabaseTarget
    ranges: Ranges
    owner: Owner

    def land(self) -> None:
        """Take effect, once: its statements were all carried out before."""
        if self not in self.target.late:
            return
        self.target.late.remove(self)
        with suppress(StaleEpochError):
            with self.target.server.begin() as connection:
                move(connection, _OWN.offsets, self.owner, _moves(self.ranges))
            self.target.show(self.ranges, self.owner.epoch)


@dataclass(slots=True)
class DatabaseTarget:
    """``connect_offsets`` beside the data; one transaction a task."""

    deliver: Callable[[TopicPartition, int, int, int, str], None]
    moved: Callable[[int, Mapping[TopicPartition, int | None]], None]
    delayed: list[Callable[[], Any]] = field(default_factory=list)
    """Where acts on their way wait, those of other systems among them."""
    fault: str | None = None
    """What happens to the next COMMIT."""
    late: list[Late] = field(default_factory=list)
    server: Server = field(init=False)
    _committer: JdbcSinkCommitter = field(init=False)
    _is_begun: bool = False

    def __post_init__(self) -> None:
        self.server, empty = _server(os.getpid())
        self.server.raw.deserialize(empty)
        self._committer = JdbcSinkCommitter("orders", "one", self.server, _OWN)  # type: ignore[arg-type]
        self._committer._has_tables = True

    def fence(self, epoch: int) -> Mapping[TopicPartition, int]:
        self._wait()
        return self._committer.fence(epoch)

    def write(self, plan: TaskPlan, fault: str | None) -> None:
        """Carry out one transaction of a task. Raises StaleEpochError, RetriableError."""
        self._wait()
        owner = Owner(plan.key.connector, plan.key.epoch, plan.attempt_id)
        writer = Writer(self.server, None, owner, _OWN, Prepared())  # type: ignore[arg-type]
        writer.target, writer.ranges = self, {part.topic_partition: part for part in plan.ranges}
        self.fault = fault
        try:
            writer.write((), _moves(writer.ranges))
        finally:
            self.fault = None
            writer.close()

    def send(self, late: Late) -> None:
        self.late.append(late)
        self.delayed.append(late.land)

    def show(self, ranges: Ranges, epoch: int) -> None:
        """Note the rows of a transaction that has committed."""
        for place, part in ranges.items():
            self.deliver(place, part.start, part.end, epoch, part.topic_id)

    def read_marker(self, key: IntervalKey) -> CommitMarker | None:
        return self._committer.read_marker(key)

    def commit(self, key: IntervalKey, staged: Any) -> Acting:
        answered((yield "K6"))
        return self._committer.commit(key, staged)

    def publish(self, key: IntervalKey, marker: CommitMarker) -> Acting:
        answered((yield "K8"))

    def abandon(self, key: IntervalKey, positions: Mapping[TopicPartition, int | None] | None) -> CommitMarker:
        self._wait()
        marker = self._committer.abandon(key, positions)
        if positions:
            self.moved(key.epoch, positions)
        return marker

    def content(self) -> bytes:
        """Return what a backup holds."""
        return bytes(self.server.raw.serialize())

    def restore(self, content: bytes) -> None:
        """Put a backup in the place of all there is; no transaction survives it."""
        self.late.clear()
        self.server.raw.deserialize(content)

    def _wait(self) -> None:
        while self.late:
            self.late[0].land()


def _moves(ranges: Ranges) -> dict[TopicPartition, tuple[int, int]]:
    return {place: (part.start, part.end) for place, part in ranges.items() if part.start < part.end}

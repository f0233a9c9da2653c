"""A JDBC source under test: plans and intervals as the engine runs them, in either lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from connect_core.api import SourceRecord, Struct
from connect_core.api.offsets import canonical
from connect_core.connectors.jdbc.source.connector import JdbcSourceConnector
from connect_core.testing.source_engine import Lane, Poll, Position, SourceEngine, position_after
from tests.connectors.jdbc.servers import Server

__all__ = ["Follower", "follower", "plain_row"]


def plain_row(record: SourceRecord) -> dict[str, Any]:
    value = record.value
    assert isinstance(value, Struct)
    return {one.name: value[one.name] for one in value.schema.fields}


@dataclass
class Follower:
    """A connector and what its intervals have committed."""

    engine: SourceEngine
    lane: Lane = Lane.RECORDS
    position: Position = field(default_factory=Position)
    records: list[SourceRecord] = field(default_factory=list)

    def interval(self) -> list[SourceRecord]:
        """Plan and run one interval → its records."""
        polls = self.engine.read(self.position, self.lane)
        return self.commit(polls)

    def commit(self, polls: Sequence[Poll]) -> list[SourceRecord]:
        found = [record for poll in polls for record in poll.records]
        self.position = position_after(polls, self.position)
        self.records += found
        return found

    def rows(self, *names: str) -> list[Any]:
        """Run one interval → its rows, or the values of one column."""
        found = [plain_row(record) for record in self.interval()]
        if len(names) == 1:
            return [row[names[0]] for row in found]
        return [tuple(row[name] for name in names) for row in found] if names else found

    def offset(self, table: str) -> Mapping[str, Any] | None:
        found = [value for key, value in self.position.offsets.items() if f'"{table}"' in key or f'.{table}"' in key]
        return found[0] if found else None

    def is_idle(self) -> bool:
        bound = self.engine.bound(self.position)
        return bound is not None and all(self.position.offsets.get(key) == one for key, one in bound.items())


def follower(server: Server, lane: Lane = Lane.RECORDS, tasks: int = 1, /, **config: str) -> Follower:
    """Return a follower of all tables of a server; settings with ``_`` for ``.``."""
    given = {name.replace("_", "."): text for name, text in config.items()}
    base = {"topic.prefix": "test-", "poll.interval.ms": "0", "tasks.max": str(tasks), **server.config}
    engine = SourceEngine(JdbcSourceConnector, {**base, **given}, server.limits, tasks, most_records=10_000_000)
    return Follower(engine, lane)


def key_of(**partition: Any) -> str:
    return canonical(partition)

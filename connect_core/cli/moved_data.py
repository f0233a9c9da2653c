"""What connectors have moved, read from the metadata database and from the data itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from connect_core.api.offsets import canonical, parse
from connect_core.api.sink import PartitionRange
from connect_core.errors import ConnectError
from connect_core.herder.context import Herder
from connect_core.interval.values import ConnectorType, IntervalState
from connect_core.kafka import BoundedReader, KafkaAdmin, KafkaClients
from connect_core.plan.assignment import assign_ranges
from connect_core.settings import WorkerSettings
from connect_core.store import Connection, attempts, interval_history, offsets
from connect_core.store.interval_history import PastInterval

__all__ = [
    "Bound",
    "MovedInterval",
    "check_abutting",
    "count_lines",
    "count_records",
    "has_line",
    "moved_intervals",
    "orders_in",
    "parquet_files",
    "sinks_behind",
]

_INTERVALS = 50
_MOVES = 500
_CLIENT = "connect-quickstart"


@dataclass(frozen=True, slots=True)
class Bound:
    """The part of one partition an interval covers; JSON scalars, ``None`` for the very start."""

    partition: str
    start: Any
    end: Any


@dataclass(frozen=True, slots=True)
class MovedInterval:
    """A committed interval; ``processes`` are (partition, pid of the Python process that read it)."""

    sequence: int
    records: int
    bounds: tuple[Bound, ...]
    job_tag: str
    processes: frozenset[tuple[str, int]]


def moved_intervals(herder: Herder, connector: str) -> list[MovedInterval]:
    """Return the last committed intervals of a connector, the oldest first."""
    with herder.database.read() as connection:
        past = interval_history.list_intervals(connection, connector, _INTERVALS)
        ends = _source_ends(connection, connector)
        # A connector that was deleted and created again has a new incarnation, whose intervals start over.
        newest = max((one.row.key.incarnation for one in past), default=0)
        mine = [one for one in reversed(past) if one.row.key.incarnation == newest]
        return [_moved(connection, one, ends) for one in mine if one.row.state is IntervalState.COMMITTED]


def check_abutting(connector: str, intervals: Sequence[MovedInterval]) -> None:
    """Raise ConnectError unless each interval begins where the one before it ended."""
    ended: dict[str, Any] = {}
    for interval in intervals:
        for bound in interval.bounds:
            before = ended.get(bound.partition, bound.start)
            if before != bound.start:
                raise ConnectError(
                    f"Interval {interval.sequence} of connector {connector} begins at {bound.start} of"
                    f" {bound.partition}, the one before it ended at {before}: were its offsets altered?"
                )
            ended[bound.partition] = bound.end


def _source_ends(connection: Connection, connector: str) -> dict[tuple[int, str], Any]:
    """Return where intervals of a source ended, by sequence and source partition."""
    moves = reversed(offsets.history(connection, connector, _MOVES))
    return {(move.sequence, canonical(move.partition)): _shown(move.after) for move in moves}


def _moved(connection: Connection, past: PastInterval, ends: Mapping[tuple[int, str], Any]) -> MovedInterval:
    row = past.row
    ranges = [one for one in row.ranges if one.start < one.end]
    bounds = [Bound(str(one.topic_partition), one.start, one.end) for one in ranges]
    if row.source is not None:
        starts = {key: _shown(offset) for key, offset in row.source.start.items()}
        own = {key: end for (sequence, key), end in ends.items() if sequence == row.key.sequence}
        bounds = [Bound(_name(key), starts.get(key), end) for key, end in own.items()]
    processes: set[tuple[str, int]] = set()
    shares = assign_ranges(row.ranges, max(1, row.tasks))
    for attempt in attempts.list_attempts(connection, row.key.connector, row.key.sequence):
        share = shares[attempt.task] if attempt.task < len(shares) else ()
        processes |= {(str(one.topic_partition), attempt.process) for one in share if one in ranges}
    return MovedInterval(row.key.sequence, past.counts.records, tuple(bounds), past.job_tag, frozenset(processes))


def _name(partition: str) -> str:
    """Return the values of a source partition, given as canonical JSON, separated by commas."""
    return ", ".join(str(value) for value in parse(partition).values())


def _shown(offset: Mapping[str, Any] | None) -> Any:
    if offset is None:
        return None
    return next(iter(offset.values())) if len(offset) == 1 else canonical(offset)


def count_records(settings: WorkerSettings, topic: str) -> dict[int, int]:
    """Read a topic up to its last stable offset → committed records by partition.

    Raise RetriableError if the brokers do not answer.
    """
    clients = KafkaClients(settings.resolved, client_id=_CLIENT)
    ends = KafkaAdmin(clients).partition_ends((topic,))
    ranges = [PartitionRange(*part, end.earliest, end.stable, end.topic_id) for part, end in ends.items()]
    counts = {part.partition: 0 for part in ends}
    with BoundedReader(clients, ranges) as reader:
        for batch in reader.batches():
            for partition in batch.partition.to_pylist():
                counts[partition] += 1
    return dict(sorted(counts.items()))


def sinks_behind(herder: Herder, topic: str, names: Iterable[str]) -> list[str]:
    """Return the sinks that have not yet moved all committed records of a topic."""
    ends = KafkaAdmin(KafkaClients(herder.worker.resolved, client_id=_CLIENT)).partition_ends((topic,))
    with herder.database.read() as connection:
        stored = {name: offsets.load(connection, name, ConnectorType.SINK) for name in names}
    positions = {name: offsets.sink_positions(found) for name, found in stored.items()}
    return [
        name
        for name, reached in positions.items()
        if any(end.stable > reached.get(part, end.earliest) for part, end in ends.items())
    ]


def parquet_files(folder: Path, topic: str) -> dict[Path, int]:
    """Return the finished files of an exported topic with their rows, by path."""
    return {file: pq.read_metadata(file).num_rows for file in sorted((folder / topic).glob("partition=*/*.parquet"))}


def has_line(files: Iterable[Path], text: str) -> bool:
    """Return whether a row of these files has this text in its column ``line``."""
    columns = (pq.read_table(file, columns=["line"]).column("line") for file in files)
    return any(pc.any(pc.match_substring(column, text)).as_py() for column in columns)


def orders_in(files: Iterable[Path]) -> Iterator[tuple[int, Decimal | None]]:
    """Yield the orders of these files, as (id, amount)."""
    for file in files:
        columns = pq.ParquetFile(file).read(columns=["id", "amount"])
        yield from zip(columns.column("id").to_pylist(), columns.column("amount").to_pylist(), strict=True)


def count_lines(file: Path) -> int:
    """Return how many lines a file has; 0 if it does not exist."""
    if not file.exists():
        return 0
    with file.open("rb") as lines:
        return sum(1 for _ in lines)

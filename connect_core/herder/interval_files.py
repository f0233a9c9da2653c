"""The files an interval wrote, as listed by its marker in the target."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from typing import TypeAlias

from connect_core.api.sink import CommittedFile
from connect_core.effects.worker import ConnectorWorker
from connect_core.errors import ConnectError, NotFoundError, RetriableError
from connect_core.herder.attempts import Attempts
from connect_core.herder.context import Herder
from connect_core.interval.values import ConnectorState, IntervalState
from connect_core.store import connectors, interval_history
from connect_core.store.interval_history import PastInterval

__all__ = ["FilesRequest", "IntervalFiles", "list_files"]

_READINGS = Attempts("lists of an interval's files", 8)
_Files: TypeAlias = tuple[CommittedFile, ...]


@dataclass(frozen=True, slots=True)
class FilesRequest:
    """Asks for at most ``limit`` files of an interval, from a target that answers within ``seconds``."""

    sequence: int
    limit: int = 100
    seconds: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalFiles:
    """The first of an interval's files, and the totals of all of them.

    ``reason``: why there are none to list, else null.
    """

    sequence: int
    reason: str | None = None
    file_count: int = 0
    records: int = 0
    bytes: int = 0
    files: list[CommittedFile] = field(default_factory=list)


def list_files(herder: Herder, name: str, wanted: FilesRequest) -> IntervalFiles:
    """Return the files of an interval, in the marker's order.

    Raise NotFoundError, RetriableError where the target does not answer in time, ConnectError.
    """
    with herder.database.read() as connection:
        state = connectors.get(connection, name)
        past = interval_history.find(connection, name, wanted.sequence)
    if past is None:
        raise NotFoundError(f"Connector {name} has no interval {wanted.sequence} in its history")
    if not past.row.ranges:
        return IntervalFiles(sequence=wanted.sequence, reason="A source writes to Kafka, not to files")
    if past.row.state is not IntervalState.COMMITTED:
        return IntervalFiles(
            sequence=wanted.sequence, reason=f"The interval is {past.row.state.value}: nothing was committed"
        )
    files = _in_time(lambda: _read(herder, state, past), name, wanted.seconds)
    if not files:
        text = "The target keeps no list of files of this interval"
        return IntervalFiles(sequence=wanted.sequence, reason=text)
    return IntervalFiles(
        sequence=wanted.sequence,
        file_count=len(files),
        records=sum(file.records for file in files),
        bytes=sum(file.bytes for file in files),
        files=list(files[: wanted.limit]),
    )


def _in_time(read: Callable[[], _Files], name: str, seconds: float) -> _Files:
    try:
        return _READINGS.start(read).result(seconds)
    except FutureTimeoutError:
        raise RetriableError(f"The target of {name} did not respond within {seconds:g} s: is it running?") from None


def _read(herder: Herder, state: ConnectorState, past: PastInterval) -> _Files:
    worker = ConnectorWorker(herder.worker, herder.database, state.name)
    try:
        effects = worker.reader(state)
        try:
            committer = effects.committer()
            marker = None if committer is None else committer.read_marker(past.row.key)
        finally:
            effects.close()
    except ConnectError as error:
        worker.clean(error)
        raise
    return () if marker is None else marker.files

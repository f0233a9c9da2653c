"""A Java source task: it polls ahead in its host, together with the flow's first Java stages."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, overload

import numpy as np
import pyarrow as pa

from connect_core.api.batch import Batch, Columns
from connect_core.api.flow import Flow, Prepared
from connect_core.api.offsets import parse
from connect_core.api.records import SourceRecord
from connect_core.api.source import RecordMetadata, SourceTask
from connect_core.errors import ConnectError, IllegalStateError
from connect_core.java_host.host import JavaHost, Lane
from connect_core.java_host.schemas import SchemaNumbers
from connect_core.java_plugins.catalog import JavaClass
from connect_core.java_plugins.connectors import TASK_CLASS
from connect_core.java_plugins.flow import TakenFlow, take_first
from connect_core.java_plugins.plugins import JavaPlugins
from connect_core.java_plugins.rows import PolledFrame, failures_of

__all__ = ["JavaSourceTask"]

_LOG = logging.getLogger(__name__)
_LIMITS = {"records": 5_000, "bytes": 8 << 20, "lingerMillis": 100}
_WAIT_MILLIS = 500
_NOTHING = Batch(
    topic=pa.nulls(0, pa.string()),
    partition=pa.nulls(0, pa.int32()),
    offset=pa.nulls(0, pa.int64()),
    timestamp=pa.nulls(0, pa.int64()),
    origin=pa.nulls(0, pa.int64()),
    key=Columns(None, pa.nulls(0)),
    value=Columns(None, pa.nulls(0)),
)


class JavaSourceTask(SourceTask):
    """One task of a Java source; ``java`` is its connector's class."""

    java: ClassVar[JavaClass]
    plugins: ClassVar[JavaPlugins]

    def __init__(self) -> None:
        self._flow: Flow | None = None
        self._taken: TakenFlow | None = None
        self._host: JavaHost | None = None
        self._lane: Lane | None = None
        self._schemas = SchemaNumbers()
        self._is_busy = False
        self._is_stopping = False
        self._numbers: dict[int, tuple[Batch, int]] = {}
        self._committed: list[tuple[int, Sequence[RecordMetadata | None] | None]] = []

    def take_over(self, flow: Flow) -> Flow:
        """Take over all transforms before the first that is not Java's, and the converters if all are."""
        self._flow, self._taken = flow, take_first(flow, self.plugins.catalog)
        return self._taken.left

    def start(self, config: Mapping[str, str]) -> None:
        """Start the plugin's task in a host; it polls from then on. Raises ConnectError."""
        if self._flow is None or self._taken is None:
            raise IllegalStateError("call take_over before start")
        name = f"task of {config.get('name', self.java.name)}"
        classes = [self.java, *self._taken.classes]
        offsets = [[parse(partition), offset] for partition, offset in self.context.source_offsets.items()]
        spec = {
            "name": name,
            "connector": self.java.name,
            "task": config.get(TASK_CLASS, self.java.task),
            "config": dict(config),
            "offsets": offsets,
            "flow": self._taken.spec,
            "limits": _LIMITS,
            "boundaries": self.context.transaction_context is not None,
        }
        redact = self._flow.redact

        def start(host: JavaHost) -> None:
            host.log.clean = redact
            self._host = host
            self._lane = host.open("source", spec)
            self._lane.call("source.started")

        self.plugins.start_plugin(classes, config, name, start)

    def poll(self) -> Sequence[SourceRecord] | None:
        """Raise IllegalStateError: ``poll_batch`` is called instead."""
        raise IllegalStateError("A Java source is polled with poll_batch")

    def poll_batch(self) -> Batch | Prepared | None:
        """Return what the host has polled; an empty batch when the plugin's own poll returned nothing."""
        assert self._lane is not None
        assert self._taken is not None
        while True:
            frame = self._lane.call("source.poll", {"waitMillis": _WAIT_MILLIS})
            header = frame.header
            self._is_busy = header["busy"]
            if header["polled"]:
                break
            if header["answered"] or self._is_stopping:
                return _NOTHING
        self._ask_for_boundary(header.get("boundary"))
        polled, result = PolledFrame(frame, self._schemas, self._taken.is_converted).batches()
        self._numbers[id(polled)] = polled, header["number"]
        records = _Records(self._lane, header["number"], header["polled"])
        return Prepared(polled, result, failures_of(header.get("failures")), records)

    def _ask_for_boundary(self, boundary: str | None) -> None:
        transactions = self.context.transaction_context
        if transactions is not None and boundary is not None:
            (transactions.commit_transaction if boundary == "commit" else transactions.abort_transaction)()

    def is_interruptible(self) -> bool:
        """Return whether no snapshot is running that would have to start again."""
        return not self._is_busy

    def wants_places(self, config: Mapping[str, str]) -> bool:
        """Return whether the plugin's task overrides ``commitRecord``."""
        return self.java.follows_records or config.get(TASK_CLASS, self.java.task) != self.java.task

    def commit_batch(self, batch: Batch, places: Sequence[RecordMetadata | None] | None) -> bool:
        """Remember the batch, for ``commit`` to notify the plugin."""
        _, number = self._numbers.pop(id(batch))
        self._committed.append((number, places))
        return True

    def commit(self) -> None:
        """Notify the plugin of all records committed since the last call, then of the commit."""
        assert self._host is not None
        assert self._lane is not None
        done, self._committed = self._committed, []
        # Batches are numbered from 1.
        header: dict[str, Any] = {"number": done[-1][0] if done else 0, "aside": True}
        buffers: list[Any] = []
        if done and all(places is not None for _, places in done):
            rows = [place for _, places in done for place in places or ()]
            header["topics"], buffers = _places(rows)
        self._lane.call("source.committed", header, buffers)

    def stop(self) -> None:
        """End polling; the plugin's task is stopped by ``release``, after the last commit, as in Connect."""
        self._is_stopping = True
        if self._lane is not None and self._lane.host.is_alive:
            self._lane.call("source.halt", {"aside": True})

    def release(self) -> None:
        """Stop the plugin's task, and kill its host if it does not stop in time."""
        host, lane, self._host = self._host, self._lane, None
        if host is None:
            return
        try:
            if lane is not None and host.is_alive:
                lane.close(seconds=self.plugins.stop_seconds)
        except ConnectError as error:
            _LOG.warning("%s could not be stopped, so its process is terminated: %s", host.name, error)
            host.kill()
        else:
            self.plugins.give_back(host)


def _places(rows: Sequence[RecordMetadata | None]) -> tuple[list[str], list[Any]]:
    """Return the records' places in Kafka, as columns: topics by number, -1 for a record that was dropped."""
    names: dict[str, int] = {}
    topics = np.array([-1 if one is None else names.setdefault(one.topic, len(names)) for one in rows], np.int32)
    partitions = np.array([-1 if one is None else one.partition for one in rows], np.int32)
    offsets = np.array([-1 if one is None else one.offset for one in rows], np.int64)
    timestamps = np.full(len(rows), -1, np.int64)
    return list(names), [topics, partitions, offsets, timestamps]


class _Records(Sequence[SourceRecord]):
    """The records of a batch as they were polled; each is fetched when it is accessed."""

    def __init__(self, lane: Lane, number: int, count: int) -> None:
        self._lane = lane
        self._number = number
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, row: int) -> SourceRecord: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[SourceRecord]: ...

    def __getitem__(self, row: int | slice) -> SourceRecord | Sequence[SourceRecord]:
        if isinstance(row, slice):
            return [self[one] for one in range(*row.indices(self._count))]
        if not 0 <= row < self._count:
            raise IndexError(row)
        frame = self._lane.call("source.records", {"number": self._number, "rows": [row]})
        _, batch = PolledFrame(frame, SchemaNumbers(), False).batches()
        (record,) = replace(batch, origin=pa.array([row], pa.int64())).to_records()
        assert isinstance(record, SourceRecord)
        return record

"""A Java sink task: its host makes records from a batch, then puts them."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from connect_core.api.batch import Batch
from connect_core.api.flow import Flow, RowFailure
from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import SinkTask
from connect_core.errors import ConnectError, IllegalStateError
from connect_core.java_host.frames import Frame
from connect_core.java_host.host import JavaHost, Lane, checked
from connect_core.java_host.schemas import SchemaNumbers
from connect_core.java_plugins.catalog import JavaClass
from connect_core.java_plugins.connectors import TASK_CLASS
from connect_core.java_plugins.errant import ErrantReports
from connect_core.java_plugins.flow import TakenFlow, take_last
from connect_core.java_plugins.plugins import JavaPlugins
from connect_core.java_plugins.rows import failures_of, write_raw, write_values

__all__ = ["JavaSinkTask"]

_LOG = logging.getLogger(__name__)


class JavaSinkTask(SinkTask):
    """One task of a Java sink; ``java`` is its connector's class."""

    java: ClassVar[JavaClass]
    plugins: ClassVar[JavaPlugins]

    def __init__(self) -> None:
        self._flow: Flow | None = None
        self._taken: TakenFlow | None = None
        self._host: JavaHost | None = None
        self._lane: Lane | None = None
        self._reports: ErrantReports | None = None
        self._schemas = SchemaNumbers()
        self._read: Batch | None = None

    def take_over(self, flow: Flow) -> Flow:
        """Take over all transforms after the last that is not Java's, and the converters if all are."""
        self._flow, self._taken = flow, take_last(flow, self.plugins.catalog)
        return self._taken.left

    def start(self, config: Mapping[str, str]) -> None:
        """Start the plugin's task in a host. Raises ConnectError."""
        if self._taken is None or self._flow is None:
            raise IllegalStateError("call take_over before start")
        name = f"task of {config.get('name', self.java.name)}"
        classes = [self.java, *self._taken.classes]
        reporter = self.context.errant_record_reporter
        spec = {
            "name": name,
            "connector": self.java.name,
            "task": config.get(TASK_CLASS, self.java.task),
            "config": dict(config),
            "assignment": [list(one) for one in self.context.assignment],
            "flow": self._taken.spec,
            "mostPut": self._flow.put_records,
            "hasReporter": reporter is not None,
        }
        if reporter is not None:
            self._reports = ErrantReports(reporter)
        reports, redact = self._reports, self._flow.redact

        def start(host: JavaHost) -> None:
            host.log.clean = redact
            self._host = host
            self._lane = host.open("sink", spec, None if reports is None else reports.take)
            if reports is not None:
                reports.lane = self._lane
            self._call("sink.start")

        self.plugins.start_plugin(classes, config, name, start)

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """Open the partitions; the plugin may request to continue from other offsets."""
        self._call("sink.open")

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Put records that are not in a batch; without records, the plugin gets a chance to work."""
        if records:
            self.put_batch(Batch.from_records(records))
        else:
            self._call("sink.put")

    def put_batch(self, batch: Batch) -> bool:
        """Make records of the batch, once, and put them; called again, continue where the plugin failed."""
        if self._read is not batch:
            self._make_records(batch)
            self._read = batch
        self._call("sink.put")
        self._read = None
        return True

    def _make_records(self, batch: Batch) -> None:
        assert self._taken is not None
        frame = write_raw(batch) if self._taken.is_converted else write_values(batch, self._schemas)
        answer = self._call("sink.read", frame)
        for failure in failures_of(answer.get("failures")):
            self._fail(batch, failure)

    def _fail(self, batch: Batch, failure: RowFailure) -> None:
        assert self._flow is not None
        assert self._taken is not None
        assert self._flow.fail is not None
        stage = failure.stage
        place = stage + self._taken.first if isinstance(stage, int) else stage
        self._flow.fail(batch, replace(failure, stage=place))

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Return the positions that the plugin declares safe."""
        rows = [[*partition, offset] for partition, offset in offsets.items()]
        answer = self._call("sink.commit", Frame({"offsets": rows}))
        return {TopicPartition(topic, partition): offset for topic, partition, offset in answer["offsets"]}

    def close(self, partitions: Collection[TopicPartition]) -> None:
        """Close the partitions."""
        self._call("sink.close")

    def _call(self, op: str, frame: Frame | None = None) -> Mapping[str, Any]:
        """Call the plugin → the response, after carrying out its requests during the call. Raises ConnectError."""
        assert self._lane is not None
        given = frame or Frame({})
        try:
            frame = self._lane.ask(op, given.header, given.buffers)
        finally:
            if self._reports is not None:
                self._reports.settle()
        if "context" in frame.header:
            self._follow(frame.header["context"])
        return checked(frame).header

    def _follow(self, asked: Mapping[str, Any]) -> None:
        """Pass on the plugin's requests to its context."""
        context = self.context
        if "timeout" in asked:
            context.timeout(asked["timeout"])
        if "commit" in asked:
            context.request_commit()
        if "rewinds" in asked:
            context.offset({TopicPartition(topic, number): offset for topic, number, offset in asked["rewinds"]})
        paused = {TopicPartition(*one) for one in asked["paused"]}
        context.pause(*paused)
        context.resume(*(set(context.assignment) - paused))

    def stop(self) -> None:
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
        finally:
            if self._reports is not None:
                self._reports.close()

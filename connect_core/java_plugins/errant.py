"""Passes records that a Java sink cannot write to the engine's reporter (KIP-610)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any

from connect_core.api.records import SinkRecord
from connect_core.api.sink import ErrantRecordReporter
from connect_core.errors import ConnectError
from connect_core.java_host.errors import java_error
from connect_core.java_host.host import Lane

__all__ = ["ErrantReports"]

_LOG = logging.getLogger(__name__)


class ErrantReports:
    """Reports records in a separate thread: the plugin may wait for them in the middle of a call."""

    def __init__(self, reporter: ErrantRecordReporter) -> None:
        self.lane: Lane | None = None
        self._reporter = reporter
        self._waiting: SimpleQueue[Mapping[str, Any] | None] = SimpleQueue()
        self._refusal: ConnectError | None = None
        self._open = 0
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="errant records", daemon=True)
        self._thread.start()

    def take(self, told: Mapping[str, Any]) -> None:
        """Queue one record, as the host describes it."""
        with self._changed:
            self._open += 1
        self._waiting.put(told)

    def settle(self) -> None:
        """Wait until all queued records are reported. Raise ConnectError if a record may not be skipped."""
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0)
            refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal

    def close(self) -> None:
        """End the thread."""
        self._waiting.put(None)

    def _work(self) -> None:
        while (told := self._waiting.get()) is not None:
            reported = [(told, self._report(told))]
            # One flush for all that have arrived meanwhile.
            try:
                while (more := self._waiting.get_nowait()) is not None:
                    reported.append((more, self._report(more)))
            except Empty:
                pass
            for one, answer in reported:
                self._answer(one, answer)
            with self._changed:
                self._open -= len(reported)
                self._changed.notify_all()

    def _report(self, told: Mapping[str, Any]) -> Future[None] | ConnectError:
        record = SinkRecord(told["topic"], told["partition"], kafka_offset=told["offset"])
        try:
            return self._reporter.report(record, java_error(told["error"]))
        except ConnectError as error:
            return error

    def _answer(self, told: Mapping[str, Any], answer: Future[None] | ConnectError) -> None:
        try:
            if isinstance(answer, ConnectError):
                raise answer
            answer.result()
            refusal = None
        except ConnectError as error:
            refusal, self._refusal = str(error), error
        try:
            assert self.lane is not None
            self.lane.send("host.reported", {"number": told["number"], "refusal": refusal})
        except ConnectError as error:
            _LOG.debug("no caller is waiting for the report: %s", error)

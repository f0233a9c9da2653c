"""What happens to a record that fails: retry, skip with a report, or fail the task.

Connect: ``RetryWithToleranceOperator`` (KIP-298). The first try of an operation has no overhead: only its failure is
handled here.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from threading import Event
from typing import Any, NamedTuple, Protocol, TypeVar

from connect_core.api.offsets import canonical
from connect_core.api.records import ConnectRecord
from connect_core.configs import Redaction
from connect_core.errors import ConnectError, DataError, RetriableError, ServiceError
from connect_core.kafka.dead_letters import DeadLetter

__all__ = [
    "Failure",
    "Place",
    "Recovered",
    "Reporter",
    "Stage",
    "Step",
    "Tolerance",
    "ToleranceSettings",
    "class_name",
]

Result = TypeVar("Result")
"""What the guarded operation returns."""

_FIRST_DELAY = 0.3


class Stage(Enum):
    """Where in the flow a record failed; Connect's names."""

    TASK_POLL = "TASK_POLL"
    TASK_PUT = "TASK_PUT"
    TRANSFORMATION = "TRANSFORMATION"
    KEY_CONVERTER = "KEY_CONVERTER"
    VALUE_CONVERTER = "VALUE_CONVERTER"
    HEADER_CONVERTER = "HEADER_CONVERTER"
    KAFKA_PRODUCE = "KAFKA_PRODUCE"
    KAFKA_CONSUME = "KAFKA_CONSUME"


@dataclass(frozen=True, slots=True)
class Place:
    """Identifies a record: a position in Kafka, or a source partition and offset."""

    topic: str | None
    partition: int | None = None
    offset: int | None = None
    row: int = -1
    """The row of the original input batch; -1: unknown."""
    source: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None] | None = None
    """Source partition and source offset of a record on its way to Kafka."""

    def __str__(self) -> str:
        if self.source is not None:
            partition, offset = (canonical(one or {}) for one in self.source)
            return f"source partition {partition}, source offset {offset}, on its way to topic {self.topic}"
        return f"topic {self.topic}, partition {self.partition}, offset {self.offset}"

    def to_json(self) -> dict[str, Any]:
        """Return the place as shown in the summary of skipped records."""
        if self.source is not None:
            partition, offset = (dict(one or {}) for one in self.source)
            return {"topic": self.topic, "source_partition": partition, "source_offset": offset}
        return {"topic": self.topic, "partition": self.partition, "offset": self.offset}


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on one record: ``executing`` is the object that performs it.

    ``record``: the input of the operation, if it was a record.
    """

    stage: Stage
    executing: object
    place: Place
    record: ConnectRecord | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """One record that could not be processed."""

    step: Step
    error: BaseException
    attempts: int = 1
    letter: DeadLetter | None = None
    """The record as read from Kafka, if ``step.place.row`` does not identify it."""
    is_of_record: bool = True
    """Whether the record failed, not a service that all records need; set by ``Tolerance.fail``."""


class Recovered(NamedTuple):
    """The outcome of a failed operation: its result, or that the record was skipped."""

    is_done: bool
    result: Any = None


class Reporter(Protocol):
    """Takes failures: a log, a dead letter topic, a summary."""

    def report(self, failure: Failure) -> None:
        """Take one failure, tolerated or not."""


@dataclass(frozen=True, slots=True)
class ToleranceSettings:
    """``errors.tolerance``, ``errors.retry.…``, ``errors.max.…``; times in seconds, -1: forever.

    ``max_count``: records that one task may skip in an interval; ``max_share``: the same as a fraction of the records
    it read, between 0 and 1. ``None``: no cap.
    """

    tolerate_all: bool = False
    retry_seconds: float = 0.0
    max_delay_seconds: float = 60.0
    max_count: int | None = None
    max_share: float | None = None


@dataclass(slots=True)
class Tolerance:
    """Handles failed operations on single records; counts the records that it skips.

    Thread-safe: a sink may report errant records from a thread of its own.
    """

    settings: ToleranceSettings
    reporters: tuple[Reporter, ...] = ()
    stopping: Event = field(default_factory=Event)
    redaction: Redaction = field(default_factory=Redaction)
    skipped: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, reporter: Reporter) -> None:
        """Add a reporter."""
        self.reporters = (*self.reporters, reporter)

    def attempt(self, step: Step, operation: Callable[[], Any]) -> Recovered:
        """Run an operation. Raises as ``recover``."""
        try:
            return Recovered(True, operation())
        except Exception as error:
            return self.recover(step, operation, error)

    def recover(self, step: Step, operation: Callable[[], Any], error: Exception) -> Recovered:
        """Handle the first failure of ``operation``: try it again while it is retriable, or skip the record.

        Raise ConnectError, naming the place, when failures are not tolerated.
        """
        began, attempts = time.monotonic(), 1
        while isinstance(error, RetriableError) and self._may_retry(began, attempts):
            attempts += 1
            try:
                return Recovered(True, operation())
            except Exception as again:
                error = again
        self.fail(Failure(step, error, attempts))
        return Recovered(False)

    def fail(self, failure: Failure) -> None:
        """Report a failure and skip it, or raise it. Connect: ``withinToleranceLimits``.

        Unlike Connect, skip no record because of the failure of a service that all records need.
        """
        is_of_record = not isinstance(failure.error, ServiceError)
        failure = replace(failure, error=self.redaction.clean(failure.error), is_of_record=is_of_record)
        refusal = None if self.settings.tolerate_all and is_of_record else _refusal(failure)
        with self._lock:
            for reporter in self.reporters:
                _report(reporter, failure, refusal)
            if refusal is not None:
                raise refusal from failure.error
            self.skipped += 1
            self._check_count(failure)

    def check_share(self, records: int) -> None:
        """Check ``errors.max.share`` for this many records read. Raise ConnectError beyond it."""
        limit = self.settings.max_share
        if limit is not None and records and self.skipped / records > limit:
            raise ConnectError(
                f"{self.skipped} of {records} records were skipped, a share of {self.skipped / records:.4g}:"
                f" more than errors.max.share={limit:g}. None of this is committed."
                " Correct the records or the configuration, or raise the share"
            )

    def _check_count(self, failure: Failure) -> None:
        limit = self.settings.max_count
        if limit is not None and self.skipped > limit:
            raise ConnectError(
                f"{self.skipped} records were skipped: more than errors.max.count={limit}. The last one is at"
                f" {failure.step.place}: {_reason(failure.error)}."
                " Correct the records or the configuration, or raise the count"
            ) from failure.error

    def _may_retry(self, began: float, attempts: int) -> bool:
        settings = self.settings
        left = settings.retry_seconds - (time.monotonic() - began)
        if settings.retry_seconds >= 0 and left <= 0:
            return False
        delay = _FIRST_DELAY * 2 ** min(attempts - 1, 20)
        if delay > settings.max_delay_seconds:
            # As in Connect: tasks that failed together do not retry together.
            delay = random.uniform(0.0, settings.max_delay_seconds)
        return not self.stopping.wait(delay if settings.retry_seconds < 0 else min(delay, left))


def class_name(thing: object) -> str:
    """Return the dotted name of an object's class, or of a class."""
    kind: Any = thing if isinstance(thing, type) else type(thing)
    return f"{kind.__module__}.{kind.__qualname__}"


def _report(reporter: Reporter, failure: Failure, refusal: ConnectError | None) -> None:
    """Report a failure; an error in doing so must not hide the error that fails the task anyway."""
    try:
        reporter.report(failure)
    except ConnectError as trouble:
        if refusal is None:
            raise
        refusal.add_note(f"It could not be reported either: {trouble}")


def _reason(error: BaseException) -> str:
    """Return an error's message with that of its cause: Connect's own texts often end in a colon."""
    text = str(error).rstrip(" :.")
    return text if error.__cause__ is None else f"{text}: {error.__cause__}"


def _refusal(failure: Failure) -> ConnectError:
    kinds = (DataError, RetriableError)
    kind = next((kind for kind in kinds if isinstance(failure.error, kind)), ConnectError)
    step = failure.step
    return kind(
        f"Tolerance exceeded in error handler at {step.place} in stage {step.stage.value} "
        f"({class_name(step.executing)}): {_reason(failure.error)}. {_remedy(failure)}"
    )


def _remedy(failure: Failure) -> str:
    if failure.is_of_record:
        return "Correct the record or the configuration, or set errors.tolerance=all to skip it."
    return "This is not the record's fault, so it is not skipped, regardless of errors.tolerance."

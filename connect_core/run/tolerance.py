"""What happens to a record that fails: retry, skip with a report, or fail the task.

Connect: ``RetryWithToleranceOperator`` (KIP-298). Every user-supplied operation
on a single record goes through here, and nowhere else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from threading import Event
from typing import Any, Protocol, TypeVar

from connect_core.errors import ConnectError, DataError, RetriableError

__all__ = ["Failure", "Place", "Reporter", "Stage", "Tolerance", "ToleranceSettings", "class_name"]

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
    """Which record: a place in Kafka, or a source position."""

    topic: str | None
    partition: int | None = None
    offset: int | None = None
    row: int = -1
    """The row of the undisturbed input batch."""

    def __str__(self) -> str:
        if self.offset is None:
            return f"a record for topic {self.topic}"
        return f"topic {self.topic}, partition {self.partition}, offset {self.offset}"


@dataclass(frozen=True, slots=True)
class Failure:
    """One record that could not be processed."""

    place: Place
    stage: Stage
    executing: str
    """The class whose operation failed."""
    error: BaseException
    attempts: int = 1


class Reporter(Protocol):
    """Takes failures: a log, a dead letter topic, a summary."""

    def report(self, failure: Failure) -> None:
        """Take one failure that is tolerated."""


@dataclass(frozen=True, slots=True)
class ToleranceSettings:
    """``errors.tolerance``, ``errors.retry.timeout``, ``errors.retry.delay.max.ms``; times in seconds."""

    tolerate_all: bool = False
    retry_seconds: float = 0.0
    max_delay_seconds: float = 60.0


@dataclass(slots=True)
class Tolerance:
    """Guards operations on single records; counts what it skips."""

    settings: ToleranceSettings
    reporters: tuple[Reporter, ...] = ()
    stopping: Event = field(default_factory=Event)
    skipped: int = 0

    def attempt(
        self, operation: Callable[[], Result], stage: Stage, executing: object, place: Place
    ) -> tuple[bool, Result | None]:
        """Run ``operation`` → (True, its result), or (False, None) when its failure was skipped.

        Raises ConnectError, naming the place, when failures are not tolerated.
        """
        began, attempts = time.monotonic(), 0
        while True:
            attempts += 1
            try:
                return True, operation()
            except RetriableError as error:
                if self._may_retry(began, attempts):
                    continue
                self.fail(Failure(place, stage, class_name(executing), error, attempts))
            except Exception as error:
                self.fail(Failure(place, stage, class_name(executing), error, attempts))
            return False, None

    def fail(self, failure: Failure) -> None:
        """Report a failure and skip it, or raise it. Connect: ``withinToleranceLimits``."""
        if not self.settings.tolerate_all:
            raise _refusal(failure) from failure.error
        self.skipped += 1
        for reporter in self.reporters:
            reporter.report(failure)

    def _may_retry(self, began: float, attempts: int) -> bool:
        left = self.settings.retry_seconds - (time.monotonic() - began)
        if self.settings.retry_seconds >= 0 and left <= 0:
            return False
        delay = min(_FIRST_DELAY * 2 ** (attempts - 1), self.settings.max_delay_seconds)
        return not self.stopping.wait(delay if self.settings.retry_seconds < 0 else min(delay, left))


def class_name(thing: object) -> str:
    """Return the name under which an operation's owner is reported."""
    kind: Any = thing if isinstance(thing, type) else type(thing)
    return f"{kind.__module__}.{kind.__qualname__}"


def _refusal(failure: Failure) -> ConnectError:
    kinds = (DataError, RetriableError)
    kind = next((kind for kind in kinds if isinstance(failure.error, kind)), ConnectError)
    return kind(
        f"Tolerance exceeded in error handler at {failure.place} in stage {failure.stage.value} "
        f"({failure.executing}): {failure.error}. Correct the record or the configuration, "
        "or set errors.tolerance=all to skip it."
    )

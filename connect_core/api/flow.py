"""The stages that records pass between a task and Kafka, for tasks that perform some of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from connect_core.api.batch import Batch
from connect_core.api.convert import Converter, HeaderConverter
from connect_core.api.records import SourceRecord
from connect_core.api.transform import NOT_CHOSEN, ChosenPlugin, FlowStage

__all__ = ["Flow", "Prepared", "RetryLimits", "RowFailure"]


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """How long a failed operation is retried (``errors.retry.timeout``, ``errors.retry.delay.max.ms``).

    Milliseconds; ``timeout`` 0: no retry, -1: without limit.
    """

    timeout: int = 0
    longest_delay: int = 60_000


@dataclass(frozen=True, slots=True)
class RowFailure:
    """A record that failed in a part of the flow that a task performs itself.

    ``row`` is the row of the batch; ``stage`` the index of a transform in the
    flow, or ``key``, ``value`` or ``header`` for its converter.
    """

    row: int
    stage: int | str
    error: Exception
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Flow:
    """The transforms in order, and the converters; they follow a source's task and precede a sink's.

    A sink's converters come first, then its transforms. ``put_records``: how many
    records its task gets at once (the consumer's ``max.poll.records``).
    ``redact`` removes the connector's secrets from a text for a log. ``fail`` decides about
    a row of a sink's batch that failed in what its task performs itself: it raises
    an error that the task must not catch, or skips the row.
    """

    stages: Sequence[FlowStage]
    key: Converter
    value: Converter
    header: HeaderConverter
    chosen_key: ChosenPlugin = NOT_CHOSEN
    chosen_value: ChosenPlugin = NOT_CHOSEN
    chosen_header: ChosenPlugin = NOT_CHOSEN
    retries: RetryLimits = field(default_factory=RetryLimits)
    put_records: int = 500
    redact: Callable[[str], str] = str
    fail: Callable[[Batch, RowFailure], None] | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A polled batch with the result of the part of the flow that a source task performs itself.

    ``result``: the remaining rows, whose ``origin`` are rows of ``polled``.
    ``records``: the polled records, created on first access.
    """

    polled: Batch
    result: Batch
    failures: Sequence[RowFailure] = ()
    records: Sequence[SourceRecord] = ()

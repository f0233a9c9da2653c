"""What records pass between a task and Kafka, for tasks that do some of it themselves."""

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
    """How long a failed operation is repeated (``errors.retry.timeout``, ``errors.retry.delay.max.ms``).

    Milliseconds; ``timeout`` 0: not at all, -1: for ever.
    """

    timeout: int = 0
    longest_delay: int = 60_000


@dataclass(frozen=True, slots=True)
class RowFailure:
    """A record that failed in a part of the flow that a task does itself.

    ``row`` is the row of the batch; ``stage`` the index of a transform in the
    flow, or ``key``, ``value`` or ``header`` for its converter.
    """

    row: int
    stage: int | str
    error: Exception
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Flow:
    """Transforms in order and converters: of a source they follow its task, of a sink they precede it.

    A sink's converters come first, then its transforms. ``put_records``: how many
    records its task is given at once (the consumer's ``max.poll.records``).
    ``redact`` takes the connector's secrets out of a text for a log. ``fail`` decides about
    a row of a sink's batch that failed in what its task does itself: it raises
    what the task must let pass, or skips the row.
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
    """A polled batch with what a source task has made of it by the part of the flow it does itself.

    ``result``: the rows that are left, whose ``origin`` are rows of ``polled``.
    ``records``: the polled records, made when they are looked at.
    """

    polled: Batch
    result: Batch
    failures: Sequence[RowFailure] = ()
    records: Sequence[SourceRecord] = ()

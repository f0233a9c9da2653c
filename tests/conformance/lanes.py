"""Rows of a batch: a case's own input among its peers'."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from tests.conformance.case import Case
from tests.conformance.stages import FailedStep

__all__ = ["BatchRun", "Row", "attempt", "by_records", "mixtures"]

Json = Any
EQUAL_ROWS = 5
PEERS = 6


@dataclass(frozen=True, slots=True)
class Row:
    """An input put through under the configuration of some case."""

    input: Json


@dataclass(frozen=True, slots=True)
class BatchRun:
    """What each row became: JSON, or the failure of its step."""

    results: list[Json | FailedStep] = field(default_factory=list)
    fell_back: bool = False


def attempt(run: Callable[[], Json]) -> Json | FailedStep:
    """Return what a row became in the record lane."""
    try:
        return run()
    except FailedStep as failure:
        return failure


def by_records(rows: Sequence[Row], run: Callable[[Json], Json]) -> BatchRun:
    """Return what rows become when their batch falls back to records."""
    return BatchRun([attempt(partial(run, row.input)) for row in rows], fell_back=True)


def mixtures(case: Case, peers: Iterable[Case]) -> list[list[Row]]:
    """Return the batches of a case: alone, many times, and mixed with its peers.

    The case's own row is the first of each batch.
    """
    own = Row(case.input)
    others = [Row(peer.input) for peer in islice(_fitting(case, peers), PEERS)]
    batches = [[own], [own] * EQUAL_ROWS]
    return [*batches, [own, *others, own]] if others else batches


def _fitting(case: Case, peers: Iterable[Case]) -> list[Case]:
    """Return other inputs that may share a batch, those of the same schema first."""
    fitting = [peer for peer in peers if peer is not case and _place(peer.input) == _place(case.input)]
    schemas = _schemas(case.input)
    same = [peer for peer in fitting if _schemas(peer.input) == schemas]
    different = [peer for peer in fitting if _schemas(peer.input) != schemas]
    return [*same[: PEERS // 2], *different[: PEERS // 2], *same[PEERS // 2 :]]


def _place(content: Json) -> Sequence[Json]:
    """What all rows of a batch share: a sink's or a source's records, of one kind."""
    return [content.get(name) for name in ("record", "timestampType", "op", "isKey")]


def _schemas(content: Json) -> Sequence[Json]:
    return [content.get(name) for name in ("keySchema", "valueSchema", "schema")]

"""Run cases in one or both lanes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from tests.conformance.case import Case
from tests.conformance.compare import difference, error_difference
from tests.conformance.kinds import chains, converters, data, definitions, plugins, transforms
from tests.conformance.lanes import Row, attempt, mixtures
from tests.conformance.stages import FailedStep

__all__ = ["Lane", "Outcome", "run_cases"]

Json = Any
_KINDS = {**data.KINDS, **definitions.KINDS, **plugins.KINDS, **transforms.KINDS, **converters.KINDS, **chains.KINDS}
_BATCH_KINDS = {**transforms.BATCH_KINDS, **converters.BATCH_KINDS, **chains.BATCH_KINDS}


class Lane(Enum):
    """How records are put through."""

    RECORD = "record"
    BATCH = "batch"
    BOTH = "both"


@dataclass(slots=True)
class Outcome:
    """What is wrong with a case, and how often its batches fell back to records."""

    case: Case
    problems: list[str] = field(default_factory=list)
    homogeneous_batches: int = 0
    homogeneous_fallbacks: int = 0

    @property
    def passed(self) -> bool:
        """Whether everything was as recorded."""
        return not self.problems


def run_cases(cases: Sequence[Case], lane: Lane = Lane.RECORD) -> Iterator[Outcome]:
    """Run all cases; what one raises unexpectedly is its problem, not an end."""
    peers: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        if case.input is not None:
            peers[f"{case.kind} {case.java_class}"].append(case)
    for case in cases:
        outcome = Outcome(case)
        try:
            _run(case, lane, peers[f"{case.kind} {case.java_class}"], outcome)
        except Exception as error:  # a case must not end the others
            outcome.problems.append(f"{type(error).__name__}: {error}")
        yield outcome


def _run(case: Case, lane: Lane, peers: Iterable[Case], outcome: Outcome) -> None:
    run = _KINDS.get(case.kind)
    if run is None:
        outcome.problems.append(f"no way to run a {case.kind} yet")
        return
    batched = lane is not Lane.RECORD and _has_batch_lane(case)
    if lane is not Lane.BATCH or not batched:
        _check(case, attempt(lambda: run(case)), outcome, "record lane")
    if batched:
        for rows in mixtures(case, peers):
            _run_batch(case, rows, outcome)


def _has_batch_lane(case: Case) -> bool:
    failing = case.expected_error is not None and case.expected_error.get("stage") == "configure"
    header = isinstance(case.input, dict) and "headerKey" in case.input
    return case.kind in _BATCH_KINDS and case.input is not None and not failing and not header


def _run_batch(case: Case, rows: Sequence[Row], outcome: Outcome) -> None:
    label = f"batch of {len(rows)}"
    try:
        result = _BATCH_KINDS[case.kind](case, rows)
    except FailedStep as failure:
        outcome.problems.append(f"{label}: {failure}")
        return
    equal = all(row is rows[0] for row in rows)
    outcome.homogeneous_batches += equal
    outcome.homogeneous_fallbacks += equal and result.fell_back and case.expected_error is None
    for row, found in zip(rows, result.results, strict=True):
        if row is rows[0]:
            _check(case, found, outcome, label)
        else:
            _check_peer(case, row, found, outcome)


def _check(case: Case, found: Json | FailedStep, outcome: Outcome, label: str) -> None:
    expected = case.expected_error
    if isinstance(found, FailedStep):
        problem = f"unexpected {found}" if expected is None else error_difference(expected, found)
    elif expected is not None:
        problem = f"expected {expected['class']} ({expected['message']}), got {found}"
    else:
        problem = difference(case.expect, found)
    if problem is not None:
        outcome.problems.append(f"{label}: {problem}")


def _check_peer(case: Case, row: Row, found: Json | FailedStep, outcome: Outcome) -> None:
    """Compare a peer's row with the record lane under the same configuration."""
    alone = Case(case.area, case.id, case.kind, case.java_class, case.config, row.input, None)
    wanted = attempt(lambda: _KINDS[case.kind](alone))
    if isinstance(wanted, FailedStep) or isinstance(found, FailedStep):
        problem = None if str(wanted) == str(found) else f"records say {wanted}, a batch {found}"
    else:
        problem = difference(wanted, found)
    if problem is not None:
        outcome.problems.append(f"row of a mixed batch: {problem}")

"""Connect's classes and ours on the same random cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from tests.conformance.case import Case
from tests.conformance.runner import Lane, run_cases
from tests.fuzz.accepted import accepted, is_of_the_jvm
from tests.fuzz.connect_classes import ConnectClasses
from tests.fuzz.generate import cases

__all__ = ["Campaign", "Difference", "run_campaign"]

Json = Any
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Difference:
    """A case that the two sides answer differently."""

    case: Case
    problem: str


@dataclass(slots=True)
class Campaign:
    """What a number of cases came to."""

    seed: int
    cases: int = 0
    errors: int = 0
    """Cases in which Connect's class refused its input."""
    kinds: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    def summary(self) -> str:
        """Return the last line of a report."""
        known = sum(self.accepted.values())
        return (
            f"seed {self.seed}: {self.cases} cases ({self.errors} of them errors), {known} accepted differences, "
            f"{len(self.differences)} others"
        )


def run_campaign(classes: ConnectClasses, seed: int, count: int) -> Campaign:
    """Run ``count`` cases in both lanes."""
    campaign = Campaign(seed)
    drawn = cases(seed, count)
    while batch := list(islice(drawn, _AT_ONCE)):
        for difference in _compare(classes, batch, campaign):
            reason = accepted(difference.case, difference.problem)
            if reason is None:
                campaign.differences.append(difference)
            else:
                campaign.accepted[reason] += 1
    return campaign


def _compare(classes: ConnectClasses, batch: list[Case], campaign: Campaign) -> Iterator[Difference]:
    known = []
    for case, answer in zip(batch, classes.run(batch), strict=True):
        is_error = isinstance(answer, dict) and "error" in answer
        if is_error and answer["error"]["stage"] == "decode":
            # The generator made what no program could hold.
            continue
        if is_error and is_of_the_jvm(answer["error"]):
            answer["error"]["jvm_text"] = True
        campaign.errors += is_error
        known.append(replace(case, expect=answer))
    campaign.cases += len(known)
    campaign.kinds.update(case.kind for case in known)
    for outcome in run_cases(known, Lane.BOTH):
        if outcome.problems:
            yield Difference(outcome.case, outcome.problems[0])

"""Ways of doing the same work that take turns, and what is made of their figures."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import psutil

from tests.benchmarks.connector_runs import Moved
from tests.benchmarks.usage import Usage, watched

__all__ = ["Comparison", "Goal", "Run", "Way", "Work", "compared", "machine"]

MAXIMUM_CPU_SHARE = 0.25
"""Of the peer's processor time a record, that of ours."""


@dataclass(frozen=True)
class Way:
    """A way to do the work: ``run(turn)`` does all of it once, into a new target.

    ``prepare(turn)`` comes before and is not measured.
    """

    name: str
    run: Callable[[int], Moved]
    prepare: Callable[[int], None] | None = None


@dataclass(frozen=True)
class Goal:
    """How much faster the first way is to be than another; ``in_each``: in every round, else of the medians."""

    peer: str
    ratio: float
    in_each: bool = False
    limits_cpu: bool = False


@dataclass(frozen=True)
class Work:
    """What is measured: ours is the first way."""

    name: str
    title: str
    ways: Sequence[Way]
    goals: Sequence[Goal] = ()


@dataclass(frozen=True)
class Run:
    """One run of a way."""

    records: int
    seconds: float
    usage: Usage

    @property
    def rate(self) -> float:
        """Records a second."""
        return self.records / self.seconds

    @property
    def cpu(self) -> float:
        """Processor seconds of the whole machine per million records."""
        return self.usage.cpu_seconds / self.records * 1e6


@dataclass(frozen=True)
class Comparison:
    """All runs of a work: ``first`` found nothing warm, ``runs`` are the rounds after it."""

    work: Work
    first: Mapping[str, Run]
    runs: Mapping[str, Sequence[Run]]

    def median_rate(self, name: str) -> float:
        """Return a way's median of records a second."""
        return statistics.median(run.rate for run in self.runs[name])

    def median_cpu(self, name: str) -> float:
        """Return a way's median of processor seconds per million records."""
        return statistics.median(run.cpu for run in self.runs[name])

    def ratios(self, peer: str) -> list[float]:
        """Return how much faster ours was than another way, round by round."""
        return [ours.rate / theirs.rate for ours, theirs in zip(self.runs[self.ours], self.runs[peer], strict=True)]

    @property
    def ours(self) -> str:
        """The name of the first way."""
        return self.work.ways[0].name

    def verdicts(self) -> Iterator[tuple[str, bool]]:
        """Yield each goal as a sentence with its figures, and whether it is reached."""
        for goal in self.work.goals:
            ratios = self.ratios(goal.peer)
            median = self.median_rate(self.ours) / self.median_rate(goal.peer)
            found = min(ratios) if goal.in_each else median
            extremes = f"{median:.2f}x of the medians, {min(ratios):.2f}x to {max(ratios):.2f}x in a round"
            yield f"{goal.peer}: {extremes}; wanted {goal.ratio:g}x", found >= goal.ratio
            if goal.limits_cpu:
                share = self.median_cpu(self.ours) / self.median_cpu(goal.peer)
                text = f"processor time {share:.2f} of {goal.peer}; wanted {MAXIMUM_CPU_SHARE:g} at most"
                yield text, share <= MAXIMUM_CPU_SHARE

    def to_json(self) -> dict[str, Any]:
        """Return all figures."""
        return {
            "work": self.work.name,
            "title": self.work.title,
            "ways": {way.name: self._way(way.name) for way in self.work.ways},
            "goals": [{"text": text, "reached": reached} for text, reached in self.verdicts()],
        }

    def _way(self, name: str) -> dict[str, Any]:
        runs = sorted(self.runs[name], key=lambda run: run.rate)
        middle = runs[len(runs) // 2]
        return {
            "records": runs[0].records,
            "records_per_second": {
                "median": self.median_rate(name),
                "min": runs[0].rate,
                "max": runs[-1].rate,
                "first_run": self.first[name].rate,
            },
            "ours_is_times_as_fast": self.median_rate(self.ours) / self.median_rate(name),
            "cpu_seconds_per_million": self.median_cpu(name),
            "cpu_seconds_per_million_by_process": {
                role: spent / middle.records * 1e6 for role, spent in middle.usage.by_role.items()
            },
            "peak_memory_bytes_by_process": dict(middle.usage.peak_memory),
        }


def compared(work: Work, rounds: int) -> Comparison:
    """Let the ways of a work take turns, so that what else the machine does hits all of them alike."""
    first = {way.name: _run(way, 0) for way in work.ways}
    runs: dict[str, list[Run]] = {way.name: [] for way in work.ways}
    for turn in range(1, rounds + 1):
        for way in work.ways:
            runs[way.name].append(_run(way, turn))
    return Comparison(work, first, runs)


def _run(way: Way, turn: int) -> Run:
    if way.prepare is not None:
        way.prepare(turn)
    with watched() as watch:
        done = way.run(turn)
    return Run(done.records, done.seconds, watch.usage)


def machine() -> dict[str, Any]:
    """Return what figures depend on."""
    packages = ("connect-core", "pyspark", "confluent-kafka", "pyarrow", "polars")
    return {
        "processors": psutil.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
    }

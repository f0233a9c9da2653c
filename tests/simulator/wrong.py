"""Wrong protocols: production functions replaced for a while by ones with a known mistake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from tests.simulator.chances import Plot
from tests.simulator.scenario import plotted, seeded
from tests.simulator.traits import Traits
from tests.simulator.truth import Violation

__all__ = ["Patch", "Wrong", "caught", "patched", "wrong"]

Patch = tuple[Any, str, Any]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A mistake, the kind of connector that shows it, and the faults that lead there, where chance seldom does."""

    kind: str
    patches: tuple[Patch, ...]
    plot: Plot = ()
    traits: Traits = field(default_factory=dict)
    """What is special of the world that shows it."""


@contextmanager
def patched(patches: tuple[Patch, ...]) -> Iterator[None]:
    """Replace functions while the block runs."""
    kept = [(place, name, getattr(place, name)) for place, name, _ in patches]
    try:
        for place, name, value in patches:
            setattr(place, name, value)
        yield
    finally:
        for place, name, value in kept:
            setattr(place, name, value)


def caught(
    kind: str, seeds: range, plot: Plot = (), traits: Traits = MappingProxyType({})
) -> tuple[int, int, str] | None:
    """Run histories of one kind until one breaks an invariant → seed, steps altogether, which one."""
    steps = 0
    for seed in seeds:
        schedule = plotted(seed, kind, plot, traits) if plot else seeded(seed, kind, traits)
        try:
            schedule.run()
        except Violation as violation:
            return seed, steps + schedule.steps, str(violation)
        steps += schedule.steps
    return None


def wrong(kind: str, *patches: Patch, plot: Plot = (), **traits: object) -> Wrong:
    """Return a mistake of one kind of connector; ``traits`` are those of the world that shows it."""
    return Wrong(kind, patches, plot, MappingProxyType(traits))

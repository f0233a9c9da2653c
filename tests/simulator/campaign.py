"""Many histories, and what they came to: steps, coverage of kill points and faults, violations."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations
from itertools import count as count_from
from types import MappingProxyType

from tests.simulator.chances import FAULTS, POINTS, Chances
from tests.simulator.history import KINDS
from tests.simulator.scenario import seeded
from tests.simulator.traits import PAIRS, TRAITS, drawn, fields_of, may_have
from tests.simulator.truth import Violation

__all__ = ["ACCIDENTAL", "STEPS", "UNREACHABLE", "Tally", "report", "run_all", "run_more", "run_share"]

UNREACHABLE: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        **dict.fromkeys(
            [(point, "duplicate") for point in POINTS if point not in ("K3", "K4", "K5", "K6")],
            "Spark runs a task twice, and tasks are between K3 and K6; a driver run twice is 'overtaken'",
        ),
        **dict.fromkeys(
            [("K8", "expire"), ("K8", "compact")],
            "only a source has transactions and the offsets topic, and it has nothing to publish",
        ),
    }
)
"""Pairs of a kill point and a fault that cannot be, and why."""

ACCIDENTAL: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        **dict.fromkeys(
            [(point, "expire") for point in POINTS if point not in ("K0", "K5", "K6", "K8")],
            "a transaction is open from K4 to K6, and until a fence ends it: here it is that of another process",
        ),
        **dict.fromkeys(
            [("K4", "arrive late"), ("K5", "arrive late")],
            "late acts seldom meet a task that writes: its fence comes before",
        ),
    }
)
"""Pairs that are met by accident only, and why: they are counted, and no number is asked of them."""

STEPS = 1_000_000
"""How many steps are run unless told otherwise."""

_LEAST, _LEAST_REVIVED = 15, 150
_MORE = 500
"""How many histories more are run at most where something was too rare."""
_DEVIATIONS = 4.0
"""By how many standard deviations a trait's share may differ from its probability."""


@dataclass(slots=True)
class Tally:
    """What a share of the histories came to."""

    steps: int = 0
    histories: int = 0
    delivered: int = 0
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    traits: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """How many histories were of a kind and had just these traits: the kind, then their names."""
    violations: list[str] = field(default_factory=list)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.steps + other.steps,
            self.histories + other.histories,
            self.delivered + other.delivered,
            self.seen + other.seen,
            self.traits + other.traits,
            self.violations + other.violations,
        )

    @property
    def rare(self) -> tuple[str, ...]:
        """Pairs hit less often than promised for ``STEPS``: each 15 times, revived zombies 150 times."""
        return tuple(f"{point} and {fault}: {self.seen[point, fault]}" for point, fault in self.rare_pairs)

    @property
    def rare_pairs(self) -> tuple[tuple[str, str], ...]:
        """The same pairs: a kill point, and a fault."""
        share = min(1.0, self.steps / STEPS)
        return tuple(
            (point, fault)
            for point in POINTS
            for fault in FAULTS
            if (point, fault) not in {**UNREACHABLE, **ACCIDENTAL}
            and self.seen[point, fault] < share * (_LEAST_REVIVED if fault == "revived" else _LEAST)
        )

    @property
    def unmet(self) -> tuple[str, ...]:
        """Pairs of traits that no history of their kind had, though they may meet."""
        return tuple(f"{kind}: {one} and {other}" for kind, one, other in self.unmet_pairs)

    @property
    def unmet_pairs(self) -> tuple[tuple[str, str, str], ...]:
        """The same pairs: kind, one trait, the other."""
        met = {(kind, *pair) for kind, *names in self.traits for pair in combinations(names, 2)}
        return tuple(pair for pair in PAIRS if pair not in met)

    @property
    def shares(self) -> Mapping[str, tuple[int, int]]:
        """Trait → how many histories had it, of how many that might."""
        return {name: self._share(name) for name in TRAITS}

    def _share(self, name: str) -> tuple[int, int]:
        # A trait that gives way to an earlier one was not to be had beside that.
        earlier = list(TRAITS)[: list(TRAITS).index(name)]
        might = {
            key: count
            for key, count in self.traits.items()
            if may_have(name, key[0], [other for other in key[1:] if other in earlier])
        }
        return sum(count for key, count in might.items() if name in key[1:]), sum(might.values())

    @property
    def uneven(self) -> tuple[str, ...]:
        """Traits whose share is further from their probability than chance explains."""
        found = []
        for name, (count, of) in self.shares.items():
            wanted = TRAITS[name].probability
            if abs(count - of * wanted) > _DEVIATIONS * math.sqrt(of * wanted * (1 - wanted)):
                found.append(f"{name}: {count} of {of}, not {wanted:.3f}")
        return tuple(found)


def run_share(share: int, shares: int, first_seed: int, steps: int, kinds: Sequence[str] = KINDS) -> Tally:
    """Run every ``shares``-th seed from the first on, all kinds of connectors in turn, for so many steps."""
    logging.disable(logging.WARNING)
    tally, seed = Tally(), first_seed + share
    try:
        while tally.steps < steps:
            for kind in kinds:
                _run(tally, seed, kind)
            seed += shares
    finally:
        logging.disable(logging.NOTSET)
    return tally


def _run(tally: Tally, seed: int, kind: str) -> None:
    names = drawn(seed, kind)
    schedule = seeded(seed, kind, fields_of(names))
    try:
        schedule.run()
    except Violation as violation:
        told = f" ({', '.join(names)})" if names else ""
        tally.violations.append(f"{kind} seed {seed}{told}, step {schedule.steps}: {violation}")
    tally.steps += schedule.steps
    tally.histories += 1
    tally.delivered += schedule.history.truth.delivered
    tally.seen += schedule.seen
    tally.traits[kind, *names] += 1


def run_all(steps: int, first_seed: int, processes: int, kinds: Sequence[str] = KINDS) -> Tally:
    """Run so many steps, assigned to processes."""
    with ProcessPoolExecutor(processes) as pool:
        shares = [
            pool.submit(run_share, share, processes, first_seed, -(-steps // processes), kinds)
            for share in range(processes)
        ]
        return sum((share.result() for share in shares), Tally())


def run_more(tally: Tally, first_seed: int) -> Tally:
    """Run what fewer steps than ``STEPS`` seldom meet → what those histories came to, ``_MORE`` at most.

    That is one of each pair of traits that none had, and of the next seeds those
    that are hit most at a point where some fault was too rare, until none is.
    """
    logging.disable(logging.WARNING)
    found, seed = Tally(), first_seed + tally.histories
    try:
        for kind, *pair in tally.unmet_pairs:
            _run(found, next(one for one in count_from(seed) if {*pair} <= {*drawn(one, kind)}), kind)
        while (rare := (tally + found).rare_pairs) and found.histories < _MORE:
            points = {point for point, _ in rare}
            for kind in KINDS:
                if Chances.seeded(seed, kind).focus in points:
                    _run(found, seed, kind)
            seed += 1
    finally:
        logging.disable(logging.NOTSET)
    return found


def report(tally: Tally, first_seed: int, seconds: float) -> str:
    """Return what was run, the coverage table, what cannot be, and what broke."""
    head = (
        f"{tally.steps:,} steps in {tally.histories:,} histories from seed {first_seed} on, {tally.delivered:,} "
        f"records delivered, {seconds:.0f} s, {len(tally.violations)} violations"
    )
    return "\n".join(
        (head, "", *_table(tally), "", *_cannot_be(), *_traits(tally), *_too_rare(tally), *tally.violations[:20])
    )


def _table(tally: Tally) -> Iterator[str]:
    yield f"{'':<14}" + "".join(f"{point:>8}" for point in POINTS)
    for fault in FAULTS:
        cells = (
            "-" if (point, fault) in UNREACHABLE else f"{tally.seen[point, fault]:,}"
            for point in POINTS
        )  # fmt: skip
        yield f"{fault:<14}" + "".join(f"{cell:>8}" for cell in cells)


def _cannot_be() -> Iterator[str]:
    for what, pairs_of in (("Cannot be", UNREACHABLE), ("By accident only", ACCIDENTAL)):
        reasons: dict[str, list[str]] = {}
        for (point, fault), why in pairs_of.items():
            reasons.setdefault(why, []).append(f"{point} and {fault}")
        for why, pairs in reasons.items():
            yield f"{what}: {', '.join(pairs)}: {why}."


def _traits(tally: Tally) -> Iterator[str]:
    told = (f"{name} {count:,} of {of:,}" for name, (count, of) in tally.shares.items())
    yield f"Traits: {', '.join(told)}."
    for what, which in (("Never met", tally.unmet), ("Uneven", tally.uneven)):
        if which:
            yield f"{what}: {'; '.join(which)}."


def _too_rare(tally: Tally) -> Iterator[str]:
    if tally.rare:
        yield f"Too rare: {'; '.join(tally.rare)}."

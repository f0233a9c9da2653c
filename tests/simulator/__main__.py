"""Run the simulator: ``python -m tests.simulator [--steps N] [--seed N] [--processes N]``."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from tests.simulator.history import KINDS
from tests.simulator.schedule import Violation, seeded

__all__ = ["Tally", "main", "report", "run_steps"]

_POINTS = tuple(f"K{number}" for number in range(11))
_SHOWN = ("crash", "overtaken", "zombie", "revived", "lost reply", "lost request", "delay", "duplicate")


@dataclass(slots=True)
class Tally:
    """What a share of the histories came to."""

    steps: int = 0
    histories: int = 0
    delivered: int = 0
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.steps + other.steps,
            self.histories + other.histories,
            self.delivered + other.delivered,
            self.seen + other.seen,
            self.violations + other.violations,
        )


def run_steps(share: int, shares: int, first_seed: int, steps: int) -> Tally:
    """Run every ``shares``-th seed from the first on, all kinds of connectors in turn, for so many steps."""
    logging.disable(logging.WARNING)
    tally, seed = Tally(), first_seed + share
    while tally.steps < steps:
        for kind in KINDS:
            schedule = seeded(seed, kind)
            try:
                schedule.run()
            except Violation as violation:
                tally.violations.append(f"{kind} seed {seed}, step {schedule.steps}: {violation}")
            tally.steps += schedule.steps
            tally.histories += 1
            tally.delivered += schedule.history.truth.delivered
            tally.seen += schedule.seen
        seed += shares
    return tally


def report(tally: Tally, first_seed: int, seconds: float) -> str:
    """Return what was run, the coverage table, and what never happened."""
    lines = [
        f"{tally.steps:,} steps in {tally.histories:,} histories from seed {first_seed} on, {tally.delivered:,} "
        f"records delivered, {seconds:.0f} s, {len(tally.violations)} violations",
        "",
        "point " + "".join(f"{fault:>14}" for fault in _SHOWN),
    ]
    for point in _POINTS:
        lines.append(f"{point:<6}" + "".join(f"{tally.seen[point, fault]:>14,}" for fault in _SHOWN))
    never = [f"{point} and {fault}" for point in _POINTS for fault in _SHOWN if not tally.seen[point, fault]]
    lines += ["", f"Never: {', '.join(never) or 'nothing'}.", *tally.violations[:20]]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Run so many steps and print the report → exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulator", description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    began = time.monotonic()
    shares = options.processes
    with ProcessPoolExecutor(shares) as pool:
        running = [
            pool.submit(run_steps, share, shares, options.seed, options.steps // shares) for share in range(shares)
        ]
        tally = sum((one.result() for one in running), Tally())
    print(report(tally, options.seed, time.monotonic() - began))
    return 1 if tally.violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

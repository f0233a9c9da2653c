"""Run the simulator: ``python -m tests.simulator [--steps N] [--seed N] [--processes N] [--kind KIND]``.

Prints the coverage and every violation with its seed; ``--seed S --kind KIND
--show`` runs that one history again and prints what happened in it.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time

from tests.simulator.campaign import STEPS, report, run_all
from tests.simulator.history import KINDS
from tests.simulator.scenario import seeded
from tests.simulator.traits import drawn, fields_of
from tests.simulator.truth import Violation


def main(arguments: list[str]) -> int:
    """Run so many steps and print the report → exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulator", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=STEPS, help=f"how many; {STEPS:,} unless given")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; 0 unless given")
    parser.add_argument("--processes", type=int, default=2, help="2 unless given")
    parser.add_argument("--kind", choices=KINDS, help="one kind of connector only")
    parser.add_argument("--show", action="store_true", help="run the history of one seed and kind, and print it")
    options = parser.parse_args(arguments)
    if options.show:
        return show(options.seed, options.kind or KINDS[0])
    began = time.monotonic()
    kinds = (options.kind,) if options.kind else KINDS
    tally = run_all(options.steps, options.seed, options.processes, kinds)
    print(report(tally, options.seed, time.monotonic() - began))
    return 1 if tally.violations or tally.rare or tally.unmet or tally.uneven else 0


def show(seed: int, kind: str) -> int:
    """Run one history and print its log → exit status."""
    logging.disable(logging.WARNING)
    names = drawn(seed, kind)
    print(f"{kind}: {', '.join(names) or 'no traits'}")
    schedule = seeded(seed, kind, fields_of(names))
    try:
        schedule.run()
    except Violation as violation:
        print(*schedule.log, f"{schedule.steps} {violation}", sep="\n")
        return 1
    print(*schedule.log, f"{schedule.steps} steps, no violation", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""``python -m tests.conformance DIR [--lane record|batch|both] [--area NAME]``."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.conformance.case import load_cases
from tests.conformance.runner import Lane, Outcome, run_cases


def main() -> int:
    """Run the cases of a folder; the last line counts them."""
    arguments = _arguments()
    cases = load_cases(arguments.directory, arguments.area)
    outcomes = list(run_cases(cases, arguments.lane))
    failed = [outcome for outcome in outcomes if not outcome.passed]
    for outcome in failed:
        _say(outcome.case.id if not arguments.verbose else f"{outcome.case.id}\n    {outcome.problems[0]}")
    if arguments.fallbacks:
        _say_fallbacks(outcomes)
    _say(f"{len(outcomes) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=main.__doc__)
    parser.add_argument("directory", type=Path, help="folder of *.json files")
    parser.add_argument("--lane", type=Lane, choices=list(Lane), default=Lane.BOTH, metavar="record|batch|both")
    parser.add_argument("--area", action="append", default=[], help="only this area; may be repeated")
    parser.add_argument("--verbose", action="store_true", help="say below each failing id what differs")
    parser.add_argument("--fallbacks", action="store_true", help="count homogeneous batches that fell back to records")
    return parser.parse_args()


def _say_fallbacks(outcomes: Iterable[Outcome]) -> None:
    batches: Counter[str] = Counter()
    fallbacks: Counter[str] = Counter()
    for outcome in outcomes:
        name = str(outcome.case.java_class)
        batches[name] += outcome.homogeneous_batches
        fallbacks[name] += outcome.homogeneous_fallbacks
    for name, count in sorted(batches.items()):
        if count:
            _say(f"{name}: {fallbacks[name]} of {count} homogeneous batches fell back")


def _say(text: str) -> None:
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")


if __name__ == "__main__":
    sys.exit(main())

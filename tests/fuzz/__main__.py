"""``make fuzz``: the real Java classes and ours on random configurations, schemas and values.

``python -m tests.fuzz [COUNT] [SEED]``; without a seed, a random one. Exit 1 when there is a difference that
``accepted.py`` gives no reason for; the first of each kind is printed whole.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import secrets
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.fuzz.campaign import Campaign, Difference, run_campaign
from tests.fuzz.connect_classes import connect_classes

_COUNT = 200_000
_LEAST = 2000
_SHOWN = 60
_VALUE = re.compile(r"\d+|'[^']*'|\"[^\"]*\"")


def main(arguments: Sequence[str]) -> int:
    """Run campaigns side by side, of consecutive seeds; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=_COUNT, help="number of cases")
    parser.add_argument("seed", nargs="?", type=int, default=secrets.randbelow(2**31))
    options = parser.parse_args(arguments)
    count, seed = options.count, options.seed
    processes = min(os.cpu_count() or 1, max(1, count // _LEAST))
    with ProcessPoolExecutor(processes) as pool:
        parts = list(pool.map(_campaign, range(seed, seed + processes), [count // processes] * processes))
    kinds = sum((part.kinds for part in parts), Counter[str]())
    for kind, number in sorted(kinds.items()):
        print(f"{number:8} {kind}")
    for reason, number in sum((part.accepted for part in parts), Counter[str]()).most_common():
        print(f"{number:8} accepted: {reason}")
    differences = [one for part in parts for one in part.differences]
    for difference, number in _first_of_each(differences):
        print(f"{_described(difference)}\n  {number} like it")
    for part in parts:
        print(part.summary())
    return 1 if differences else 0


def _campaign(seed: int, count: int) -> Campaign:
    # Connect warns of duplicates in lists, and so does each try of a case.
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder, connect_classes(Path(folder)) as classes:
        return run_campaign(classes, seed, count)


def _first_of_each(differences: Sequence[Difference]) -> list[tuple[Difference, int]]:
    """Return the shortest of those alike, and how many they are; the most frequent first."""
    alike: dict[str, list[Difference]] = defaultdict(list)
    for one in differences:
        alike[f"{one.case.kind} {one.case.java_class} {_VALUE.sub('', one.problem)[:80]}"].append(one)
    groups = sorted(alike.values(), key=len, reverse=True)[:_SHOWN]
    return [(min(group, key=lambda one: len(json.dumps(one.case.input))), len(group)) for group in groups]


def _described(difference: Difference) -> str:
    case = difference.case
    return (
        f"\n{case.id} {case.kind} {case.java_class}\n  config {json.dumps(case.config)}\n"
        f"  input {json.dumps(case.input)}\n  {difference.problem}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""``python -m tests.faults``: injects faults, prints a table; 1 when anything was lost or repeated.

``[--rows 1,6,9] [--named TEXT] [--smoke] [--seed N] [--minutes M] [--table FILE]``

Rows that need a Spark cluster or Airflow come last, on stacks of their own;
with Airflow one such stack at a time on a machine. ``--minutes`` takes the other rows at random for so long.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from tests.faults import table
from tests.faults.airflow_world import AirflowWorld
from tests.faults.brokers_world import AirflowBrokersWorld, BrokersWorld
from tests.faults.celery_world import CeleryWorld
from tests.faults.cluster_world import ClusterWorld
from tests.faults.history import Findings
from tests.faults.rows import ROWS, SMOKE, Row
from tests.faults.standalone_world import StandaloneWorld
from tests.faults.table import Result
from tests.faults.world import World

_LOG_CHARACTERS = 20_000
_WORLDS = (
    *(World, BrokersWorld, ClusterWorld, StandaloneWorld, AirflowWorld),
    *(AirflowBrokersWorld, CeleryWorld),
)


def main(arguments: Sequence[str]) -> int:
    """Run the rows and print what they came to → the exit status."""
    options = _options(arguments)
    seed = options.seed if options.seed is not None else secrets.randbelow(2**32)
    wanted = {int(number) for number in options.rows.split(",")} if options.rows else None
    known = (row for row in (SMOKE if options.smoke else ROWS) if options.named in row.name)
    rows = [row for row in known if wanted is None or row.number in wanted]
    print(f"seed {seed}; rows {', '.join(str(row.number) for row in rows)}\n{table.head()}", flush=True)
    results = []
    for result in _results(rows, seed, options.minutes):
        results.append(result)
        print("\n".join([result.line(), *(f"  {violation}" for violation in result.found.violations)]), flush=True)
        if options.table:
            table.write(options.table, [result.line()])
    bad = [result for result in results if not result.found.is_good]
    faults, records = (sum(getattr(one.found, what) for one in results) for what in ("faults", "records"))
    verdict = f"{len(bad)} failed" if bad else "nothing lost, nothing repeated"
    print(f"{len(results)} runs, {faults} faults, {records} records: {verdict}; seed {seed}")
    return 1 if bad else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--rows", help="numbers of the fault matrix, with commas; all when left out")
    parser.add_argument("--named", default="", help="only rows with this in their names")
    parser.add_argument("--smoke", action="store_true", help="only the rows that find most")
    parser.add_argument("--seed", type=int, help="what chance is seeded with; printed")
    parser.add_argument("--minutes", type=float, help="go on with rows taken at random for so long")
    parser.add_argument("--table", type=Path, help="a Markdown file whose table gets the results")
    return parser.parse_args(arguments)


def _results(rows: Sequence[Row], seed: int, minutes: float | None) -> Iterator[Result]:
    for kind in _WORLDS if minutes is None else (World,):
        if some := [row for row in rows if row.world is kind]:
            with tempfile.TemporaryDirectory(prefix="connect-faults-") as folder:
                yield from _in_world(kind(Path(folder), Random(seed)), some, seed, minutes)


def _in_world(world: World, rows: Sequence[Row], seed: int, minutes: float | None) -> Iterator[Result]:
    with world:
        for row in _until(rows, minutes, world.random):
            found = _run(row, world)
            if not found.is_good:
                sys.stderr.write((world.folder / "drivers.log").read_text(errors="replace")[-_LOG_CHARACTERS:])
            yield Result(row, found, seed)


def _until(rows: Sequence[Row], minutes: float | None, chance: Random) -> Iterator[Row]:
    if minutes is None:
        yield from rows
        return
    end = time.monotonic() + minutes * 60
    while time.monotonic() < end:
        yield chance.choice(rows)


def _run(row: Row, world: World) -> Findings:
    try:
        return row.run(world)
    except Exception as error:
        traceback.print_exc()
        return Findings(0, 0, 0, 0, (f"{type(error).__name__}: {error}",), 0.0)
    finally:
        world.end_drivers()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

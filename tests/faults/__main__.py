"""``python -m tests.faults [--rows 1,6,9] [--seed N] [--minutes M]``: injects faults, prints the table; 1 on a loss."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

from tests.faults.history import Findings
from tests.faults.rows import ROWS, Row
from tests.faults.world import World


def main(arguments: Sequence[str]) -> int:
    """Run the rows and print what they came to → the exit status."""
    options = _options(arguments)
    seed = options.seed if options.seed is not None else secrets.randbelow(2**32)
    wanted = {int(number) for number in options.rows.split(",")} if options.rows else None
    rows = [row for row in ROWS if wanted is None or row.number in wanted]
    print(f"seed {seed}; rows {', '.join(str(row.number) for row in rows)}", flush=True)
    print("| row | fault | injected | records | lost | repeated | violations | seconds to recover |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="connect-faults-") as folder, World(Path(folder), Random(seed)) as world:
        for row in _until(rows, options.minutes, world.random):
            found = _run(row, world)
            bad += not found.is_good
            print(_line(row, found), flush=True)
            for violation in found.violations:
                print(f"  {violation}", flush=True)
        if bad:
            sys.stderr.write((Path(folder) / "drivers.log").read_text(errors="replace")[-20_000:])
    print(f"{bad} rows failed, seed {seed}" if bad else f"nothing lost, nothing repeated, seed {seed}")
    return 1 if bad else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--rows", help="numbers of the fault matrix, with commas; all when left out")
    parser.add_argument("--seed", type=int, help="what chance is seeded with; printed")
    parser.add_argument("--minutes", type=float, help="go on with rows taken at random for so long")
    return parser.parse_args(arguments)


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


def _line(row: Row, found: Findings) -> str:
    cells: Iterable[object] = (
        row.number,
        row.name,
        found.faults,
        found.records,
        found.lost,
        found.repeated,
        len(found.violations),
        f"{found.recovery_seconds:.1f}",
    )
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

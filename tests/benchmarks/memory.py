"""What a Python worker needs for any backlog: ``python -m tests.benchmarks.memory [--records N N] [--json FILE]``.

Exports a small and a large backlog of JSON orders through two transforms to Parquet, with four tasks, each in Python
processes of its own: each export has a stack of its own, so that it begins with none. Peaks are the kernel's.
Goals: at most 600 MB for a process, and at most 10 % more for the large backlog than for the small one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from connect_core.dev.processes import marked
from connect_core.dev.spark_processes import DAEMON_MODULE
from tests.benchmarks.comparison import machine
from tests.benchmarks.environment import PARTITIONS, Environment, benchmark_environment
from tests.benchmarks.works.parquet import sink_config

__all__ = ["main"]

_RECORDS = (1_000_000, 20_000_000)
_MOST_BYTES, _MOST_GROWTH = 600_000_000, 1.1
_SAMPLE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Peak:
    """An export: the processes that worked in it, and the largest resident size of one of them."""

    records: int
    seconds: float
    processes: int
    peak_bytes: int


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and return 1 if a goal is not reached."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.memory", description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=_RECORDS)
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args(arguments)
    found = list[Peak]()
    with tempfile.TemporaryDirectory(prefix="connect-memory-") as folder:
        for records in sorted(options.records):
            with benchmark_environment(Path(folder) / str(records), Path(), has_peer=False) as environment:
                found.append(_measured(environment, records))
            print(_told(found[-1]), flush=True)
    most = max(one.peak_bytes for one in found)
    growth = found[-1].peak_bytes / found[0].peak_bytes
    print(f"at most {most / 1e6:,.0f} MB (goal {_MOST_BYTES / 1e6:,.0f}), {growth:.2f} times (goal {_MOST_GROWTH})")
    if options.json:
        figures = {"exports": [asdict(one) for one in found], "growth": growth}
        options.json.write_text(json.dumps({"machine": machine(), "figures": figures}, indent=1) + "\n")
    return 0 if most <= _MOST_BYTES and growth <= _MOST_GROWTH else 1


def _told(peak: Peak) -> str:
    return (
        f"{peak.records:,} records in {peak.seconds:.1f} s by {peak.processes} Python processes:"
        f" at most {peak.peak_bytes / 1e6:,.0f} MB in one"
    )


def _measured(environment: Environment, records: int) -> Peak:
    topic = f"orders-{records}"
    environment.fill_with_orders(topic, records)
    config = sink_config(f"memory-{records}", environment.folder / "parquet" / topic, topic)
    with _peaks(environment.stack.home.path) as peaks:
        done = environment.sink(config)
    if done.records != records or len(peaks) < PARTITIONS:
        raise RuntimeError(f"{done.records} records of {records} were moved by {len(peaks)} processes")
    return Peak(records, done.seconds, len(peaks), max(peaks.values()))


@contextmanager
def _peaks(home: Path) -> Iterator[dict[int, int]]:
    """Yield the peaks of the workers that are there during the block: by process, in bytes."""
    peaks, done = dict[int, int](), threading.Event()

    def sampling() -> None:
        while not done.wait(_SAMPLE_SECONDS):
            peaks.update({pid: peak for pid in _workers(home) if (peak := _peak_bytes(pid)) is not None})

    thread = threading.Thread(target=sampling, name="memory", daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        done.set()
        thread.join()


def _workers(home: Path) -> list[int]:
    """Return the processes that the daemon of a stack's Spark has forked."""
    daemons = {one.pid for one in marked(home) if _runs_daemon(one.pid)}
    # What it forks has its command line and its environment.
    return [pid for pid in daemons if _parent(pid) in daemons]


def _runs_daemon(pid: int) -> bool:
    with suppress(psutil.Error):
        return DAEMON_MODULE in " ".join(psutil.Process(pid).cmdline())
    return False


def _parent(pid: int) -> int | None:
    with suppress(psutil.Error):
        return psutil.Process(pid).ppid()
    return None


def _peak_bytes(pid: int) -> int | None:
    """Return the largest resident size that a process has had; ``None`` if it has ended."""
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), None)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

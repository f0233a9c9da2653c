"""Processor time and memory of every process of the machine, by what the process is, while something runs."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import psutil

from connect_core.dev.spark_processes import DAEMON_MODULE

__all__ = ["Usage", "role_of", "watched"]

_SAMPLE_SECONDS = 0.5
"""A sample takes 10 ms: this is 2 % of a processor."""
_ROLES = (
    ("ConnectStandalone", "Kafka Connect worker"),
    ("connectcore.Host", "Java plugins' processes"),
    ("kafka.Kafka", "Kafka broker"),
    ("pyspark/daemon", "Spark's Python workers"),
    ("pyspark.daemon", "Spark's Python workers"),
    (DAEMON_MODULE, "Spark's Python workers"),
    ("org.apache.spark", "Spark's JVM"),
    ("spark/kafka_to_parquet.py", "Spark, started by its own script"),
    ("weed server", "S3 server"),
    ("apicurio", "schema registry"),
    ("quarkus", "schema registry"),
    ("postgres", "PostgreSQL"),
    ("multiprocessing", "consumer processes"),
    ("drain.py", "measuring client"),
    ("tests.benchmarks", "driver"),
)
"""What a command line contains, and what the process is then; the first that fits counts."""
_OTHERS = "others"


@dataclass(frozen=True)
class Usage:
    """What ran while a block did.

    ``cpu_seconds``: processor time of the whole machine. ``by_role``: processor time by
    what the process is; ``others`` is what ended between two samples, and what has no role. ``peak_memory``: the
    largest resident size, in bytes, that all processes of a role had together.
    """

    cpu_seconds: float
    by_role: Mapping[str, float] = field(default_factory=dict)
    peak_memory: Mapping[str, int] = field(default_factory=dict)


class Watch:
    """Samples until it is stopped; ``usage`` is there afterwards."""

    def __init__(self) -> None:
        self.usage = Usage(0)
        self._roles: dict[tuple[int, float], str] = {}
        self._first: dict[tuple[int, float], float] = {}
        self._last: dict[tuple[int, float], float] = {}
        self._peaks: dict[str, int] = {}

    def sample(self, is_first: bool = False) -> None:
        """Note the processor time and the size of every process."""
        sizes: dict[str, int] = defaultdict(int)
        for process in psutil.process_iter():
            with suppress(psutil.Error), process.oneshot():
                key = process.pid, process.create_time()
                if key not in self._roles:
                    self._roles[key] = role_of(process.cmdline())
                    # A process that began since has its whole time counted.
                    self._first[key] = _cpu(process) if is_first else 0.0
                self._last[key] = _cpu(process)
                sizes[self._roles[key]] += process.memory_info().rss
        for role, size in sizes.items():
            self._peaks[role] = max(self._peaks.get(role, 0), size)

    def usage_of(self, cpu_seconds: float) -> Usage:
        """Return the differences between the first sample and the last."""
        found: dict[str, float] = defaultdict(float)
        for key, last in self._last.items():
            found[self._roles[key]] += last - self._first[key]
        named = {role: spent for role, spent in found.items() if role != _OTHERS and spent >= 0.01}
        named[_OTHERS] = max(0.0, cpu_seconds - sum(named.values()))
        peaks = {role: size for role, size in self._peaks.items() if role in named and role != _OTHERS}
        return Usage(cpu_seconds, named, peaks)


def role_of(command: Sequence[str]) -> str:
    """Return what a process with this command line is."""
    text = " ".join(command)
    return next((role for part, role in _ROLES if part in text), _OTHERS)


@contextmanager
def watched() -> Iterator[Watch]:
    """Watch the machine while the block runs."""
    watch, done = Watch(), threading.Event()
    watch.sample(is_first=True)
    busy = _busy_seconds()

    def sampling() -> None:
        while not done.wait(_SAMPLE_SECONDS):
            watch.sample()

    thread = threading.Thread(target=sampling, name="usage", daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        spent = _busy_seconds() - busy
        done.set()
        thread.join()
        watch.sample()
        watch.usage = watch.usage_of(spent)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _busy_seconds() -> float:
    times = psutil.cpu_times()
    return float(times.user + times.system + times.nice)

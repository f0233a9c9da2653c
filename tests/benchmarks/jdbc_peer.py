"""A standalone worker of Apache Kafka Connect with Debezium's connectors, and how figures stand beside each other."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template

from rich.table import Table

from tests.benchmarks.connect_worker import PEER, await_plugins
from tests.benchmarks.kafka_to_parquet import Figure
from tests.benchmarks.memory import Memory
from tests.integration.ports import free_port

__all__ = ["Measured", "Peer", "beside", "peer", "report"]

_START_SECONDS = 300.0

Measured = tuple[Figure, int]
"""A figure, and the bytes of memory at its peak."""


@dataclass(frozen=True)
class Peer:
    """A running worker: its address, the connector file filled in, and its memory."""

    url: str
    connector: Path
    memory: Memory


@contextmanager
def peer(file: str, values: Mapping[str, str], jars: Path, work: Path) -> Iterator[Peer]:
    """Run the worker for the block; ``file`` is a connector's in tests/peer/debezium."""
    url = f"http://127.0.0.1:{free_port()}"
    places = {**values, "WORK": str(work), "PORT": url.rpartition(":")[2], "JARS": str(jars)}
    worker, connector = work / f"{file}.worker.properties", work / file
    worker.write_text(Template((PEER / "worker.properties").read_text()).safe_substitute(places))
    connector.write_text(Template((PEER / "debezium" / file).read_text()).safe_substitute(places))
    command = ["java", "-Xmx3g", "-cp", f"{jars}/runtime/*", "org.apache.kafka.connect.cli.ConnectStandalone"]
    with (work / f"{file}.log").open("w") as log:
        process = subprocess.Popen([*command, str(worker)], stdout=log, stderr=log)
    memory = Memory(process.pid)
    try:
        await_plugins(url, _START_SECONDS)
        with memory.watched():
            yield Peer(url, connector, memory)
    finally:
        process.terminate()
        process.wait(30)


def beside(theirs: Callable[[int], Measured], ours: Callable[[], list[Measured]]) -> list[Measured]:
    """Return our figures and the better of the peer's two, before and after ours: the machine's pace changes."""
    first, figures, second = theirs(0), ours(), theirs(1)
    return [*figures, min(first, second, key=lambda one: one[0].seconds)]


def report(title: str, figures: Sequence[Measured], goals: Mapping[int, float]) -> Table:
    """Return the figures, the peer's last; ``goals`` says how much faster the others by place are to be."""
    last = figures[-1][0]
    table = Table(title=title)
    for heading in ("way", "seconds", "records/s", f"as fast as {last.name}", "goal", "peak memory"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for place, (figure, peak) in enumerate(figures):
        goal = f"{goals[place]:g}x" if place in goals else ""
        rates = f"{figure.rate:,.0f}", f"{figure.rate / last.rate:.2f}x"
        table.add_row(figure.name, f"{figure.seconds:.2f}", *rates, goal, f"{peak / 2**20:,.0f} MB")
    return table

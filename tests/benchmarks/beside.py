"""What connect-core does a second, beside the same work by others, all in one run.

    python -m tests.benchmarks.beside [WORK...] [--rounds N] [--scale F] [--json FILE] [--chart FILE] [--without-peer]

The ways of a work take turns, three rounds after one that finds nothing warm; the servers are private ones. The peer is
a standalone worker of Apache Kafka Connect: its jars are fetched with Maven into a cache. Only ratios mean anything on
another machine. Processor time is that of every process of the machine: measure where nothing else runs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.console import Console

from tests.benchmarks.comparison import Comparison, Work, compared, machine
from tests.benchmarks.environment import Environment, benchmark_environment
from tests.benchmarks.report import draw, show
from tests.benchmarks.works import parquet, postgresql, registry, text_file
from tests.schema_registry.apicurio_server import apicurio_running

__all__ = ["main", "works_of"]

_PLAIN: Mapping[str, tuple[Callable[[Environment, int], Work], int]] = {
    "parquet": (parquet.two_transforms, parquet.RECORDS),
    "parquet-eight": (parquet.eight_transforms, parquet.RECORDS),
    "parquet-python": (parquet.python_transform, parquet.RECORDS),
    "file-to-kafka": (text_file.file_to_kafka, text_file.RECORDS),
    "table-to-kafka": (postgresql.table_to_kafka, postgresql.ROWS),
    "kafka-to-table": (postgresql.kafka_to_table, postgresql.UPSERTS),
}
_WITH_REGISTRY: Mapping[str, tuple[Callable[[Environment, str, int], Work], int]] = {
    "registry-to-parquet": (registry.registry_to_parquet, registry.RECORDS),
    "registry-from-table": (registry.registry_from_table, registry.ROWS),
}
WORKS = (*_PLAIN, *_WITH_REGISTRY)


def works_of(
    names: Sequence[str], environment: Environment, scale: float, url: str | None
) -> Iterator[Callable[[], Work]]:
    """Yield what prepares each work; ``scale``: times the records; ``url``: the registry's."""
    for name in names:
        if name in _PLAIN:
            prepare, records = _PLAIN[name]
            yield partial(prepare, environment, int(records * scale))
        elif url is not None:
            with_url, records = _WITH_REGISTRY[name]
            yield partial(with_url, environment, url, int(records * scale))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; 1 where a goal is not reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"of {', '.join(WORKS)}; all without any")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="times the usual records")
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--chart", type=Path, help="file for an SVG")
    parser.add_argument("--jars", type=Path, default=Path.home() / ".cache" / "connect-core" / "peers")
    parser.add_argument("--without-peer", action="store_true", help="leave Apache Kafka Connect out")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.works if name not in WORKS]
    if unknown:
        parser.error(f"unknown work {', '.join(unknown)}: choose of {', '.join(WORKS)}")
    console, found = Console(width=150), list[Comparison]()
    names = options.works or WORKS
    with _environment(options, any(name in _WITH_REGISTRY for name in names)) as (environment, url):
        for prepare in works_of(names, environment, options.scale, url):
            found.append(compared(prepare(), options.rounds))
            show(console, found[-1])
            _write(found, options)
    return 0 if all(reached for one in found for _, reached in one.verdicts()) else 1


@contextmanager
def _environment(options: argparse.Namespace, has_registry: bool) -> Iterator[tuple[Environment, str | None]]:
    with tempfile.TemporaryDirectory(prefix="connect-bench-") as name:
        folder = Path(name)
        with benchmark_environment(folder, options.jars, has_peer=not options.without_peer) as environment:
            if not has_registry:
                yield environment, None
                return
            (folder / "registry").mkdir()
            with apicurio_running(folder / "registry") as url:
                yield environment, url


def _write(found: Sequence[Comparison], options: argparse.Namespace) -> None:
    """Write what is measured so far: a run of an hour may end early."""
    if options.json:
        figures = {"machine": machine(), "works": [one.to_json() for one in found]}
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    if options.chart:
        draw(found, options.chart)


if __name__ == "__main__":
    sys.exit(main())

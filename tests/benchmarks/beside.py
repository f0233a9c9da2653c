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
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from tests.benchmarks.comparison import Comparison, Work, compared, machine
from tests.benchmarks.environment import Environment, benchmark_environment
from tests.benchmarks.report import draw, show
from tests.benchmarks.works import iceberg, java_plugins, object_store, parquet, postgresql, registry, text_file
from tests.connectors.filesystem.storages.s3.servers import S3Server, seaweed_running
from tests.schema_registry.apicurio_server import apicurio_running

__all__ = ["main", "works_of"]

_PLAIN: dict[str, tuple[Callable[[Environment, int], Work], int]] = {
    "parquet": (parquet.two_transforms, parquet.RECORDS),
    "parquet-eight": (parquet.eight_transforms, parquet.RECORDS),
    "parquet-python": (parquet.python_transform, parquet.RECORDS),
    "iceberg": (iceberg.iceberg_table, iceberg.RECORDS),
    "file-to-kafka": (text_file.file_to_kafka, text_file.RECORDS),
    "table-to-kafka": (postgresql.table_to_kafka, postgresql.ROWS),
    "kafka-to-table": (postgresql.kafka_to_table, postgresql.UPSERTS),
}
_WITH_REGISTRY: Mapping[str, tuple[Callable[[Environment, str, int], Work], int]] = {
    "registry-to-parquet": (registry.registry_to_parquet, registry.RECORDS),
    "registry-from-table": (registry.registry_from_table, registry.ROWS),
}
_WITH_S3: Mapping[str, tuple[Callable[[Environment, S3Server, int], Work], int]] = {
    "parquet-s3": (object_store.parquet_to_s3, object_store.RECORDS),
}
_WITH_JAVA: dict[str, tuple[Callable[[Environment, int], Work], int]] = {
    "java-file-to-kafka": (java_plugins.file_to_kafka, text_file.RECORDS),
    "java-debezium-snapshot": (java_plugins.debezium_snapshot, postgresql.ROWS),
    "java-jdbc-upsert": (java_plugins.jdbc_upsert, postgresql.UPSERTS),
}
"""Last: from then on all classes that plugins have are Java's."""
WORKS = (*_PLAIN, *_WITH_S3, *_WITH_REGISTRY, *_WITH_JAVA)


@dataclass(frozen=True)
class Servers:
    """The servers of a run; ``registry`` (its address) and ``s3`` are there if a work needs them."""

    environment: Environment
    registry: str | None = None
    s3: S3Server | None = None


def works_of(names: Sequence[str], servers: Servers, scale: float) -> Iterator[Callable[[], Work]]:
    """Yield what prepares each work; ``scale``: times the records."""
    environment = servers.environment
    for name in sorted(names, key=lambda name: name in _WITH_JAVA):
        if name in _PLAIN or name in _WITH_JAVA:
            prepare, records = (_PLAIN | _WITH_JAVA)[name]
            yield partial(prepare, environment, int(records * scale))
        elif name in _WITH_S3 and servers.s3 is not None:
            with_s3, records = _WITH_S3[name]
            yield partial(with_s3, environment, servers.s3, int(records * scale))
        elif servers.registry is not None:
            with_registry, records = _WITH_REGISTRY[name]
            yield partial(with_registry, environment, servers.registry, int(records * scale))


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
    with _servers(options, names) as servers:
        for prepare in works_of(names, servers, options.scale):
            found.append(compared(prepare(), options.rounds))
            show(console, found[-1])
            _write(found, options)
    return 0 if all(reached for one in found for _, reached in one.verdicts()) else 1


@contextmanager
def _servers(options: argparse.Namespace, names: Sequence[str]) -> Iterator[Servers]:
    with ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory(prefix="connect-bench-")))
        has_peer = not options.without_peer
        environment = running.enter_context(benchmark_environment(folder, options.jars, has_peer=has_peer))
        registry, s3 = None, None
        if any(name in _WITH_REGISTRY for name in names):
            registry = running.enter_context(apicurio_running(_made(folder / "registry")))
        if any(name in _WITH_S3 for name in names):
            s3 = S3Server(running.enter_context(seaweed_running(_made(folder / "s3"))))
        yield Servers(environment, registry, s3)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _write(found: Sequence[Comparison], options: argparse.Namespace) -> None:
    """Write what is measured so far: a run of an hour may end early."""
    if options.json:
        figures = {"machine": machine(), "works": [one.to_json() for one in found]}
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    if options.chart:
        draw(found, options.chart)


if __name__ == "__main__":
    sys.exit(main())

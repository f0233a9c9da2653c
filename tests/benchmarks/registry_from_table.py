"""1,000,000 rows of PostgreSQL to Kafka, exactly once: as Avro, Protobuf and JSON Schema with a registry, and as JSON.

    python -m tests.benchmarks.registry_from_table [--records N] [--rounds N] [--json FILE]

The ways take turns, so that what else the machine does hits all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from rich.console import Console

from connect_core.dev.stack import Stack
from connect_core.interval.values import ConnectorType
from tests.benchmarks.jdbc_exporting import JdbcExport
from tests.benchmarks.jdbc_source import committed, create_topic, fill, source_config
from tests.benchmarks.registry_to_parquet import CONVERTERS, JSON, Way, busy_seconds, report, show, with_converter
from tests.schema_registry.apicurio_server import apicurio_running

TASKS = 2


def measured(name: str, config: Mapping[str, str], bootstrap: str, rows: int) -> Way:
    """Run a new source to the end of the table."""
    create_topic(bootstrap, f"{name}-orders")
    before, moved, seconds = busy_seconds(), 0, 0.0
    with JdbcExport(name, config, ConnectorType.SOURCE) as export:
        while moved < rows:
            done = export.run()
            if not done.records:
                sys.exit(f"{name} moved {moved} of {rows} rows")
            moved, seconds = moved + done.records, seconds + done.seconds
    way = Way(moved, seconds, busy_seconds() - before)
    if committed(bootstrap, f"{name}-orders") < rows:
        sys.exit(f"{name}-orders has fewer than {rows} records")
    return way


def config_of(converter: str, name: str, address: sa.URL, url: str) -> dict[str, str]:
    """Return a source that writes with a converter."""
    config = source_config(name, "JdbcSource", address) | {"mode": "bulk", "tasks.max": str(TASKS)}
    return with_converter(config, converter, url)


def rounds(stack: Stack, url: str, rows: int, count: int) -> dict[str, list[Way]]:
    """Let the ways take turns; the first turn only warms the session."""
    environment = stack.environment()
    bootstrap, address = environment["CONNECT_BOOTSTRAP_SERVERS"], sa.make_url(environment["CONNECT_DATABASE_URL"])
    found: dict[str, list[Way]] = {name: [] for name in (JSON, *CONVERTERS)}
    for turn in range(count + 1):
        for converter, ways in found.items():
            name = f"{converter.lower()}-{turn}"
            way = measured(name, config_of(converter, name, address, url), bootstrap, rows)
            if turn:
                ways.append(way)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="file for the figures")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="connect-bench-") as folder:
        (Path(folder) / "registry").mkdir()
        stack = Stack(Path(folder) / "stack", services=("postgres", "kafka", "spark"))
        stack.up()
        try:
            fill(stack, arguments.records)
            os.environ.update(stack.environment())
            with apicurio_running(Path(folder) / "registry") as url:
                figures: dict[str, Any] = report(rounds(stack, url, arguments.records, arguments.rounds))
        finally:
            stack.down()
    Console(width=120).print(show(figures))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()

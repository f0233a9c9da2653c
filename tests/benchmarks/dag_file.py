"""What the DAG file of many connectors costs: ``python -m tests.benchmarks.dag_file [--json FILE]``.

No server: connectors are stored in SQLite, and the file's DAGs are made and serialized, as Airflow's DAG processor does
in the process that parses it. Prints the processor seconds of both by the number of connectors.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from airflow.serialization.serialized_objects import DagSerialization
from rich.console import Console
from rich.table import Table

from connect_core.dag.stored import stored_dags
from connect_core.store import Database, migrate
from tests.benchmarks.comparison import machine
from tests.benchmarks.rest import fill

__all__ = ["main"]

_SIZES = (10, 300, 1_000)
_ROUNDS = 3


def parse_seconds(folder: Path, connectors: int) -> float:
    """Return the least processor seconds of a parse."""
    address = f"sqlite:///{folder / f'{connectors}.db'}"
    migrate(address)
    database = Database(address)
    fill(database, connectors, 1)
    database.close()
    os.environ["CONNECT_DATABASE_URL"] = address
    took = []
    for _ in range(_ROUNDS):
        began = time.process_time()
        dags = stored_dags()
        assert len(dags) > connectors
        for dag in dags.values():
            DagSerialization.to_dict(dag)
        took.append(time.process_time() - began)
    return min(took)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args(arguments)
    os.environ.setdefault("CONNECT_WORKER_CONFIG", str(Path(__file__).parents[2] / "config" / "worker.properties"))
    with tempfile.TemporaryDirectory(prefix="connect-dags-") as folder:
        found = {str(count): parse_seconds(Path(folder), count) for count in _SIZES}
    table = Table("connectors", "CPU seconds a parse")
    for count, seconds in found.items():
        table.add_row(count, f"{seconds:.3f}")
    Console(width=110).print(table)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "figures": found}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Records that are hard to take: too large, or of changing schemas."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from tests.faults.exports import Export, TableExport, described
from tests.faults.history import Findings, History
from tests.faults.rows.row import Row
from tests.faults.world import World


def oversize(world: World) -> Findings:
    """Lines of 1.5 MB where brokers take 1 MiB: an error with their size; passed over only where the policy says so."""
    history = History(world, f"row-28-{world.random.getrandbits(24):06x}")
    history.begin()
    with history.writing():
        history.await_committed(history.source, 1000)
        with history.file.open("a") as target:
            target.writelines("x" * 1_500_000 + "\n" for _ in range(3))
    # More lines, which move only once those before them are passed over.
    with history.writing():
        told = history.await_failure(history.source, "bytes failed")
    history.reconfigure(history.source, {**history.source_config(), "errors.tolerance": "all"})
    history.heal()
    found = history.end(3)
    skipped = sum(one.counts.skipped for one in history.intervals(history.source))
    if skipped != 3:
        found = found.with_violations(f"I13: {skipped} records are counted as skipped, not 3")
    return found if "1500" in told else found.with_violations(f"I13: its size is not named: {told[:200]}")


_SCHEMAS: tuple[tuple[Mapping[str, str], Mapping[str, Any]], ...] = (
    ({"n": "int32"}, {}),
    ({"n": "int64"}, {}),
    ({"n": "int64", "added": "string"}, {"added": "here"}),
    ({"n": "int64", "added": "string", "measure": "int32"}, {"added": None, "measure": 1}),
    ({"n": "int64", "measure": "double"}, {"measure": 1.5}),
)


def schema_changes_in_files(world: World) -> Findings:
    """Fields widen, come and go from one batch to the next: Parquet files with the columns of their schemas."""
    export = Export(world, f"row-30-{world.random.getrandbits(24):06x}")
    return _with_schemas(export, interval__max__records="700", value__converter__schemas__enable="true")


def schema_changes_in_a_table(world: World) -> Findings:
    """The same into a table, which widens and gets columns."""
    return _with_schemas(TableExport(world, f"row-30-{world.random.getrandbits(24):06x}"), auto__evolve="true")


def _with_schemas(export: Export, **config: str) -> Findings:
    export.begin(2, **config)
    export.world.drive(export.name)
    for turn, (types, more) in enumerate(_SCHEMAS):
        numbers = range(turn * 500, (turn + 1) * 500)
        export.world.topics.write(export.topic, [described(types, {"n": number, **more}) for number in numbers], 2)
        time.sleep(export.world.random.uniform(0.0, 2.0))
    return export.found(set(range(len(_SCHEMAS) * 500)), len(_SCHEMAS) - 1)


ROWS: tuple[Row, ...] = (
    Row(28, "oversize records", oversize),
    Row(30, "schema changes, to files", schema_changes_in_files),
    Row(30, "schema changes, to a table", schema_changes_in_a_table),
)

"""Records that are hard to take: too large, deleted and written again, of changing schemas."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Producer

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


def upserts(world: World) -> Findings:
    """Rows are written, written again, deleted by tombstones, drivers are killed: the table follows the topic."""
    export = TableExport(world, f"row-29-{world.random.getrandbits(24):06x}")
    export.begin(
        2,
        insert__mode="upsert",
        pk__mode="record_key",
        pk__fields="id",
        delete__enabled="true",
        key__converter="org.apache.kafka.connect.json.JsonConverter",
        key__converter__schemas__enable="true",
    )
    left: dict[int, int] = {}
    world.drive(export.name)
    for turn in range(4):
        _write_upserts(export, turn, left)
        time.sleep(world.random.uniform(0.5, 2.0))
        for driver in world.drivers:
            driver.signal(signal.SIGKILL)
            driver.process.wait()
        world.heal(export.name)
    end = time.monotonic() + 300
    while dict(export.select("id, n")) != left and time.monotonic() < end:
        time.sleep(0.5)
    rows = export.select("id, n")
    world.end_drivers()
    lost = len(left.items() - set(rows))
    return Findings(4, 4 * 1500, lost, len(rows) - len(dict(rows)), _stray(dict(rows), left), 0.0)


def _write_upserts(export: Export, turn: int, left: dict[int, int]) -> None:
    producer = Producer({"bootstrap.servers": export.world.topics.bootstrap})
    for number in range(1500):
        key, value = export.world.random.randrange(600), turn * 1500 + number
        # A table is created for values: a tombstone before the first of them is an error.
        is_deleted = turn > 0 and export.world.random.random() < 0.3
        name = json.dumps({"schema": {"type": "int64", "optional": False}, "payload": key}).encode()
        payload = None if is_deleted else described({"n": "int64"}, {"n": value})
        producer.produce(export.topic, payload, name, partition=key % 2)
        left.pop(key, None)
        left.update({} if is_deleted else {key: value})
    assert producer.flush(30) == 0


def _stray(rows: dict[int, int], left: dict[int, int]) -> tuple[str, ...]:
    stray = rows.keys() - left.keys()
    return (f"{len(stray)} rows were deleted and are there",) if stray else ()


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
    Row(29, "tombstones and duplicate keys, drivers killed", upserts),
    Row(30, "schema changes, to files", schema_changes_in_files),
    Row(30, "schema changes, to a table", schema_changes_in_a_table),
)

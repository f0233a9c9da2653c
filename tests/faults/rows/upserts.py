"""Upserts into a table, drivers killed: the table follows the topic, and is written once for each record."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterable, Mapping

from confluent_kafka import Producer

from tests.faults.exports import TableExport, described
from tests.faults.history import Findings
from tests.faults.rows.row import Row
from tests.faults.world import World

_KILLS = 4
_BATCH = 1500
_UPSERTS: Mapping[str, str] = {
    "insert__mode": "upsert",
    "pk__mode": "record_key",
    "pk__fields": "id",
    "delete__enabled": "true",
    "key__converter": "org.apache.kafka.connect.json.JsonConverter",
    "key__converter__schemas__enable": "true",
}
_COUNT_WRITES = """
CREATE TABLE "{table}" (id bigint PRIMARY KEY, n bigint NOT NULL, row_version integer NOT NULL DEFAULT 0);
CREATE FUNCTION "count_{table}"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.row_version := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE OLD.row_version + 1 END;
  RETURN NEW;
END $$;
CREATE TRIGGER count_writes BEFORE INSERT OR UPDATE ON "{table}" FOR EACH ROW EXECUTE FUNCTION "count_{table}"();
"""


def upserts(world: World) -> Findings:
    """Rows are written, written again, deleted by tombstones, drivers are killed: the table follows the topic."""
    export = _export(world)
    left: dict[int, int] = {}
    for turn in range(_KILLS):
        _write_any(export, turn, left)
        _kill_drivers(export)
    rows = _await_rows(export, left)
    lost = len(left.items() - set(rows))
    return Findings(_KILLS, _KILLS * _BATCH, lost, len(rows) - len(dict(rows)), _stray(dict(rows), left), 0.0)


def counted_upserts(world: World) -> Findings:
    """Each key is written once, and the table counts: a record applied again shows, though the row is the same."""
    export = _export(world)
    with export.connect() as session:
        session.execute(_COUNT_WRITES.format(table=export.topic))
    expected: dict[int, int] = {}
    for turn in range(_KILLS):
        numbers = range(turn * _BATCH, (turn + 1) * _BATCH)
        _produce(export, [(number, number) for number in numbers])
        expected.update({number: number for number in numbers})
        _kill_drivers(export)
    rows = _await_rows(export, expected)
    again = sum(version - 1 for (version,) in export.select("row_version"))
    return Findings(_KILLS, len(expected), len(expected.items() - set(rows)), again, _stray(dict(rows), expected), 0.0)


def _export(world: World) -> TableExport:
    export = TableExport(world, f"row-29-{world.random.getrandbits(24):06x}")
    export.begin(2, **_UPSERTS)
    world.drive(export.name)
    return export


def _kill_drivers(export: TableExport) -> None:
    time.sleep(export.world.random.uniform(0.5, 2.0))
    for driver in export.world.drivers:
        driver.signal(signal.SIGKILL)
        driver.process.wait()
    export.world.heal(export.name)


def _await_rows(export: TableExport, expected: Mapping[int, int]) -> list[tuple[int, int]]:
    end = time.monotonic() + 300
    while dict(export.select("id, n")) != expected and time.monotonic() < end:
        time.sleep(0.5)
    export.world.end_drivers()
    return export.select("id, n")


def _write_any(export: TableExport, turn: int, left: dict[int, int]) -> None:
    """Write and delete rows of 600 keys; ``left`` becomes what must be in the table."""
    records: list[tuple[int, int | None]] = []
    for number in range(_BATCH):
        key = export.world.random.randrange(600)
        # A table is created for values: a tombstone before the first of them is an error.
        is_deleted = turn > 0 and export.world.random.random() < 0.3
        value = turn * _BATCH + number
        records.append((key, None if is_deleted else value))
        left.pop(key, None)
        left.update({} if is_deleted else {key: value})
    _produce(export, records)


def _produce(export: TableExport, records: Iterable[tuple[int, int | None]]) -> None:
    """Write (key, value) to the partition of the key; ``None`` is a tombstone."""
    producer = Producer({"bootstrap.servers": export.world.topics.bootstrap})
    for key, value in records:
        name = json.dumps({"schema": {"type": "int64", "optional": False}, "payload": key}).encode()
        payload = None if value is None else described({"n": "int64"}, {"n": value})
        producer.produce(export.topic, payload, name, partition=key % 2)
    assert producer.flush(30) == 0


def _stray(rows: Mapping[int, int], left: Mapping[int, int]) -> tuple[str, ...]:
    stray = rows.keys() - left.keys()
    return (f"{len(stray)} rows were deleted and are there",) if stray else ()


ROWS: tuple[Row, ...] = (
    Row(29, "tombstones and duplicate keys, drivers killed", upserts),
    Row(29, "upserts counted by the table, drivers killed", counted_upserts),
)

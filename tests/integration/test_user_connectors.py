"""Connectors as users write them for Connect, unmodified, in Spark tasks of a standalone worker."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.integration.plugin_worker import PluginWorker, eventually
from tests.integration.topics import Topics

pytestmark = [pytest.mark.servers, pytest.mark.timeout(400)]

TIMEOUT = 180.0
"""Spark starts with the first interval."""


def rows(first: int, last: int) -> list[bytes]:
    return [f'"row {number}"'.encode() for number in range(first, last + 1)]


def lines_of(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def test_guide_source_runs_as_it_is_and_goes_on_where_it_was(worker: PluginWorker, topics: Topics) -> None:
    topic = topics.create(1)
    guide = {"connector.class": "GuideSource", "topic": topic, "stream": "s"}
    worker.put("guide", {**guide, "count": "20"})
    assert topics.read(topic, 20, TIMEOUT) == rows(1, 20)
    eventually(
        lambda: worker.offsets("guide"),
        lambda found: found == [{"partition": {"stream": "s"}, "offset": {"position": 20}}],
    )
    worker.put("guide", {**guide, "count": "30"})
    assert topics.read(topic, 30, TIMEOUT) == rows(1, 30)
    worker.delete("guide")


def test_source_is_told_only_what_readers_see(worker: PluginWorker, topics: Topics) -> None:
    topic, file = topics.create(1), worker.folder / "told.txt"
    telling = {"connector.class": "AcknowledgingSource", "topic": topic, "stream": "s", "count": "5"}
    worker.put("telling", {**telling, "file": str(file), "bootstrap": topics.bootstrap})
    eventually(lambda: lines_of(file), lambda lines: '"commit"' in lines and len(lines) >= 6)
    told = [json.loads(line) for line in lines_of(file) if line != '"commit"']
    assert [(one["value"], one["partition"]) for one in told] == [(f"row {n}", 0) for n in range(1, 6)]
    assert told[0]["seen"] == "row 1"
    assert [one["offset"] for one in told] == sorted(one["offset"] for one in told)
    worker.delete("telling")


def test_source_ends_its_transactions_itself(worker: PluginWorker, topics: Topics) -> None:
    topic = topics.create(1)
    pairs = {"connector.class": "PairsSource", "topic": topic, "stream": "s", "count": "22"}
    worker.put("pairs", {**pairs, "transaction.boundary": "connector"})
    kept = [row for number, row in enumerate(rows(1, 22), 1) if number not in (9, 10, 19, 20)]
    assert topics.read(topic, len(kept), TIMEOUT) == kept
    eventually(
        lambda: worker.offsets("pairs"),
        lambda found: found == [{"partition": {"stream": "s"}, "offset": {"position": 22}}],
    )
    worker.delete("pairs")
    assert topics.read(topic, len(kept)) == kept


def test_sink_that_writes_in_flush_has_written_before_offsets_move(worker: PluginWorker, topics: Topics) -> None:
    topic, file = topics.create(1), worker.folder / "flushed.txt"
    topics.write(topic, rows(1, 10), 1)
    worker.put("flushing", {"connector.class": "FlushingSink", "topics": topic, "file": str(file)})
    (offset,) = eventually(lambda: worker.offsets("flushing"), bool)
    assert offset["offset"] == {"kafka_offset": 10}
    assert [json.loads(line) for line in lines_of(file)] == [f"row {number}" for number in range(1, 11)]
    calls = lines_of(worker.folder / "flushed.txt.calls")
    puts = [call for call in calls if call == "put"]
    assert calls == ["start", "open", *puts, "flush 10", "close", "stop"]
    worker.delete("flushing")


def test_sink_goes_on_from_offsets_it_keeps_itself(worker: PluginWorker, topics: Topics) -> None:
    topic, file = topics.create(1), worker.folder / "own.sqlite"
    topics.write(topic, [json.dumps({"text": f"row {number}"}).encode() for number in range(10)], 1)
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE rows (position INTEGER PRIMARY KEY, text TEXT)")
        database.execute(
            "CREATE TABLE positions (topic TEXT, part INTEGER, position INTEGER, PRIMARY KEY (topic, part))"
        )
        database.execute("INSERT INTO positions VALUES (?, 0, 4)", (topic,))

    def stored() -> list[tuple[int, str]]:
        with sqlite3.connect(file) as reading:
            return list(reading.execute("SELECT position, text FROM rows ORDER BY position"))

    worker.put("own", {"connector.class": "OwnOffsetsSink", "topics": topic, "file": str(file)})
    expected = [(number, f"row {number}") for number in range(4, 10)]
    eventually(stored, lambda found: found == expected)
    topics.write(topic, [b'{"text":"row 10"}'], 1)
    eventually(stored, lambda found: found == [*expected, (10, "row 10")])
    worker.delete("own")

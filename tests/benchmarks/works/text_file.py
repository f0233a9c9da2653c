"""A text file to Kafka as JSON, one task: ours exactly once, Connect's at least once."""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path

from tests.benchmarks.comparison import Goal, Way, Work
from tests.benchmarks.connect_worker import connector
from tests.benchmarks.connector_runs import Moved
from tests.benchmarks.environment import Environment, committed
from tests.benchmarks.orders import log_lines

__all__ = ["PEER_NAME", "RECORDS", "file_to_kafka", "lines_folder", "theirs"]

RECORDS = 2_000_000
PEER_NAME = "Kafka Connect, FileStreamSource (at-least-once)"
_CHUNK = 100_000
_NUMBERS = count()


def file_to_kafka(environment: Environment, records: int = RECORDS) -> Work:
    """HoistField and InsertField on every line."""
    folder = lines_folder(environment, records)
    ways = [Way("connect-core, FileStreamSource (exactly-once)", partial(ours, environment, folder, records))]
    if environment.peer:
        ways.append(Way(PEER_NAME, partial(theirs, environment, folder, records)))
    title = f"{records:,} lines of a text file → HoistField + InsertField → Kafka JSON, 1 task"
    goals = [Goal(PEER_NAME, 1.5, limits_cpu=True)] if environment.peer else []
    return Work("file-to-kafka", title, ways, goals)


def lines_folder(environment: Environment, records: int) -> Path:
    """Return the folder with the file ``lines.txt``, which is written unless it is there."""
    folder = environment.folder / "lines"
    if not folder.exists():
        folder.mkdir()
        with (folder / "lines.txt").open("w") as file:
            for start in range(0, records, _CHUNK):
                file.writelines(f"{line}\n" for line in log_lines(min(_CHUNK, records - start)))
    return folder


def ours(environment: Environment, folder: Path, records: int, turn: int) -> Moved:
    """Run a new source of ours."""
    name = f"lines-ours-{turn}"
    environment.create_topic(name)
    config = connector("runtime/file-source.json", {"NAME": name, "WORK": str(folder), "TOPIC": name})["config"]
    kept = {key: value for key, value in config.items() if not key.startswith(("producer.override", "batch.size"))}
    return environment.source({**kept, "producer.override.compression.type": "lz4"}, name, records)


def theirs(environment: Environment, folder: Path, records: int, turn: int) -> Moved:
    """Run Connect's source until the topic has all lines."""
    assert environment.peer is not None
    name = f"lines-theirs-{next(_NUMBERS)}"
    environment.create_topic(name)
    body = connector("runtime/file-source.json", {"NAME": name, "WORK": str(folder), "TOPIC": name})
    return environment.peer.pour(body, records, lambda: committed(environment.bootstrap, name))

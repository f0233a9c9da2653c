"""``python -m tests.benchmarks.acting BASE BOOTSTRAP FOLDER [--header 'Name: value']``: how soon acts take effect.

Against any deployment of the API. Prints the seconds from POST to RUNNING of new
connectors, and from pausing a sink that reads 2 million records to the end of its interval;
then resumes it and compares every record. ``FOLDER`` must be open to the worker's file connectors.
"""

from __future__ import annotations

import argparse
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.integration.topics import Topics

__all__ = ["main"]

RECORDS, PARTITIONS, NEW = 2_000_000, 4, 5
CHUNK = 50_000
TIMEOUT, PAUSE_GOAL = 600.0, 10.0


@dataclass(frozen=True, slots=True)
class Api:
    """One deployment of the API."""

    client: httpx.Client

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return its JSON."""
        answer = self.client.request(method, path, json=body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def create(self, name: str, config: dict[str, str]) -> None:
        """Create a connector."""
        self.call("POST", "/connectors", {"name": name, "config": config})

    def states(self, name: str) -> list[str]:
        """Return the states of the connector and its tasks; none while it has no task."""
        found = self.call("GET", f"/connectors/{name}/status")
        tasks = [task["state"] for task in found["tasks"]]
        return [found["connector"]["state"], *tasks] if tasks else []

    def intervals(self, name: str) -> list[dict[str, Any]]:
        """Return the connector's intervals, the newest first."""
        return list(self.call("GET", f"/v1/connectors/{name}/intervals")["intervals"])


def until(is_true: Callable[[], bool]) -> float:
    """Wait until something is so → the seconds that took."""
    began = time.monotonic()
    while not is_true():
        if time.monotonic() - began > TIMEOUT:
            sys.exit(f"not after {TIMEOUT:.0f} s")
        time.sleep(0.05)
    return time.monotonic() - began


def time_to_running(api: Api, folder: Path) -> list[float]:
    """Create sources one after the other → the seconds each took from POST to RUNNING, tasks included."""
    taken = []
    for _ in range(NEW):
        name = f"new-{uuid.uuid4().hex[:8]}"
        file = folder / f"{name}.txt"
        file.write_text("one\n")
        began = time.monotonic()
        api.create(name, {"connector.class": "FileStreamSource", "topic": name, "file": str(file)})
        until(lambda name=name: set(api.states(name)) == {"RUNNING"})  # type: ignore[misc]
        taken.append(time.monotonic() - began)
        api.call("DELETE", f"/connectors/{name}")
    return taken


def pause_while_reading(api: Api, topics: Topics, folder: Path) -> tuple[float, int, Counter[str]]:
    """Pause amid 2 million records → seconds to the interval's end, records moved by then, and all in the end."""
    topic = topics.create(PARTITIONS)
    name, file = f"big-{topic}", folder / f"{topic}.txt"
    topics.write(topic, [b"%d" % number for number in range(CHUNK)], PARTITIONS)
    converter = "org.apache.kafka.connect.storage.StringConverter"
    sink = {"connector.class": "FileStreamSink", "topics": topic, "file": str(file), "tasks.max": str(PARTITIONS)}
    api.create(name, {**sink, "key.converter": converter, "value.converter": converter})
    # Its first interval starts Spark.
    until(lambda: moved_by(api, name) == CHUNK)
    api.call("PUT", f"/connectors/{name}/pause")
    for start in range(CHUNK, RECORDS, CHUNK):
        topics.write(topic, [b"%d" % number for number in range(start, start + CHUNK)], PARTITIONS)
    api.call("PUT", f"/connectors/{name}/resume")
    staged = folder / f".connect-{file.name}" / "staged"
    until(lambda: any(one.stat().st_size for one in staged.rglob("*/*-2/*/*.lines")))
    api.call("PUT", f"/connectors/{name}/pause")
    seconds = until(lambda: api.intervals(name)[0]["state"] in ("COMMITTED", "ABANDONED"))
    moved = moved_by(api, name)
    api.call("PUT", f"/connectors/{name}/resume")
    until(lambda: moved_by(api, name) >= RECORDS)
    return seconds, moved, Counter(lines(file))


def moved_by(api: Api, name: str) -> int:
    """Return how many records committed intervals have moved."""
    return sum(one["counts"]["records"] for one in api.intervals(name) if one["state"] == "COMMITTED")


def lines(file: Path) -> Iterator[str]:
    """Yield the lines of a file."""
    with file.open() as opened:
        yield from (line.rstrip("\n") for line in opened)


def main(arguments: list[str]) -> bool:
    """Print the figures; false if the pause took too long, or a record was lost or came twice."""
    parser = argparse.ArgumentParser()
    parser.add_argument("base")
    parser.add_argument("bootstrap")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--header", default="")
    given = parser.parse_args(arguments)
    key, _, value = given.header.partition(":")
    headers = {key: value.strip()} if key else {}
    with httpx.Client(base_url=given.base, headers=headers, timeout=60) as client:
        api = Api(client)
        taken = time_to_running(api, given.folder)
        print("POST to RUNNING:", *(f"{one:.2f} s" for one in taken), flush=True)
        seconds, moved, found = pause_while_reading(api, Topics(given.bootstrap), given.folder)
    lost = RECORDS - len(found)
    repeated = found.total() - len(found)
    print(f"pause amid {RECORDS:,} records: {seconds:.1f} s (goal {PAUSE_GOAL:g}), {moved:,} moved by then;")
    print(f"after resuming: {lost} lost, {repeated} repeated")
    return seconds <= PAUSE_GOAL and not lost and not repeated


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)

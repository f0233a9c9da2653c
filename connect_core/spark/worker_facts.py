"""What Spark's workers have: Python's packages and the folders of files. For ``connect doctor``."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa

__all__ = ["Wanted", "WorkerFacts", "collect_facts"]

_TASKS, _TASK_SECONDS = 16, 0.2
_SCHEMA = pa.schema([("facts", pa.string())])


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for: the packages of each extra of connect-core, and files, by the folder they are in."""

    packages: Mapping[str, Sequence[str]]
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """What one worker lacks, by its host."""

    host: str
    packages: Mapping[str, Sequence[str]]
    """Extra → the packages of it that are not installed."""
    folders: Sequence[str]
    """Folders in which the file was not found."""


def collect_facts(session: Any, wanted: Wanted) -> set[str]:
    """Run some tasks, on as many workers as have a free slot → what each lacks, as JSON of ``WorkerFacts``."""
    frame = session.range(0, _TASKS, 1, _TASKS).mapInArrow(_facts_function(wanted), "facts string")
    return {row.facts for row in frame.collect()}


def _facts_function(wanted: Wanted) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            # A task that ends at once would leave its slot to the next, and other workers idle.
            time.sleep(_TASK_SECONDS)
            yield pa.record_batch([[json.dumps(asdict(_facts(wanted)), sort_keys=True)]], schema=_SCHEMA)

    return run


def _facts(wanted: Wanted) -> WorkerFacts:
    lacking = {extra: [name for name in names if not _is_installed(name)] for extra, names in wanted.packages.items()}
    folders = [folder for folder, file in wanted.files.items() if not Path(folder, file).exists()]
    return WorkerFacts(socket.gethostname(), {extra: names for extra, names in lacking.items() if names}, folders)


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True

"""One partition of a Spark job, in a Python worker: runs the task plans of its rows.

Light to import: what the tasks need is imported after the worker is set up.
"""

from __future__ import annotations

import gc
import os
import pickle
from collections.abc import Callable, Iterator

import pyarrow as pa

from connect_core.interval.values import TaskPlan

__all__ = ["partition_function"]

_RESULT = pa.schema([("task", pa.int32()), ("result", pa.binary())])
_COLLECTOR = (50_000, 50, 100)
"""From how many objects, and how seldom, a worker looks for cycles (``gc.set_threshold``)."""


def partition_function(
    tasks: tuple[TaskPlan, ...],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function of one partition: row i runs task plan i and answers one row, a pickled TaskResult."""

    def run_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _keep_to_one_core()
        from connect_core.run.task import run_task

        _spare_collector()
        for batch in batches:
            for index in batch.column(0).to_pylist():
                result = run_task(tasks[index])
                yield pa.record_batch([[result.task], [pickle.dumps(result)]], schema=_RESULT)

    return run_rows


def _keep_to_one_core() -> None:
    """Compute in one thread: Spark's slot is a core, the others belong to other tasks. Polars asks when imported."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    pa.set_cpu_count(1)


def _spare_collector() -> None:
    """Look for cycles seldom: records hold none, and to look through them takes longer than to make them."""
    if gc.get_threshold() != _COLLECTOR:
        gc.freeze()
        gc.set_threshold(*_COLLECTOR)

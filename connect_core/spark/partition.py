"""One partition of a Spark job, in a Python worker: runs the task plans of its rows.

Cheap to import: what the tasks need is imported after the worker is set up.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pyarrow as pa

from connect_core.interval.values import TaskPlan
from connect_core.run.garbage_collection import collect_garbage_less_often
from connect_core.run.memory_allocation import keep_freed_memory

__all__ = ["partition_function"]

_RESULT = pa.schema([("task", pa.int32()), ("result", pa.binary())])


def partition_function(
    tasks: tuple[TaskPlan, ...],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function of one partition: row i runs task plan i and yields one row, a TaskResult as JSON."""

    def run_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _keep_to_one_core()
        # Before the first client of Kafka starts its threads.
        keep_freed_memory()
        from connect_core.interval.results import result_to_bytes
        from connect_core.task.attempt import run_task

        collect_garbage_less_often()
        for batch in batches:
            for index in batch.column(0).to_pylist():
                result = run_task(tasks[index])
                yield pa.record_batch([[result.task], [result_to_bytes(result)]], schema=_RESULT)

    return run_rows


def _keep_to_one_core() -> None:
    """Compute in one thread: a Spark slot is one core. Polars reads the variable when it is imported."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    pa.set_cpu_count(1)

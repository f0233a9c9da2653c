"""Processor time a row: the figure that a busy machine disturbs least."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

__all__ = ["rate", "show"]

_REPEATS = 5


def rate(rows: int, work: Callable[[], object]) -> float:
    """Return rows per second of processor time, the best of several runs; no garbage collection, as in timeit."""
    work()
    best = float("inf")
    for _ in range(_REPEATS):
        gc.collect()
        gc.disable()
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
        gc.enable()
    return rows / best


def show(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a table, numbers to the right."""
    table = Table(title=title)
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left")
    for row in rows:
        table.add_row(*row)
    Console(width=110).print(table)

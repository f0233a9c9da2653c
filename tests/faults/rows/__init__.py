"""The rows of the fault matrix that are injected into real processes."""

from tests.faults.rows import changes, processes, topics
from tests.faults.rows.row import Row

__all__ = ["ROWS", "Row"]

ROWS: tuple[Row, ...] = tuple(
    sorted((*processes.ROWS, *changes.ROWS, *topics.ROWS), key=lambda row: (row.number, row.name))
)

"""The rows of the fault matrix that are injected into real processes."""

from tests.faults.rows import (
    airflow,
    brokers,
    burst,
    celery,
    changes,
    cluster,
    databases,
    deployments,
    failpoints,
    moves,
    network,
    offsets,
    processes,
    records,
    resources,
    rotation,
    stalls,
    standalone,
    stores,
    targets,
    topics,
    upserts,
)
from tests.faults.rows.row import Row

__all__ = ["QUICK", "ROWS", "SMOKE", "Row"]

_GROUPS = (
    *(airflow, brokers, burst, celery, changes, cluster, databases, deployments, failpoints, moves, network),
    *(offsets, processes, records, resources, rotation, stalls, standalone, stores, targets, topics, upserts),
)
ROWS: tuple[Row, ...] = tuple(
    sorted((row for group in _GROUPS for row in group.ROWS), key=lambda row: (row.number, row.name))
)

QUICK = tuple(row for row in ROWS if row.number in (1, 6, 9, 15) and row.is_plain)
"""Run with every test run."""

SMOKE = tuple(row for row in ROWS if row.number in (1, 2, 6, 9, 12, 15, 16, 27, 32, 33) and row.is_plain)
"""Those that find most, in some minutes."""

"""How work is divided among tasks: topic partitions for sink tasks, and the name of an assignment."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from connect_core.api.sink import PartitionRange
from connect_core.errors import ConnectError
from connect_core.interval.values import ConnectorType, IntervalSettings, TaskAssignment

__all__ = ["assign_ranges", "assignment_name", "check_tasks_max"]


def check_tasks_max(connector: str, assignment: TaskAssignment, settings: IntervalSettings) -> None:
    """Reject more task configs than ``tasks.max`` if it is enforced (KIP-1004).

    Raises ConnectError.
    """
    if settings.tasks_max_enforce and len(assignment.configs) > settings.tasks_max:
        raise ConnectError(
            f"The connector {connector} has generated {len(assignment.configs)} tasks, which is greater than "
            f"{settings.tasks_max}, the maximum number of tasks it is configured to create. Raise tasks.max, "
            "or set tasks.max.enforce=false."
        )


def assignment_name(kind: ConnectorType, configs: Sequence[Mapping[str, str]]) -> str:
    """Return a text that differs when the work would be divided differently among tasks."""
    if kind is ConnectorType.SINK:
        return f"sink-{len(configs)}"
    text = json.dumps([sorted(config.items()) for config in configs])
    return "source-" + hashlib.sha256(text.encode()).hexdigest()[:32]


def assign_ranges(ranges: Iterable[PartitionRange], tasks: int) -> list[tuple[PartitionRange, ...]]:
    """Return each task's ranges: topic partitions assigned in turn, in sorted order."""
    ordered = sorted(ranges, key=lambda part: part.topic_partition)
    return [tuple(ordered[task::tasks]) for task in range(tasks)]

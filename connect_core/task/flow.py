"""The flow of a task's records, as configured and as the task leaves it to the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from connect_core.api.batch import Batch
from connect_core.api.flow import Flow, RowFailure
from connect_core.api.records import ConnectRecord
from connect_core.api.transform import FlowStage
from connect_core.task.tolerance import Failure, Place, Stage, Step, Tolerance

__all__ = ["FlowSteps", "gathered"]

_CONVERTERS = {"key": Stage.KEY_CONVERTER, "value": Stage.VALUE_CONVERTER, "header": Stage.HEADER_CONVERTER}


@dataclass(frozen=True, slots=True)
class FlowSteps:
    """Handles rows that failed in a part of the flow that the task does itself (``take_over``)."""

    flow: Flow
    tolerance: Tolerance

    def fail(self, failure: RowFailure, place: Place, record: ConnectRecord | None = None) -> None:
        """Skip a row, or raise ConnectError when failures are not tolerated."""
        flow, stage = self.flow, failure.stage
        if isinstance(stage, int):
            step = Step(Stage.TRANSFORMATION, flow.stages[stage].transformation, place, record)
        else:
            converters = {"key": flow.key, "value": flow.value, "header": flow.header}
            step = Step(_CONVERTERS[stage], converters[stage], place, record)
        self.tolerance.fail(Failure(step, failure.error, failure.attempts))

    def fail_read(self, batch: Batch, failure: RowFailure) -> None:
        """Handle a failed row of a batch as it was read from Kafka. Raises as ``fail``."""
        row = failure.row
        topic, partition = batch.original or (batch.topic, batch.partition)
        read = (column[row].as_py() for column in (topic, partition, batch.offset, batch.origin))
        self.fail(failure, Place(*read))


def gathered(stages: Sequence[FlowStage]) -> list[FlowStage]:
    """Return the stages, with neighbours merged where a transform does several in one pass."""
    found: list[FlowStage] = []
    left = list(stages)
    while left:
        stage, count = left[0].transformation.gather(left)
        found.append(stage)
        left = left[count:]
    return found

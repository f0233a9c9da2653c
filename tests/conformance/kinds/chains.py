"""Chains of transforms and predicates, as a connector's configuration names them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from connect_core.api.records import ConnectRecord
from connect_core.configs.connector import ConnectorConfig
from connect_core.configs.stages import TransformationStage
from connect_core.task.pipeline import apply_columns, apply_record
from tests.conformance.case import Case
from tests.conformance.decode import decode_record
from tests.conformance.encode import encode_record
from tests.conformance.kinds.transforms import batch_of
from tests.conformance.lanes import BatchRun, Row, by_records
from tests.conformance.stages import step

__all__ = ["BATCH_KINDS", "KINDS"]

Json = Any


def _stages(case: Case) -> Sequence[TransformationStage]:
    with step("configure"):
        return ConnectorConfig.parse(case.config).transformation_stages()


def _apply(stages: Sequence[TransformationStage], content: Json) -> Json:
    record: ConnectRecord | None = decode_record(content)
    with step("apply"):
        for stage in stages:
            if record is not None:
                record = apply_record(stage, record)
    return encode_record(record)


def _run_batch(case: Case, rows: Sequence[Row]) -> BatchRun:
    stages = _stages(case)
    batch = batch_of([row.input for row in rows])
    with step("apply"):
        for stage in stages:
            changed = apply_columns(stage, batch) if len(batch) else batch
            if changed is None:
                return by_records(rows, lambda content: _apply(stages, content))
            batch = changed
    kept = dict(zip(batch.origin.to_pylist(), map(encode_record, batch.to_records()), strict=True))
    return BatchRun([kept.get(row) for row in range(len(rows))])


KINDS: dict[str, Callable[[Case], Json]] = {"chain": lambda case: _apply(_stages(case), case.input)}
BATCH_KINDS: dict[str, Callable[[Case, Sequence[Row]], BatchRun]] = {"chain": _run_batch}

"""Transforms and predicates, in both lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from connect_core.api.batch import Batch
from connect_core.api.transform import Predicate, Transformation
from connect_core.configs.stages import TransformationStage
from connect_core.registry import PluginKind
from connect_core.task.pipeline import apply_columns
from tests.conformance.case import Case
from tests.conformance.decode import decode_config, decode_record
from tests.conformance.encode import encode_record
from tests.conformance.kinds.plugins import plugin
from tests.conformance.lanes import BatchRun, Row, by_records
from tests.conformance.stages import step

__all__ = ["BATCH_KINDS", "KINDS", "batch_of"]

Json = Any


def _transformation(case: Case) -> Transformation:
    found: Transformation = plugin(PluginKind.TRANSFORMATION, case.java_class)
    with step("configure"):
        found.configure(decode_config(case.config))
    return found


def _predicate(case: Case) -> Predicate:
    found: Predicate = plugin(PluginKind.PREDICATE, case.java_class)
    with step("configure"):
        found.configure(decode_config(case.config))
    return found


def _transform(case: Case) -> Json:
    found = _transformation(case)
    if case.input is None:
        return None
    return _apply(found, case.input)


def _apply(found: Transformation, content: Json) -> Json:
    record = decode_record(content)
    with step("apply"):
        return encode_record(found.apply(record))


def _test(found: Predicate, content: Json) -> Json:
    record = decode_record(content)
    with step("test"):
        return found.test(record)


def batch_of(contents: Sequence[Json]) -> Batch:
    """Return records as a batch, in columns where columns can say them."""
    batch = Batch.from_records([decode_record(content) for content in contents])
    return replace(
        batch,
        key=batch.key.to_columns() or batch.key.to_objects(),
        value=batch.value.to_columns() or batch.value.to_objects(),
    )


def _transform_batch(case: Case, rows: Sequence[Row]) -> BatchRun:
    found = _transformation(case)
    result = apply_columns(TransformationStage(found), batch_of([row.input for row in rows]))
    if result is None:
        return by_records(rows, lambda content: _apply(found, content))
    kept = dict(zip(result.origin.to_pylist(), map(encode_record, result.to_records()), strict=True))
    return BatchRun([kept.get(row) for row in range(len(rows))])


def _predicate_batch(case: Case, rows: Sequence[Row]) -> BatchRun:
    found = _predicate(case)
    with step("test"):
        result = found.test_batch(batch_of([row.input for row in rows]))
    if result is None:
        return by_records(rows, lambda content: _test(found, content))
    return BatchRun(result.to_pylist())


KINDS: dict[str, Callable[[Case], Json]] = {
    "transform": _transform,
    "predicate": lambda case: _test(_predicate(case), case.input),
}
BATCH_KINDS: dict[str, Callable[[Case, Sequence[Row]], BatchRun]] = {
    "transform": _transform_batch,
    "predicate": _predicate_batch,
}

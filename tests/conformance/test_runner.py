"""The runner itself: it must see what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from connect_core.errors import ConfigError, DataError, SchemaBuilderError
from tests.conformance.case import Case
from tests.conformance.compare import difference, error_difference
from tests.conformance.decode import decode_schema, decode_value
from tests.conformance.encode import encode_schema, encode_value
from tests.conformance.lanes import mixtures
from tests.conformance.runner import run_cases
from tests.conformance.stages import FailedStep


def _grouping(groups: int, expect: Any) -> Case:
    return Case("a", "id", "group_partitions", None, {}, {"elements": ["x"], "numGroups": groups}, expect)


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        (_grouping(1, [["x"]]), None),
        (_grouping(1, [["y"]]), "expected [['y']], got [['x']]"),
        (_grouping(0, [["x"]]), "unexpected group"),
        (_grouping(1, {"error": {"class": "IllegalArgumentException", "message": "m"}}), "expected IllegalArgument"),
        (Case("a", "id", "unheard_of", None, {}, {}, None), "no way to run"),
    ],
)
def test_runner_says_what_is_wrong(case: Case, problem: str | None) -> None:
    (outcome,) = run_cases([case])
    if problem is None:
        assert outcome.passed
    else:
        assert problem in outcome.problems[0]


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"@float64": 0.0}, {"@float64": -0.0}),
        ({"@int32": 1}, {"@int64": 1}),
        (True, 1),
        ("1", 1),
        ({"@decimal": "1.0"}, {"@decimal": "1.00"}),
        ([1, 2], [2, 1]),
        ({"@map": {"a": None}}, {"@map": {}}),
    ],
)
def test_differences_are_seen(expected: Any, actual: Any) -> None:
    assert difference(expected, actual) is not None


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"@float32": 0.1}, {"@float32": 0.10000000149011612}),
        ({"@float64": "NaN"}, {"@float64": float("nan")}),
        ({"@pairs": [[1, 2], [True, 4]]}, {"@pairs": [[True, 4], [1, 2]]}),
    ],
)
def test_equal_results_are_equal(expected: Any, actual: Any) -> None:
    assert difference(expected, actual) is None


@pytest.mark.parametrize(
    ("error", "stage", "is_equal"),
    [
        (DataError("m"), "apply", True),
        (DataError("other"), "apply", False),
        (SchemaBuilderError("m"), "apply", False),
        (ConfigError("m"), "apply", False),
        (DataError("m"), "configure", False),
    ],
)
def test_errors_compare_by_class_message_and_stage(error: DataError, stage: str, is_equal: bool) -> None:
    expected = {"class": "DataException", "message": "m", "stage": "apply"}
    assert (error_difference(expected, FailedStep(stage, error)) is None) == is_equal


def test_jvm_texts_compare_by_class_only() -> None:
    expected = {"class": "DataException", "message": "java.lang.X", "jvm_text": True, "stage": "apply"}
    assert error_difference(expected, FailedStep("apply", DataError("ours"))) is None


def test_struct_of_another_schema_shows_it() -> None:
    schema = {
        "type": "struct",
        "optional": False,
        "fields": [{"name": "a", "schema": {"type": "int8", "optional": True}}],
    }
    struct = decode_value({"@struct": {"a": {"@int8": 1}}}, decode_schema(schema))
    assert encode_value(struct.schema, struct) == {"@struct": {"a": {"@int8": 1}}}
    assert encode_value(None, struct)["@schema"] == schema == encode_schema(decode_schema(schema))


def test_mixtures_are_alone_equal_and_mixed() -> None:
    cases = [_grouping(number, None) for number in range(3)]
    sizes = [len(rows) for rows in mixtures(cases[0], cases)]
    assert sizes == [1, 5, 4]

"""Records that fail: retried, skipped with a report, or the end of the task (KIP-298)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import pytest

from connect_core.api.records import SinkRecord
from connect_core.configs import ErrorSettings, Redaction
from connect_core.converters.json import JsonConverter
from connect_core.errors import ConnectError, DataError, RetriableError, ServiceError
from connect_core.task.dead_letters import LettersOf, SinkDeadLetters
from connect_core.task.reporting import log_reporters
from connect_core.task.skipped import SkippedSummary
from connect_core.task.tolerance import Failure, Place, Stage, Step, Tolerance, ToleranceSettings
from tests.task.equipment import RememberedQueue, raw

STEP = Step(Stage.VALUE_CONVERTER, JsonConverter(), Place("t", 3, 42))


@dataclass
class Flaky:
    """Fails some times before it succeeds."""

    failures: int
    error: Exception
    calls: int = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error
        return "done"


def settings(**more: Any) -> ToleranceSettings:
    return ToleranceSettings(**{"tolerate_all": True, "max_delay_seconds": 0.001, **more})


def test_bad_record_fails_the_task_naming_its_place() -> None:
    with pytest.raises(
        DataError, match=r"topic t, partition 3, offset 42 in stage VALUE_CONVERTER.*no JSON.*errors\.tolerance=all"
    ) as raised:
        Tolerance(ToleranceSettings()).attempt(STEP, Flaky(9, DataError("no JSON")))
    assert str(raised.value.__cause__) == "no JSON"


def test_any_other_error_is_a_connect_error_with_its_cause() -> None:
    with pytest.raises(ConnectError) as raised:
        Tolerance(ToleranceSettings()).attempt(STEP, Flaky(9, ZeroDivisionError("by zero")))
    assert type(raised.value) is ConnectError
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_retriable_error_is_retried_in_time() -> None:
    operation = Flaky(3, RetriableError("busy"))
    tolerance = Tolerance(settings(retry_seconds=30.0))
    assert tolerance.attempt(STEP, operation) == (True, "done")
    assert (operation.calls, tolerance.skipped) == (4, 0)


def test_retry_for_ever_ends_with_a_stop() -> None:
    tolerance = Tolerance(settings(retry_seconds=-0.001))
    operation = Flaky(10, RetriableError("busy"))
    assert tolerance.attempt(STEP, operation).is_done
    tolerance.stopping.set()
    assert not tolerance.attempt(STEP, Flaky(10, RetriableError("busy"))).is_done


def test_retriable_error_without_a_retry_fails_retriably() -> None:
    with pytest.raises(RetriableError):
        Tolerance(ToleranceSettings()).attempt(STEP, Flaky(9, RetriableError("busy")))


def test_other_errors_are_not_retried() -> None:
    operation = Flaky(1, DataError("bad"))
    tolerance = Tolerance(settings(retry_seconds=30.0))
    assert tolerance.attempt(STEP, operation) == (False, None)
    assert (operation.calls, tolerance.skipped) == (1, 1)


class _AwayError(ServiceError, RetriableError):
    """Stands for a service that does not answer."""


@pytest.mark.parametrize("kind", [ServiceError, _AwayError])
def test_no_record_is_skipped_for_a_service(kind: type[ConnectError]) -> None:
    summary, queue = SkippedSummary(), RememberedQueue()
    letters = SinkDeadLetters(LettersOf("c", 0, "dead", has_context=True), lambda: queue)  # type: ignore[arg-type, return-value]
    letters.begin(raw("x"))
    tolerance = Tolerance(settings(), (summary, letters))
    with pytest.raises(
        ConnectError, match=r"topic t, partition 3, offset 42 .*: gone\. This is not the record's fault"
    ) as raised:
        tolerance.attempt(STEP, Flaky(9, kind("gone")))
    assert isinstance(raised.value, RetriableError) == issubclass(kind, RetriableError)
    letters.flush()
    assert (tolerance.skipped, summary.lines(), queue.letters) == (0, (), [])


class _TellingError(ServiceError):
    """Its text is not made of its arguments, so another error has to stand for it."""

    def __str__(self) -> str:
        return "gone with tell-tale-word"


def test_no_record_is_skipped_for_a_service_whose_error_tells_a_secret() -> None:
    tolerance = Tolerance(settings(), redaction=Redaction({"some.password": "tell-tale-word"}))
    with pytest.raises(ConnectError) as raised:
        tolerance.attempt(STEP, Flaky(9, _TellingError()))
    assert "tell-tale-word" not in str(raised.value)


def test_skipped_records_are_summed_up_by_stage_and_error() -> None:
    summary = SkippedSummary()
    tolerance = Tolerance(settings(), (summary,))
    for error in (DataError("a"), DataError("b"), ValueError("c")):
        tolerance.attempt(STEP, Flaky(1, error))
    assert [(one.stage, one.error_kind, one.message, one.records, one.sample) for one in summary.lines()] == [
        ("VALUE_CONVERTER", "connect_core.errors.DataError", "a", 2, {"topic": "t", "partition": 3, "offset": 42}),
        ("VALUE_CONVERTER", "builtins.ValueError", "c", 1, {"topic": "t", "partition": 3, "offset": 42}),
    ]


def test_count_is_capped() -> None:
    tolerance = Tolerance(settings(max_count=2))
    for _ in range(2):
        tolerance.attempt(STEP, Flaky(1, DataError("bad")))
    with pytest.raises(ConnectError, match=r"3 records were skipped: more than errors\.max\.count=2.*offset 42: bad"):
        tolerance.attempt(STEP, Flaky(1, DataError("bad")))


def test_share_is_capped() -> None:
    tolerance = Tolerance(settings(max_share=0.1))
    tolerance.attempt(STEP, Flaky(1, DataError("bad")))
    tolerance.check_share(10)
    with pytest.raises(ConnectError, match=r"1 of 9 records.*errors\.max\.share=0\.1"):
        tolerance.check_share(9)


def test_reporter_in_trouble_hides_no_error() -> None:
    class Unreachable:
        def report(self, failure: Failure) -> None:
            raise RetriableError("no broker")

    with pytest.raises(DataError, match="no JSON") as raised:
        Tolerance(ToleranceSettings(), (Unreachable(),)).attempt(STEP, Flaky(1, DataError("no JSON")))
    assert "no broker" in raised.value.__notes__[0]
    with pytest.raises(RetriableError, match="no broker"):
        Tolerance(settings(), (Unreachable(),)).attempt(STEP, Flaky(1, DataError("no JSON")))


@pytest.mark.parametrize("includes", [True, False])
def test_log_names_stage_and_class(caplog: pytest.LogCaptureFixture, includes: bool) -> None:
    reporters = log_reporters("orders", 2, ErrorSettings(0, 0, True, True, includes))
    tolerance = Tolerance(settings(), reporters)
    with caplog.at_level(logging.ERROR):
        tolerance.attempt(STEP, Flaky(1, DataError("bad")))
    (line,) = caplog.messages
    assert "task orders-2. Executing stage 'VALUE_CONVERTER' with class" in line
    assert "'org.apache.kafka.connect.json.JsonConverter'" in line
    assert ("topic t, partition 3, offset 42" in line) == includes


def test_log_is_off_by_default() -> None:
    assert log_reporters("orders", 0, ErrorSettings(0, 0, True, False, True)) == ()


def test_place_of_a_source_record_is_its_position() -> None:
    place = Place("t", None, None, 0, ({"f": "x"}, {"n": 3}))
    assert str(place) == 'source partition {"f":"x"}, source offset {"n":3}, on its way to topic t'
    assert place.to_json() == {"topic": "t", "source_partition": {"f": "x"}, "source_offset": {"n": 3}}


def test_equal_records_are_no_secret_in_the_refusal() -> None:
    step = Step(Stage.TASK_PUT, object(), Place("t", 0, 1), SinkRecord("t", value="password"))
    with pytest.raises(ConnectError) as raised:
        Tolerance(ToleranceSettings()).fail(Failure(step, ValueError("refused")))
    assert "password" not in str(raised.value)


def test_no_report_tells_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    secret = "canary-1"
    queue, summary = RememberedQueue(), SkippedSummary()
    letters = SinkDeadLetters(LettersOf("orders", 0, "dead", True), lambda: queue)  # type: ignore[arg-type, return-value]
    letters.begin(raw(["a", "b"]))
    reporters = (*log_reporters("orders", 0, ErrorSettings(0, 0, True, True, True)), summary, letters)
    tolerance = Tolerance(settings(), reporters, redaction=Redaction({"my.password": secret}))
    error = DataError(f"Cannot cast {secret}")
    error.__cause__ = ValueError(f"because of {secret}")
    with caplog.at_level(logging.ERROR):
        tolerance.fail(Failure(Step(Stage.TRANSFORMATION, JsonConverter(), Place("t", 0, 0, row=0)), error))
    ((_, context),) = queue.letters
    assert context.trace is not None
    assert (context.message, "Cannot cast [hidden]" in context.trace) == ("Cannot cast [hidden]", True)
    assert [line.message for line in summary.lines()] == ["Cannot cast [hidden]"]
    for text in (context.trace, caplog.text, str(context)):
        assert secret not in text
    assert "Cannot cast [hidden]" in caplog.text

"""Requests and ends of runs as text."""

import re
from datetime import UTC, datetime

import pytest

from connect_core.errors import ConnectError, LeaseLostError, RetriableError, StaleEpochError
from connect_core.interval.reports import report_from_text, report_to_text, request_from_text, request_to_text
from connect_core.interval.runs import RunOutcome, RunRequest, RunStatus


@pytest.mark.parametrize("name", ["a", "--conf x=y", "ä 'b' \"c\" $(d)", "x" * 500])
def test_request_is_inert_text(name: str) -> None:
    request = RunRequest(name, "manual__1", continuous=True, asked=True, last_try=False)
    text = request_to_text(request)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", text)
    assert not text.startswith("-")
    assert request_from_text(text) == request


def test_request_keeps_its_bound() -> None:
    request = RunRequest("a", "r", bound_time=datetime(2026, 1, 1, 3, tzinfo=UTC))
    assert request_from_text(request_to_text(request)) == request


def test_report_keeps_the_outcome() -> None:
    outcome = RunOutcome(RunStatus.DRAINED, "why", True, 2, 7, ("kafka://c/t",))
    assert report_from_text(report_to_text(outcome, "http://spark")) == (outcome, "http://spark")


@pytest.mark.parametrize(
    ("error", "kind"),
    [(ConnectError("x"), ConnectError), (RetriableError("x"), RetriableError), (LeaseLostError("x"), StaleEpochError)],
)
def test_report_keeps_what_may_be_done_about_an_error(error: ConnectError, kind: type[ConnectError]) -> None:
    end, _ = report_from_text(report_to_text(error))
    assert type(end) is kind
    assert str(end) == "x"

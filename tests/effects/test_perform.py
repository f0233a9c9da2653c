"""Performing protocols."""

from __future__ import annotations

import pytest

from connect_core.effects.perform import perform
from connect_core.errors import RetriableError
from connect_core.interval.effects import LoadConnector, ReleaseLease
from connect_core.plan.run import Steps


def test_perform_sends_results_back() -> None:
    def steps() -> Steps[str]:
        answer = yield LoadConnector("a")
        return f"got {answer}"

    assert perform(steps(), {LoadConnector: lambda effect: effect.connector}) == "got a"


def test_perform_lets_the_protocol_answer_errors() -> None:
    def fail(effect: object) -> None:
        raise RetriableError("away")

    def steps() -> Steps[str]:
        try:
            yield LoadConnector("a")
        except RetriableError:
            yield ReleaseLease("a", "me")
        return "recovered"

    done: list[object] = []
    assert perform(steps(), {LoadConnector: fail, ReleaseLease: done.append}) == "recovered"
    assert done == [ReleaseLease("a", "me")]


def test_perform_raises_what_the_protocol_does_not_answer() -> None:
    def fail(effect: object) -> None:
        raise RetriableError("away")

    def steps() -> Steps[None]:
        yield LoadConnector("a")

    with pytest.raises(RetriableError, match="away"):
        perform(steps(), {LoadConnector: fail})

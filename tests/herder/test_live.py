"""Live checks: what they find is shown at its key; one that hangs is given up."""

from __future__ import annotations

import threading

import pytest

from connect_core.api.config import ConfigValue
from connect_core.configs import ConfigInfo, ConfigInfos
from connect_core.errors import RetriableError
from connect_core.herder.live import LiveCheck, with_live_check

INFOS = ConfigInfos("Some", 0, (), (ConfigInfo(None, ConfigValue("file", "x")), ConfigInfo(None, None)))


def test_check_adds_its_errors() -> None:
    found = {"file": ["cannot be read", "is a folder"], "other": ["is down"]}
    infos = with_live_check(INFOS, lambda: found)
    assert (infos.errors(), infos.error_count) == (found, 3)
    assert INFOS.errors() == {}


def test_check_may_find_nothing() -> None:
    assert with_live_check(INFOS, dict) == INFOS


def _raising(error: Exception) -> LiveCheck:
    def check() -> dict[str, list[str]]:
        raise error

    return check


@pytest.mark.parametrize(
    ("error", "shown"),
    [(RetriableError("broker down"), "broker down"), (KeyError("x"), "The check failed: KeyError: 'x'")],
)
def test_failing_check_is_an_error(error: Exception, shown: str) -> None:
    assert with_live_check(INFOS, _raising(error)).errors() == {"connector.class": [shown]}


def test_hanging_check_is_given_up() -> None:
    released = threading.Event()

    def check() -> dict[str, list[str]]:
        released.wait(30)
        return {}

    try:
        infos = with_live_check(INFOS, check, 0.1)
    finally:
        released.set()
    assert infos.errors() == {"connector.class": ["The systems Some needs did not answer within 0.1 s: are they up?"]}

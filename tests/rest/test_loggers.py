"""Levels of loggers, as a worker sets them."""

from __future__ import annotations

import logging
import uuid

import pytest

from connect_core.errors import NotFoundError
from connect_core.rest.loggers import Loggers
from tests.rest.conftest import Client


@pytest.fixture
def name() -> str:
    return f"probe{uuid.uuid4().hex}"


def test_level_is_set_beneath_too_and_only_changes_are_named(name: str) -> None:
    loggers = Loggers()
    assert loggers.set_level(f"{name}.one", "debug") == [f"{name}.one"]
    assert loggers.set_level(name, "ERROR") == [name, f"{name}.one"]
    assert loggers.set_level(name, "ERROR") == []
    assert loggers.show(f"{name}.one")["level"] == "ERROR"
    assert logging.getLogger(name).level == logging.ERROR


@pytest.mark.parametrize("level", ["ALL", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"])
def test_level_is_shown_in_connects_words(name: str, level: str) -> None:
    loggers = Loggers()
    loggers.set_level(name, level.lower())
    shown = loggers.show(name)
    assert shown["level"] == level
    assert isinstance(shown["last_modified"], int)


def test_logger_that_was_never_set_follows_its_parent(name: str) -> None:
    logging.getLogger(f"{name}.quiet")
    loggers = Loggers()
    assert loggers.show(f"{name}.quiet") == {"level": loggers.show("root")["level"], "last_modified": None}
    assert f"{name}.quiet" in loggers.show_all()


def test_unknown_logger_and_level_are_not_found(name: str) -> None:
    with pytest.raises(NotFoundError, match="not found"):
        Loggers().show(name)
    with pytest.raises(NotFoundError, match="invalid log level 'LOUD'"):
        Loggers().set_level(name, "LOUD")
    with pytest.raises(NotFoundError, match="invalid log level ''"):
        Loggers().set_level(name, "")


def test_level_is_trimmed_and_other_keys_are_passed_over(call: Client, name: str) -> None:
    answer = call("PUT", f"/admin/loggers/{name}", {"level": " debug ", "other": "x", "number": 5, "null": None})
    assert (answer.status, answer.json) == (200, [name])
    assert call("GET", f"/admin/loggers/{name}").json["level"] == "DEBUG"
    assert call("PUT", f"/admin/loggers/{name}", {"level": 5}).json["message"] == "invalid log level '5'."
    assert call("PUT", f"/admin/loggers/{name}", {"level": ""}).status == 404
    assert call("PUT", f"/admin/loggers/{name}", {"level": None}).status == 400
    assert call("PUT", f"/admin/loggers/{name}", {"level": "INFO", "other": {"a": 1}}).status == 500

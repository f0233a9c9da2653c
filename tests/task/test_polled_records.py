"""What ``poll`` returned: mistakes of a plugin are named with their field and remedy."""

from __future__ import annotations

import datetime
from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from connect_core.api.headers import Headers
from connect_core.api.records import SinkRecord, SourceRecord
from connect_core.errors import ConnectError
from connect_core.task.polled_records import checked_records
from tests.task.equipment import RememberedWriter, source_attempt, tolerance
from tests.task.test_polling import Reusing

RECORD = SourceRecord("t", value="x", source_partition={"p": 1}, source_offset={"n": 1})


class Mine:
    """Stands for a task, which a message names."""


class OwnRecord(SourceRecord):
    """A record of a plugin's own class."""


@pytest.mark.parametrize("empty", [None, [], (), deque()])
def test_nothing_is_no_record(empty: Any) -> None:
    assert checked_records(Mine(), empty) == ()


@pytest.mark.parametrize(
    "polled", [[RECORD], (RECORD, RECORD), deque([RECORD]), [OwnRecord("t"), RECORD], {1: RECORD}.values()]
)
def test_lists_of_records_are_taken(polled: Any) -> None:
    assert checked_records(Mine(), polled) == tuple(polled)


@pytest.mark.parametrize(
    ("polled", "named"),
    [
        ({"a": 1}, r"an object of class builtins\.dict"),
        (RECORD, r"an object of class connect_core\.api\.records\.SourceRecord"),
        ((one for one in [RECORD]), r"an object of class builtins\.generator"),
        ("abc", r"an object of class builtins\.str"),
        (False, r"an object of class builtins\.bool"),
        ([RECORD, {"a": 1}], r"a list with an object of class builtins\.dict in it"),
        ([None], r"a list with an object of class builtins\.NoneType in it"),
        ([SinkRecord("t")], r"a list with an object of class .*\.SinkRecord in it"),
    ],
)
def test_anything_else_is_refused(polled: Any, named: str) -> None:
    with pytest.raises(ConnectError, match=rf"Mine\.poll returned {named}: poll must return a list of SourceRecord"):
        checked_records(Mine(), polled)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("headers", {"a": "b"}, r"headers is of class builtins\.dict: return Headers, such as"),
        ("headers", [("a", "b")], r"headers is of class builtins\.list"),
        ("headers", None, r"headers is of class builtins\.NoneType"),
        ("timestamp", 1700000000.9, r"timestamp is 1700000000\.9, of class builtins\.float: return whole milliseconds"),
        ("timestamp", float("nan"), r"timestamp is nan"),
        ("timestamp", datetime.datetime(2020, 1, 1), r"timestamp is of class datetime\.datetime"),
        ("timestamp", "1", r"timestamp is of class builtins\.str"),
        ("kafka_partition", "1", r"kafka_partition is of class builtins\.str: return a whole number"),
        ("topic", 5, r"topic is 5, of class builtins\.int: return a text"),
    ],
)
def test_fields_of_another_type_are_named(field: str, value: Any, message: str) -> None:
    careless = replace(RECORD)
    setattr(careless, field, value)
    with pytest.raises(ConnectError, match=rf"Mine\.poll returned a record whose {message}"):
        checked_records(Mine(), [RECORD, careless])


@pytest.mark.parametrize("timestamp", [None, 0, -5, 5.0, np.int64(5), True])
def test_whole_numbers_of_any_kind_are_taken(timestamp: Any) -> None:
    assert checked_records(Mine(), [replace(RECORD, timestamp=timestamp)])


def test_headers_of_a_plugins_own_class_are_taken() -> None:
    class OwnHeaders(Headers):
        """Nothing of its own."""

    assert checked_records(Mine(), [replace(RECORD, headers=OwnHeaders())])


@pytest.mark.slow
def test_mistake_fails_the_task_though_errors_are_tolerated() -> None:
    class Careless(Reusing):
        def given(self) -> Any:
            return [{"id": self.number}]

    writer = RememberedWriter()
    with pytest.raises(ConnectError, match=r"Careless\.poll returned a list with an object of class builtins\.dict"):
        source_attempt(Careless(), writer, guard=tolerance(True)).run()
    assert writer.calls == []

"""Differences from Connect's classes that are meant, or that cannot be told from outside, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.conformance.case import Case

__all__ = ["accepted", "is_of_the_jvm"]

Json = Any
_JVM = re.compile(
    r"java\.|\[B|Cannot invoke|Cannot load|com\.fasterxml|org\.apache|class |@[0-9a-f]{5,}|"
    r"\(Jackson|Unrecognized token|Unexpected"
)


def is_of_the_jvm(error: Json) -> bool:
    """Return whether a message carries the JVM's or Jackson's own words: only its class is compared."""
    message = error["message"]
    return message is None or _JVM.search(message) is not None or not error["origin"].startswith("org.apache.kafka")


def _prints_a_record(case: Case, problem: str) -> bool:
    return str(case.java_class).endswith("TimestampRouter") and "Timestamp missing on record: " in problem


def _parses_null(case: Case, problem: str) -> bool:
    return (
        case.java_class == "parseString"
        and problem == "record lane: expected None, got {'schema': None, 'value': None}"
    )


def _prints_an_identity(case: Case, problem: str) -> bool:
    return str(case.java_class).endswith("StringConverter") and "'@bytes'" in problem and _holds_bytes(case.input)


def _holds_bytes(content: Json) -> bool:
    return "@bytes" in repr(content["value"]) or "@bytebuffer" in repr(content["value"])


_REASONS: tuple[tuple[str, Callable[[Case, str], bool]], ...] = (
    ("a record in an error's message is printed as Python prints it", _prints_a_record),
    ("the text null is a null value, where Connect has no answer at all (a null reference)", _parses_null),
    ("an array of bytes as text carries an address of the JVM's memory", _prints_an_identity),
)


def accepted(case: Case, problem: str) -> str | None:
    """Return why a difference is accepted, or ``None``."""
    return next((reason for reason, fits in _REASONS if fits(case, problem)), None)

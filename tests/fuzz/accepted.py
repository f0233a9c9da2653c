"""Differences from Connect's classes that are meant, or that cannot be told from outside, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.conformance.case import Case

__all__ = ["accepted", "is_of_the_jvm"]

Json = Any
_JVM = re.compile(
    r"java\.|\[B|Cannot invoke|Cannot load|com\.fasterxml|org\.apache|class |@[0-9a-f]{5,}|"
    r"\(Jackson|Unrecognized token|Unexpected"
)

_EXPECTS_A_MAP = re.compile(r"record lane: expected ['\"]?[{\[]")
"""A value that contains maps, or its text."""


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


def _names_another_field(case: Case, problem: str) -> bool:
    """Of a map that has several fields which cannot be cast, Java names the first by its hashes."""
    if ".Cast$" not in str(case.java_class) or not problem.startswith("record lane: expected message"):
        return False
    return case.input.get(f"{_part(case)}Schema") is None


def _renames_to_one_name(case: Case, problem: str) -> bool:
    """Of two fields renamed to one name, Java goes back to the last by its hashes."""
    if ".ReplaceField$" not in str(case.java_class):
        return False
    targets = [pair.rpartition(":")[2] for pair in case.config.get("renames", "").split(",")]
    return len(set(targets)) < len(targets)


def _part(case: Case) -> str:
    return str(case.java_class).rpartition("$")[2].lower()


def _has_two_zeros(case: Case, problem: str) -> bool:
    """A map with the keys 0.0 and -0.0: they are equal in Python, and two keys in Java."""
    return _EXPECTS_A_MAP.match(problem) is not None and any(
        {"0.0", "-0.0"} <= {repr(next(iter(key.values()))) for key, _ in pairs if _is_float(key)}
        for pairs in _maps(case.input)
    )


def _has_equal_bytes(case: Case, problem: str) -> bool:
    """A map with equal bytes as two keys, as arrays or buffers: Java compares arrays by identity."""
    if _EXPECTS_A_MAP.match(problem) is None:
        return False
    for pairs in _maps(case.input):
        keys = [next(iter(key.values())) for key, _ in pairs if _is_bytes(key)]
        if len(set(keys)) < len(keys):
            return True
    return False


def _is_bytes(key: Json) -> bool:
    return isinstance(key, dict) and not {"@bytes", "@bytebuffer"}.isdisjoint(key)


def _is_float(key: Json) -> bool:
    return isinstance(key, dict) and not {"@float32", "@float64"}.isdisjoint(key)


def _maps(content: Json) -> Iterator[Json]:
    """Yield the entries of every map whose keys are not text, however deep."""
    if isinstance(content, dict) and "@pairs" in content:
        yield content["@pairs"]
    parts = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    for part in parts:
        yield from _maps(part)


_REASONS: tuple[tuple[str, Callable[[Case, str], bool]], ...] = (
    ("a record in an error's message is printed as Python prints it", _prints_a_record),
    ("the text null is a null value, where Connect has no answer at all (a null reference)", _parses_null),
    ("an array of bytes as text carries an address of the JVM's memory", _prints_an_identity),
    ("which of several wrong fields of a map is named hangs on Java's hashes", _names_another_field),
    ("two fields renamed to one name: which one that is hangs on Java's hashes", _renames_to_one_name),
    ("a map's keys 0.0 and -0.0 are one key of a Python dict", _has_two_zeros),
    ("equal bytes as keys of a map are one key of a Python dict", _has_equal_bytes),
)


def accepted(case: Case, problem: str) -> str | None:
    """Return why a difference is accepted, or ``None``."""
    return next((reason for reason, fits in _REASONS if fits(case, problem)), None)

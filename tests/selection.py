"""Which modules a suite need not import: to import all of them takes as long as a third of the quick tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

__all__ = ["MARKS", "SUITES", "has_nothing_of", "lost", "suite_of"]

MARKS = ("matrix", "slow", "simulator", "servers", "browser", "faults")
SUITES: Mapping[str, str] = MappingProxyType(
    {
        "unit": "not matrix and not slow and not simulator and not servers and not browser and not faults",
        "slow": "not matrix and slow and not simulator and not servers and not browser and not faults",
        "simulator": "not matrix and simulator and not servers and not browser and not faults",
        "servers": "not matrix and servers and not faults",
        "browser": "not matrix and browser and not servers and not faults",
        "faults": "not matrix and faults",
    }
)
"""Name → the expression over markers; together they select every test but those of ``make matrix``."""
_MARKED_AS_A_WHOLE = re.compile(rf"^pytestmark = .*\bpytest\.mark\.(?:{'|'.join(MARKS)})\b", re.MULTILINE)
_MENTIONED: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        # The helpers of JDBC's tests mark the parameters of databases that need no server.
        "slow": re.compile(r"\bmark\.slow\b|^from tests\.connectors\.jdbc\b", re.MULTILINE),
        **{name: re.compile(rf"\bmark\.{name}\b") for name in ("simulator", "browser", "faults")},
    }
)
"""Suite → what a module says that has tests of it."""


@cache
def has_nothing_of(suite: str | None, module: Path) -> bool:
    """Return whether a module's text tells that no test of it is in the suite."""
    if suite == "unit":
        return bool(_MARKED_AS_A_WHOLE.search(module.read_text()))
    mentioned = _MENTIONED.get(suite or "")
    return mentioned is not None and not mentioned.search(module.read_text())


def suite_of(expression: str) -> str | None:
    """Return the suite that an expression over markers selects, ``None`` if it is another one."""
    return next((name for name, known in SUITES.items() if known == expression), None)


def lost(items: Iterable[pytest.Item]) -> list[str]:
    """Return the tests that are in a suite which would not import their module."""
    wanted = {name: compile(expression, name, "eval") for name, expression in SUITES.items()}
    found = []
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        names = {name: name in marks for name in MARKS}
        found += [
            f"{item.nodeid} is of the suite {name}, but its module does not say so: mark it in its module"
            for name, code in wanted.items()
            if eval(code, {}, names) and has_nothing_of(name, item.path)
        ]
    return found

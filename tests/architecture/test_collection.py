"""Tests are collected alike in every process: pytest-xdist refuses to run what two workers name differently."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CHANGING = {"time", "time_ns", "monotonic", "now", "utcnow", "today", "uuid1", "uuid4", "token_hex", "random", "getpid"}


def changing_parameters(source: str) -> list[int]:
    """Return the lines of ``parametrize`` decorators without ids that call what answers differently each time."""
    found = list[int]()
    if "parametrize" not in source or not any(f"{name}(" in source for name in CHANGING):
        return found
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr != "parametrize" or any(keyword.arg == "ids" for keyword in node.keywords):
            continue
        called = [inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call)]
        if CHANGING & {function.attr for function in called if isinstance(function, ast.Attribute)}:
            found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    ("arguments", "is_found"),
    [
        ('"text", [formatdate(time.time())]', True),
        ('"text", [uuid.uuid4().hex], ids=["random"]', False),
        ('"text", [datetime(2026, 1, 1)]', False),
    ],
)
def test_a_changing_parameter_is_seen(arguments: str, is_found: bool) -> None:
    source = f"@pytest.mark.parametrize({arguments})\ndef test_it(text): ..."
    assert bool(changing_parameters(source)) == is_found


def test_no_test_is_named_by_what_changes() -> None:
    found = {str(file.relative_to(TESTS)): changing_parameters(file.read_text()) for file in TESTS.rglob("test_*.py")}
    assert {name: lines for name, lines in found.items() if lines} == {}

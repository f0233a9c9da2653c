"""Topic patterns."""

from __future__ import annotations

import pytest

from connect_core.configs.regex import compile_pattern
from connect_core.errors import ConfigError


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a[", "Unclosed character class near index 1\na[\n ^"),
        ("(a", "Unclosed group near index 2\n(a"),
        ("*a", "Dangling meta character '*' near index 0\n*a\n^"),
        ("a)", "Unmatched closing ')' near index 0\na)\n^"),
    ],
)
def test_bad_pattern_is_told_like_java(pattern: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compile_pattern(pattern)
    assert str(caught.value) == message


def test_named_groups_are_javas() -> None:
    assert compile_pattern("(?<kind>[a-z]+)-(?<!x)y").fullmatch("ab-y")


def test_long_pattern_is_refused() -> None:
    with pytest.raises(ConfigError, match="longer than 1000 characters"):
        compile_pattern("a" * 1001)

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.connectors.path_names import escaped
from tests.connectors.examples import MANY

TEXT = st.text() | st.text("a./_%+\\ \0", max_size=8)


@MANY
@given(TEXT)
def test_escaped_is_one_safe_component(name: Any) -> None:
    text = escaped(name)
    assert text not in ("", ".", "..")
    assert text[0] not in "._+"
    assert "/" not in text
    assert text.isascii()
    assert text.isprintable()
    assert len(text) <= 150


@MANY
@given(st.lists(TEXT, unique=True))
def test_two_names_never_become_one(names: Any) -> None:
    assert len({escaped(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("orders", "orders"),
        ("a.b-c_1", "a.b-c_1"),
        ("../x", "%2E.%2Fx"),
        ("_connect", "%5Fconnect"),
        ("é", "%C3%A9"),
        ("", "%"),
    ],
)
def test_escaped_keeps_what_is_safe(name: str, text: str) -> None:
    assert escaped(name) == text

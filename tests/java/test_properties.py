"""Properties files as Java reads them; the table was checked against java.util.Properties."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.errors import ConfigError
from connect_core.java.properties import format_properties, parse_properties, read_properties

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1\nb:2\nc 3\nd", {"a": "1", "b": "2", "c": "3", "d": ""}),
        ("  a \t=\f 1 ", {"a": "1 "}),
        ("a = = b", {"a": "= b"}),
        ("a::b", {"a": ":b"}),
        ("=x", {"": "x"}),
        ("# a=1\n ! b=2\n\nc=#3", {"c": "#3"}),
        ("# a=1\\\nb=2", {"b": "2"}),
        ("a=1,\\\n   2,\\\r\n\t3\rb=4", {"a": "1,2,3", "b": "4"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        ("a=1\\\n# 2", {"a": "1# 2"}),
        ("a=1\\\n\nb=2", {"a": "1", "b": "2"}),
        ("a=1\\", {"a": "1"}),
        ("a\\ b\\=c\\:d=e", {"a b=c:d": "e"}),
        ("a=\\t\\n\\r\\f\\q\\\\", {"a": "\t\n\r\fq\\"}),
        ("a=caf\\u00E9 \\ud83d\\ude00", {"a": "café 😀"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=1\x85b=2\u2028c=3", {"a": "1\x85b=2\u2028c=3"}),
    ],
)
def test_parse_reads_like_java(text: str, expected: dict[str, str]) -> None:
    assert parse_properties(text) == expected


def test_parse_refuses_malformed_escape() -> None:
    with pytest.raises(ConfigError, match=r"Malformed \\uxxxx encoding"):
        parse_properties("a=\\u00")


@given(st.dictionaries(_TEXTS, _TEXTS))
def test_format_parses_back(properties: dict[str, str]) -> None:
    assert parse_properties(format_properties(properties)) == properties


@given(st.text(st.characters(exclude_characters="u")))
def test_parse_takes_any_text(text: str) -> None:
    assert all(isinstance(value, str) for value in parse_properties(text).values())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "iso-8859-1"])
def test_read_finds_the_encoding(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "worker.properties"
    file.write_text("a=é", encoding)
    assert read_properties(file) == {"a": "é"}


def test_read_names_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Cannot read .*nowhere\.properties: No such file"):
        read_properties(tmp_path / "nowhere.properties")


def test_read_names_the_line_of_a_malformed_escape(tmp_path: Path) -> None:
    file = tmp_path / "secrets.properties"
    file.write_text("# a comment\nname=x\n\nlong=a,\\\n  b\npassword=C:\\users\n")
    with pytest.raises(ConfigError, match=r"secrets\.properties, line 6: Malformed .*backslash as \\\\") as caught:
        read_properties(file)
    assert "sers" not in str(caught.value)

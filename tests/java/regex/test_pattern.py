from __future__ import annotations

import pytest

from connect_core.errors import IllegalArgumentError, IndexOutOfBoundsError
from connect_core.java.regex.pattern import compile_java, replace_first


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("[a-z&&[^b]]+", "acd", True),
        ("[a-z&&[^b]]+", "abd", False),
        ("[^a-c[x-z]]", "d", True),
        ("[^a-c[x-z]]", "y", False),
        ("(?i)ABC", "abc", True),
        ("a(?i)B|C", "c", True),
        ("a(?i)B|C", "A", False),
        ("(?:(?i)a)b", "Ab", True),
        ("(?:(?i)a)b", "AB", False),
        (r"\Qa.b\E+", "a.bbb", True),
        (r"\Qa.b\E+", "axb", False),
        (r"(?<x>a)\k<x>", "aa", True),
        (r"(a)(b)\2", "abb", True),
        (r"\p{Alpha}+\d", "ab1", True),
        (r"\P{L}+", "12é", False),
        ("a++b", "aab", True),
        ("(?>a+)b", "aab", True),
        (".*", "a\nb", False),
        ("(?s).*", "a\nb", True),
        (r"\x41\u0042\x{43}", "ABC", True),
        (r"[\[\]]", "[", True),
        (r"\h\w", "\u00a0a", True),
        ("^abc$", "abc", True),
        (r"\w", "é", False),
        ("a{2,3}?", "aaa", True),
    ],
)
def test_matches_as_java(pattern: str, text: str, matches: bool) -> None:
    assert (compile_java(pattern).fullmatch(text) is not None) is matches


@pytest.mark.parametrize(
    "pattern", ["*", "(", "[", "(?<x>a", "\\", "a)", "{", "a{,3}", r"\y", "[z-a]", "(?q)", r"\p{Zz9}"]
)
def test_refuses_as_java(pattern: str) -> None:
    with pytest.raises(IllegalArgumentError):
        compile_java(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "replacement", "expected"),
    [
        ("(?<a>[a-z]+)(?<b>[0-9]+)", "abc123", "${b}-${a}", "123-abc"),
        ("a.*", "abc", "$0$0", "abcabc"),
        ("(a)(b)?c", "ac", "[$2]", "[]"),
        ("(a)bc", "abc", "$11", "a1"),
        ("a+?", "aaa", "z", "zaa"),
        ("x", "x", r"\$1\\", "$1\\"),
        ("z", "x", "$9", "x"),
    ],
)
def test_replaces_as_java(pattern: str, text: str, replacement: str, expected: str) -> None:
    assert replace_first(compile_java(pattern), text, replacement) == expected


@pytest.mark.parametrize("replacement", ["a$", "$x", "${", "${no}", "\\"])
def test_refuses_bad_references(replacement: str) -> None:
    with pytest.raises(IllegalArgumentError):
        replace_first(compile_java("x"), "x", replacement)
    with pytest.raises(IndexOutOfBoundsError):
        replace_first(compile_java("x"), "x", "$1")


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(a|aa)+$", r"(.*)*x", "(a?){300}a{300}"])
def test_time_grows_with_the_text(pattern: str) -> None:
    assert compile_java(pattern).fullmatch("a" * 20_000 + "c") is None


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["(?=(a+)+b)a*", r"((a+)+)\1b", "(?:(a|aa)+)(?<!x)b"])
def test_what_has_no_bound_is_given_up(pattern: str) -> None:
    with pytest.raises(IllegalArgumentError, match="takes too long"):
        compile_java(pattern).fullmatch("a" * 5_000)
    # The next is matched all the same.
    assert compile_java("(?!b)a").fullmatch("a")


@pytest.mark.slow
def test_many_texts_have_the_time_of_one() -> None:
    texts = [f"{'a' * 28}{number}" for number in range(50)]
    with pytest.raises(IllegalArgumentError, match="takes too long"):
        compile_java("(?!x)(a+)+b").matching(texts)
    assert compile_java("(?!b)a+[0-9]{1,2}").matching([*texts, "b"]) == texts


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("a$", "a", True),
        ("a$\n", "a\n", True),
        (r"a\Z\n", "a\n", True),
        ("a$", "a\n", False),
        ("(?x) a b # c\n c", "abc", True),
        (r"(?x)a\ b", "a b", True),
        ("\ud800", "\ud800", True),
        ("(?s).", "\ud800", True),
        (r"[\\u0041]", "u", True),
        (r"\\u0041", "\\u0041", True),
        (r"\p{Lu}\pL[^\P{Nd}]", "Éé7", True),
        ("[a-c&&[b]]", "b", True),
        (r"(?!x)\p{Lu}", "É", True),
    ],
)
def test_both_engines_match_as_java(pattern: str, text: str, matches: bool) -> None:
    assert (compile_java(pattern).fullmatch(text) is not None) is matches


def test_result_of_a_replacement_is_bounded() -> None:
    with pytest.raises(IllegalArgumentError, match="more than 65536 characters"):
        replace_first(compile_java("a+"), "a" * 1000, "$0" * 1000)

"""Java's regular expressions translated to the syntax of RE2 and Python.

``java.util.regex`` differs in the names of groups, in unions and intersections
of classes, in flags set within a pattern, in quoting and in line
terminators. Lookbehind of variable width has no counterpart and is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from connect_core.errors import IllegalArgumentError
from connect_core.java.regex.classes import read_class, read_escape

__all__ = ["translate"]

_LONGEST = 10_000
"""Most characters of a pattern; Java has no such limit."""
_LONGEST_TRANSLATION = 200_000

_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAMED = re.compile(r"\(\?<([a-zA-Z][a-zA-Z0-9]*)>")
_REPETITION = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_REFERENCE = re.compile(r"\\k<([a-zA-Z][a-zA-Z0-9]*)>")
_ANY = "[^\\n\\r\x85\u2028\u2029]"
_COMMENT = re.compile("#[^\\n\\r\x85\u2028\u2029]*")
_SHARED_FLAGS = set("ims")
_OWN_FLAGS = set("imsx")


def translate(pattern: str) -> str:
    """Return a pattern in the common syntax of RE2 and Python, with these exceptions.

    ``\\p{Lu}`` is a general category, ``\\z`` the end of the text, ``\\Z`` that or
    the line terminator before it; lookaround, back references, possessive and
    atomic groups are kept. Raise IllegalArgumentError if Java
    rejects the pattern, and if it is too large.
    """
    if len(pattern) > _LONGEST:
        raise IllegalArgumentError(f"The regular expression is longer than {_LONGEST} characters: {pattern[:50]}…")
    try:
        return _Translation(pattern).translate()
    except (RecursionError, OverflowError, ValueError) as error:
        if isinstance(error, IllegalArgumentError):
            raise
        raise IllegalArgumentError(f"{error} in regular expression {pattern}") from error


class _Translation:
    """One pass over a pattern, with the flags that apply at the current position."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._out: list[str] = []
        self._size = 0
        self._flags: set[str] = set()
        self._saved: list[tuple[set[str], list[str]]] = []
        self._scopes: list[str] = []

    def translate(self) -> str:
        while self._at < len(self._pattern):
            character = self._pattern[self._at]
            _STEPS.get(character, _Translation._literal)(self)
        if self._saved:
            raise IllegalArgumentError(f"Unclosed group near index {self._at} in {self._pattern}")
        return "".join(self._out) + ")" * len(self._scopes)

    def _literal(self) -> None:
        character = self._pattern[self._at]
        if "x" not in self._flags or not (character.isspace() or character == "#"):
            self._take(re.escape(character) if character.isspace() else character, self._at + 1)
        elif character == "#":
            comment = _COMMENT.match(self._pattern, self._at)
            self._at = comment.end() if comment else self._at + 1
        else:
            self._at += 1

    def _brace(self) -> None:
        match = _REPETITION.match(self._pattern, self._at)
        if match is None:
            raise IllegalArgumentError(f"Illegal repetition near index {self._at} in {self._pattern}")
        self._take(match.group(), match.end())

    def _dot(self) -> None:
        self._take("." if "s" in self._flags else _ANY, self._at + 1)

    def _dollar(self) -> None:
        self._take("$" if "m" in self._flags else r"\Z", self._at + 1)

    def _class(self) -> None:
        self._take(*read_class(self._pattern, self._at))

    def _escape(self) -> None:
        following = self._pattern[self._at + 1 : self._at + 2]
        if following == "Q":
            end = self._pattern.find("\\E", self._at + 2)
            end = len(self._pattern) if end < 0 else end
            self._take(re.escape(self._pattern[self._at + 2 : end]), end + 2)
        elif following == "k":
            match = _REFERENCE.match(self._pattern, self._at)
            if match is None:
                raise IllegalArgumentError(f"\\k is not followed by '<' for named capturing group in {self._pattern}")
            self._take(f"(?P={match.group(1)})", match.end())
        elif following in ("Z", "z", "A", "b", "B", "G", "R"):
            self._take(_ANCHORS[following], self._at + 2)
        elif following in tuple("123456789"):
            self._take(f"(?:\\{following})", self._at + 2)
        else:
            self._take(*read_escape(self._pattern, self._at))

    def _open(self) -> None:
        flags = _FLAGS.match(self._pattern, self._at)
        named = _NAMED.match(self._pattern, self._at)
        if flags is not None:
            self._set_flags(flags)
            return
        self._saved.append((set(self._flags), self._scopes))
        self._scopes = []
        if named is not None:
            self._take(f"(?P<{named.group(1)}>", named.end())
        elif self._pattern.startswith("(?", self._at):
            length = 4 if self._pattern.startswith("(?<", self._at) else 3
            self._take(self._pattern[self._at : self._at + length], self._at + length)
        else:
            self._take("(", self._at + 1)

    def _set_flags(self, match: re.Match[str]) -> None:
        on, off = set(match.group(1) or ""), set(match.group(2) or "")
        if (on | off) - set("idmsuxU"):
            raise IllegalArgumentError(f"Unknown inline modifier in {self._pattern}")
        on, off = on & _OWN_FLAGS, off & _OWN_FLAGS
        said, unsaid = sorted(on & _SHARED_FLAGS), sorted(off & _SHARED_FLAGS)
        opening = f"(?{''.join(said)}{'-' if unsaid else ''}{''.join(unsaid)}:"
        if match.group(3) == ":":
            self._saved.append((set(self._flags), self._scopes))
            self._scopes = []
        else:
            self._scopes.append(opening)
        self._flags = (self._flags | on) - off
        self._take(opening, match.end())

    def _close(self) -> None:
        if not self._saved:
            raise IllegalArgumentError(f"Unmatched closing ')' near index {self._at} in {self._pattern}")
        closing = ")" * len(self._scopes)
        self._flags, self._scopes = self._saved.pop()
        self._take(closing + ")", self._at + 1)

    def _alternative(self) -> None:
        self._take(")" * len(self._scopes) + "|" + "".join(self._scopes), self._at + 1)

    def _take(self, text: str, end: int) -> None:
        self._out.append(text)
        self._size += len(text)
        if self._size > _LONGEST_TRANSLATION:
            raise IllegalArgumentError(f"The regular expression is too large: {self._pattern[:50]}…")
        self._at = end


_ANCHORS = {
    "Z": r"\Z",
    "z": r"\z",
    "A": r"\A",
    "G": r"\A",
    "b": r"\b",
    "B": r"\B",
    "R": "(?:\\r\\n|[\\n\\x0b\\x0c\\r\x85\u2028\u2029])",
}
_STEPS: dict[str, Callable[[_Translation], None]] = {
    "{": _Translation._brace,
    ".": _Translation._dot,
    "$": _Translation._dollar,
    "[": _Translation._class,
    "\\": _Translation._escape,
    "(": _Translation._open,
    ")": _Translation._close,
    "|": _Translation._alternative,
}

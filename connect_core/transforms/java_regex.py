"""Java's regular expressions, said in Python's.

``java.util.regex`` differs in the names of groups, in classes that are united
and intersected, in flags that start in the middle, in quoting and in what a
line ends with. Lookbehind of variable width has no counterpart and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from connect_core.errors import IllegalArgumentError, IndexOutOfBoundsError
from connect_core.transforms.java_classes import read_class, read_escape

__all__ = ["compile_java", "replace_first"]

_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAMED = re.compile(r"\(\?<([a-zA-Z][a-zA-Z0-9]*)>")
_REPETITION = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_REFERENCE = re.compile(r"\\k<([a-zA-Z][a-zA-Z0-9]*)>")
_ANY = r"[^\n\r\u0085\u2028\u2029]"
_END = r"(?=(?:\r\n|[\n\r\u0085\u2028\u2029])?\Z)"
_PYTHON_FLAGS = set("imsx")


@lru_cache(maxsize=256)
def compile_java(pattern: str) -> re.Pattern[str]:
    """Return the pattern compiled. Raise IllegalArgumentError where Java refuses it."""
    try:
        return re.compile(_Translation(pattern).translate(), re.ASCII)
    except (re.error, RecursionError, OverflowError) as error:
        raise IllegalArgumentError(f"{error} in regular expression {pattern}") from error


def replace_first(pattern: re.Pattern[str], text: str, replacement: str) -> str:
    """Replace the first match; ``$1`` and ``${name}`` stand for groups, ``\\`` quotes.

    Raise IllegalArgumentError for a bad reference, IndexOutOfBoundsError for an
    unknown group. Java: ``Matcher.replaceFirst``.
    """
    match = pattern.search(text)
    if match is None:
        return text
    return text[: match.start()] + _expand(match, replacement) + text[match.end() :]


def _expand(match: re.Match[str], replacement: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(replacement):
        character = replacement[at]
        at += 1
        if character == "\\":
            if at == len(replacement):
                raise IllegalArgumentError("character to be escaped is missing")
            parts.append(replacement[at])
            at += 1
        elif character == "$":
            text, at = _group(match, replacement, at)
            parts.append(text)
        else:
            parts.append(character)
    return "".join(parts)


def _group(match: re.Match[str], replacement: str, at: int) -> tuple[str, int]:
    if at == len(replacement):
        raise IllegalArgumentError("Illegal group reference: group index is missing")
    if replacement[at] == "{":
        end = replacement.find("}", at)
        name = replacement[at + 1 : end] if end > 0 else ""
        if not re.fullmatch("[a-zA-Z][a-zA-Z0-9]*", name):
            raise IllegalArgumentError(f"Illegal group reference in {replacement}: a name in braces is needed")
        if name not in match.re.groupindex:
            raise IllegalArgumentError(f"No group with name {{{name}}}")
        return match[name] or "", end + 1
    if replacement[at] not in "0123456789":
        raise IllegalArgumentError("Illegal group reference")
    number = int(replacement[at])
    at += 1
    if number > match.re.groups:
        raise IndexOutOfBoundsError(f"No group {number}")
    while replacement[at : at + 1] in tuple("0123456789") and number * 10 + int(replacement[at]) <= match.re.groups:
        number = number * 10 + int(replacement[at])
        at += 1
    return match[number] or "", at


class _Translation:
    """One pass over a pattern, with the flags that hold where it stands."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._out: list[str] = []
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
        self._at += 1
        spaced = "x" in self._flags
        self._out.append(character if spaced or not character.isspace() else re.escape(character))

    def _brace(self) -> None:
        match = _REPETITION.match(self._pattern, self._at)
        if match is None:
            raise IllegalArgumentError(f"Illegal repetition near index {self._at} in {self._pattern}")
        self._take(match.group(), match.end())

    def _dot(self) -> None:
        self._take("." if "s" in self._flags else _ANY, self._at + 1)

    def _dollar(self) -> None:
        self._take("$" if "m" in self._flags else _END, self._at + 1)

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
        on, off = on & _PYTHON_FLAGS, off & _PYTHON_FLAGS
        opening = f"(?{''.join(sorted(on))}{'-' if off else ''}{''.join(sorted(off))}:"
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
        self._at = end


_ANCHORS = {
    "Z": _END,
    "z": r"\Z",
    "A": r"\A",
    "G": r"\A",
    "b": r"\b",
    "B": r"\B",
    "R": r"(?:\r\n|[\n\x0b\x0c\r\u0085\u2028\u2029])",
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

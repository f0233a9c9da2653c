"""Java's regular expressions, matched in time linear in the text where possible.

RE2 matches what it supports. Lookaround, back references, possessive and atomic groups and
intersections of classes are matched by a process that is killed after 2 s of CPU time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import re2

from connect_core.errors import IllegalArgumentError, IndexOutOfBoundsError
from connect_core.java.regex.process import ask
from connect_core.java.regex.translation import translate

__all__ = ["JavaPattern", "Match", "compile_java", "refusal", "replace_first"]

_MEMORY = 2 << 20
"""Most bytes that RE2 may use for one pattern."""
_LONGEST_RESULT = 1 << 16
"""Most characters of a text after a replacement."""
_TOKEN = re.compile(r"\\([Zz])|\\.", re.DOTALL)
_LINE_ENDS = frozenset("\n\r\x85\u2028\u2029")


@dataclass(frozen=True, slots=True)
class Match:
    """The spans of a pattern's groups in a text: start and end, (-1, -1) for none; group 0 is the whole match."""

    text: str
    spans: Sequence[tuple[int, int]]
    names: Mapping[str, int]

    @property
    def groups(self) -> int:
        """The number of groups besides group 0."""
        return len(self.spans) - 1

    def group(self, number: int) -> str:
        """Return the text of a group; empty if it did not match."""
        start, end = self.spans[number]
        return "" if start < 0 else self.text[start:end]


class _Engine(Protocol):
    def match(self, texts: Sequence[str], *, whole: bool) -> Sequence[Match | None]:
        """Match texts as a whole, or find the first match in each."""


@dataclass(frozen=True, slots=True)
class _Linear:
    """RE2. ``ends``: the pattern may match before a final line terminator, which RE2 does not support."""

    compiled: Any
    slow: _Slow
    ends: bool

    def match(self, texts: Sequence[str], *, whole: bool) -> Sequence[Match | None]:
        return [self._one(text, whole) for text in texts]

    def _one(self, text: str, whole: bool) -> Match | None:
        if self.ends and not _LINE_ENDS.isdisjoint(text):
            return self.slow.match([text], whole=whole)[0]
        try:
            found = (self.compiled.fullmatch if whole else self.compiled.search)(text)
        except UnicodeEncodeError:  # half of a pair of surrogates
            return self.slow.match([text], whole=whole)[0]
        if found is None:
            return None
        spans = [found.span(group) for group in range(self.compiled.groups + 1)]
        return Match(text, spans, self.compiled.groupindex)


@dataclass(frozen=True, slots=True)
class _Slow:
    """Python's engine, in a process that may be killed."""

    translated: str
    names: Mapping[str, int]

    def match(self, texts: Sequence[str], *, whole: bool) -> Sequence[Match | None]:
        found = _answer(ask("match", self.translated, whole=whole, texts=list(texts)), self.translated)
        return [
            None if spans is None else Match(text, [(span[0], span[1]) for span in spans], self.names)
            for text, spans in zip(texts, found["spans"], strict=True)
        ]


@dataclass(frozen=True, slots=True)
class JavaPattern:
    """A compiled pattern. Every method raises IllegalArgumentError if matching takes too long."""

    pattern: str
    engine: _Engine

    def fullmatch(self, text: str) -> Match | None:
        """Match a text as a whole. Java: ``Matcher.matches``."""
        return self.engine.match([text], whole=True)[0]

    def search(self, text: str) -> Match | None:
        """Return the first match in a text. Java: ``Matcher.find``."""
        return self.engine.match([text], whole=False)[0]

    def matching(self, texts: Iterable[str]) -> list[str]:
        """Return those texts that match as a whole; all of them share one time limit."""
        asked = list(texts)
        found = self.engine.match(asked, whole=True)
        return [text for text, match in zip(asked, found, strict=True) if match is not None]


def compile_java(pattern: str) -> JavaPattern:
    """Return the compiled pattern. Raise IllegalArgumentError if Java rejects it, or if it is too large."""
    found = _compiled(pattern)
    if isinstance(found, str):
        raise IllegalArgumentError(found)
    return found


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> JavaPattern | str:
    """Return the compiled pattern or its error, both cached: finding the error may be slow."""
    try:
        return _compile(pattern)
    except IllegalArgumentError as error:
        return str(error)


def _compile(pattern: str) -> JavaPattern:
    translated = translate(pattern)
    options = re2.Options()
    options.log_errors, options.max_mem = False, _MEMORY
    try:
        compiled = re2.compile(_TOKEN.sub(_in_re2, translated), options)
    except (re2.error, UnicodeEncodeError):
        return JavaPattern(pattern, _slow(pattern, translated))
    ends = any(token[1] == "Z" for token in _TOKEN.finditer(translated))
    return JavaPattern(pattern, _Linear(compiled, _Slow(translated, compiled.groupindex), ends))


def _in_re2(token: re.Match[str]) -> str:
    return r"\z" if token[1] else token[0]


def _slow(pattern: str, translated: str) -> _Slow:
    described = _answer(ask("describe", translated), pattern)
    return _Slow(translated, described["names"])


def _answer(found: Mapping[str, Any], pattern: str) -> Mapping[str, Any]:
    if "error" in found:
        raise IllegalArgumentError(f"{found['error']} in regular expression {pattern}")
    return found


def refusal(pattern: str) -> tuple[str, int] | None:
    """Return Python's error for a pattern in its original form, and its position; ``None`` if it is valid."""
    found = ask("refuse", pattern)
    return (str(found["error"]), int(found["at"])) if "error" in found else None


def replace_first(pattern: JavaPattern, text: str, replacement: str) -> str:
    """Replace the first match; ``$1`` and ``${name}`` refer to groups, ``\\`` quotes.

    Raise IllegalArgumentError for a bad reference and for a result of more than
    65,536 characters, IndexOutOfBoundsError for an unknown group. Java: ``Matcher.replaceFirst``.
    """
    match = pattern.search(text)
    if match is None:
        return text
    start, end = match.spans[0]
    return text[:start] + _expand(match, replacement) + text[end:]


def _expand(match: Match, replacement: str) -> str:
    parts: list[str] = []
    at = size = 0
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
        size += len(parts[-1])
        if size > _LONGEST_RESULT:
            raise IllegalArgumentError(f"The replacement gives more than {_LONGEST_RESULT} characters: shorten it")
    return "".join(parts)


def _group(match: Match, replacement: str, at: int) -> tuple[str, int]:
    if at == len(replacement):
        raise IllegalArgumentError("Illegal group reference: group index is missing")
    if replacement[at] == "{":
        end = replacement.find("}", at)
        name = replacement[at + 1 : end] if end > 0 else ""
        if not re.fullmatch("[a-zA-Z][a-zA-Z0-9]*", name):
            raise IllegalArgumentError(f"Illegal group reference in {replacement}: a name in braces is needed")
        if name not in match.names:
            raise IllegalArgumentError(f"No group with name {{{name}}}")
        return match.group(match.names[name]), end + 1
    if replacement[at] not in "0123456789":
        raise IllegalArgumentError("Illegal group reference")
    number = int(replacement[at])
    at += 1
    if number > match.groups:
        raise IndexOutOfBoundsError(f"No group {number}")
    while replacement[at : at + 1] in tuple("0123456789") and number * 10 + int(replacement[at]) <= match.groups:
        number = number * 10 + int(replacement[at])
        at += 1
    return match.group(number), at

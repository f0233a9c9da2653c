"""Java properties files: the text format of worker and connector files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from connect_core.errors import ConfigError

__all__ = ["format_properties", "parse_properties", "read_properties"]

_BLANK = " \t\f"
_LINE_END = re.compile(r"\r\n|\r|\n")
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_UNICODE_DIGITS = re.compile(r"[0-9a-fA-F]{4}")


def read_properties(path: Path) -> dict[str, str]:
    """Read a properties file: UTF-8, else ISO-8859-1. Raise ConfigError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(f"Cannot read {path}: {reason}. Check the path and its permissions.") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("iso-8859-1")
    return parse_properties(text, f"{path}, ")


def parse_properties(text: str, place: str = "") -> dict[str, str]:
    """Return the keys and values of a properties text; the last of equal keys wins.

    Java: ``Properties.load``. Raise ConfigError, naming the line after ``place``, on a malformed ``\\u`` escape.
    """
    found: dict[str, str] = {}
    for number, line in _logical_lines(text):
        try:
            key, value = _split(line)
            found[_unescape(key)] = _unescape(value)
        except ConfigError as error:
            raise ConfigError(f"{place}line {number}: {error}") from error
    return found


def format_properties(properties: Mapping[str, str]) -> str:
    """Return a properties text that parses back to the same mapping."""
    lines = (f"{_escape(key, is_key=True)}={_escape(value, is_key=False)}\n" for key, value in properties.items())
    return "".join(lines)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Join continued lines, drop comments and blank lines → the number of the last line joined, and the text."""
    kept: str | None = None
    number = 0
    for number, line in enumerate(_LINE_END.split(text), 1):
        stripped = line.lstrip(_BLANK)
        if kept is None and (not stripped or stripped[0] in "#!"):
            continue
        logical = (kept or "") + stripped
        if _is_continued(stripped):
            # Java discards a continuation if the line so far is empty.
            kept = logical[:-1] or None
            continue
        yield number, logical
        kept = None
    if kept is not None:
        yield number, kept


def _is_continued(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str) -> tuple[str, str]:
    """Split at the first unescaped ``=``, ``:`` or blank."""
    end = 0
    while end < len(line) and line[end] not in "=:" + _BLANK:
        end += 2 if line[end] == "\\" else 1
    key, rest = line[:end], line[end:].lstrip(_BLANK)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANK)
    return key, rest


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    parts: list[str] = []
    at = 0
    while at < len(text):
        if text[at] != "\\":
            parts.append(text[at])
            at += 1
        elif text[at + 1 : at + 2] == "u":
            parts.append(_code_unit(text, at + 2))
            at += 6
        else:
            escaped = text[at + 1 : at + 2]
            parts.append(_ESCAPES.get(escaped, escaped))
            at += 2
    return _join_surrogates("".join(parts))


def _code_unit(text: str, at: int) -> str:
    digits = text[at : at + 4]
    if not _UNICODE_DIGITS.fullmatch(digits):
        # The text is not quoted: it may be a password.
        raise ConfigError(r"Malformed \uxxxx encoding. Write four hexadecimal digits after \u, and a backslash as \\.")
    return chr(int(digits, 16))


def _join_surrogates(text: str) -> str:
    """Turn pairs of UTF-16 code units, as ``\\ud83d\\ude00``, into characters."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _escape(text: str, *, is_key: bool) -> str:
    escaped = text.replace("\\", "\\\\")
    for letter, character in _ESCAPES.items():
        escaped = escaped.replace(character, f"\\{letter}")
    if is_key:
        return re.sub(r"([ =:#!])", r"\\\1", escaped)
    return f"\\{escaped}" if escaped.startswith(" ") else escaped

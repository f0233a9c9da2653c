"""Scalars as JSON text, in exactly the format that Connect writes."""

from __future__ import annotations

import re
from base64 import b64encode

from connect_core.java.text import float32_text, float64_text

__all__ = ["ESCAPED", "base64_text", "double_text", "float_text", "quoted"]

ESCAPED = re.compile(r'["\\\x00-\x1f\ud800-\udfff\U00010000-\U0010ffff]')
"""The characters that must be escaped in a JSON string."""

_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def quoted(text: str) -> str:
    """Return a JSON string; characters beyond the basic plane become two escapes."""
    if ESCAPED.search(text) is None:
        return f'"{text}"'
    return f'"{ESCAPED.sub(_escape, text)}"'


def double_text(value: float) -> str:
    """Return a double as ``Double.toString`` does; NaN and infinities in quotes."""
    if 1e-3 <= value < 1e7 or -1e7 < value <= -1e-3:
        return float.__repr__(value)
    return _unless_special(value, float64_text(value))


def float_text(value: float) -> str:
    """Return a float as ``Float.toString`` does; NaN and infinities in quotes."""
    return _unless_special(value, float32_text(value))


def base64_text(value: bytes | memoryview) -> str:
    """Return bytes as a JSON string of base64 without line feeds."""
    return f'"{b64encode(value).decode("ascii")}"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    short = _SHORT.get(character)
    if short is not None:
        return short
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04X}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04X}\\u{0xDC00 + (code & 0x3FF):04X}"


def _unless_special(value: float, text: str) -> str:
    return text if abs(value) < float("inf") else f'"{text}"'

"""Encodes names of topics and connectors as one safe path component."""

from __future__ import annotations

import hashlib

__all__ = ["escaped"]

_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_HIDDEN = frozenset("._")
_LONGEST = 150
_DIGITS = 32


def escaped(name: str) -> str:
    """Return a name with percent-encoding as in Hive, truncated and hashed if too long.

    Different names stay different; no result is hidden, relative or empty.
    """
    text = "".join(char if char in _SAFE else _percent(char) for char in name)
    if not text or text[0] in _HIDDEN:
        text = (_percent(name[0]) if name else "%") + text[1:]
    if len(text) > _LONGEST:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        text = f"{text[: _LONGEST - _DIGITS - 1]}+{digest[:_DIGITS]}"
    return text


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))

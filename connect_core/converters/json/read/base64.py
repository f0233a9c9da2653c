"""Base64 as parsed by Jackson: padding required, spaces between groups allowed."""

from __future__ import annotations

import binascii
import re

__all__ = ["decode_base64"]

_GROUPS = re.compile(
    r"(?:[\x00-\x20]*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==))*[\x00-\x20]*", re.ASCII
)
_SPACE = re.compile(r"[\x00-\x20]+")


def decode_base64(text: str) -> bytes:
    """Return the bytes; padded groups may be followed by more. Raise ValueError."""
    if _GROUPS.fullmatch(text) is None:
        raise ValueError("broken base64: groups of four characters of A-Z a-z 0-9 + / are needed, padded by '='")
    packed = _SPACE.sub("", text)
    if "=" not in packed[:-2]:
        return binascii.a2b_base64(packed)
    return b"".join(binascii.a2b_base64(packed[at : at + 4]) for at in range(0, len(packed), 4))

"""Names of folders in Hive's form: ``field=value``, percent-encoded where a path requires it."""

from __future__ import annotations

import hashlib
import re

__all__ = ["NO_VALUE", "component", "hive_folder", "shortened"]

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""Represents null and the empty text, as in Hive; the column distinguishes them."""

_ESCAPED = re.compile(r"[\x00-\x1f\x7f\"#%'*/:=?\\{\[\]^\ud800-\udfff]")
_LONGEST = 200
_DIGITS = 32


def hive_folder(name: str, value: str | None) -> str:
    """Return ``name=value``: one component of a path, visible to readers and at most 200 bytes long.

    A longer one is truncated and ends in a hash. Two short values never have the same folder.
    """
    return shortened(f"{_visible(_escape(name))}={_escape(value) if value else NO_VALUE}")


def component(text: str) -> str:
    """Return any text as one visible component of a path: safe characters are unchanged, including ``=``."""
    safe = _ESCAPED.sub(lambda found: "=" if found[0] == "=" else _percent(found[0]), text)
    return shortened(_visible(safe) or "%")


def shortened(text: str) -> str:
    """Return a component of a path with at most 200 bytes."""
    data = text.encode()
    if len(data) <= _LONGEST:
        return text
    kept = data[: _LONGEST - _DIGITS - 1].decode(errors="ignore")
    # Remove a percent sign that was cut in half.
    return f"{re.sub('%.?$', '', kept)}+{hashlib.sha256(data).hexdigest()[:_DIGITS]}"


def _escape(text: str) -> str:
    return _ESCAPED.sub(lambda found: _percent(found[0]), text)


def _visible(text: str) -> str:
    return _percent(text[0]) + text[1:] if text[:1] in ("_", ".") else text


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))

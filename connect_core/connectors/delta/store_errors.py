"""What delta-rs says of an object store, without what the store answered: that may be another server's secret."""

from __future__ import annotations

import re

__all__ = ["without_answers"]

_STORE = re.compile(r"Generic (S3|GCS|MicrosoftAzure|HTTP) error|Error performing")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"', re.DOTALL)
_STATUS = re.compile(r"(status code *: *\d+)(.*)", re.DOTALL)
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
_MOST = 1000


def without_answers(text: str) -> str:
    """Return a message of delta-rs in one line; of what a store answered only its status and code are left.

    delta-rs follows a store's redirects, wherever they lead.
    """
    plain = " ".join(_COLOURS.sub("", text).replace("\u21b3", ":").split())
    if not _STORE.search(plain):
        return plain
    return _STATUS.sub(_status, _QUOTED.sub('"…"', plain))[:_MOST]


def _status(found: re.Match[str]) -> str:
    code = _CODE.search(found[2])
    return f"{found[1]} {code[1]}" if code else found[1]

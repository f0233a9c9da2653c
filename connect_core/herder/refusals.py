"""Refused acts in the audit: who wanted what, and why it was refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from connect_core.errors import ConnectError
from connect_core.herder.context import Herder
from connect_core.store import audit
from connect_core.store.audit import Act

__all__ = ["record_refusal", "refusals"]

_LONGEST_ACTION = 32
_LONGEST_TEXT = 1000
"""Maximum length of a name, a path or a reason that the audit keeps of a refused act."""


@contextmanager
def refusals(herder: Herder, action: str, name: str) -> Iterator[None]:
    """Record in the audit an act that the block refuses, with the reason, in which secrets are hidden."""
    try:
        yield
    except ConnectError as error:
        record_refusal(herder, action, name, str(error))
        raise


def record_refusal(herder: Herder, action: str, connector: str | None, reason: str, path: str = "") -> None:
    """Record one refused act in the audit. Raise RetriableError."""
    after = {"refused": _storable(reason), **({"path": _storable(path)} if path else {})}
    name = None if connector is None else _storable(connector)
    with herder.database.write() as connection:
        audit.record(connection, Act(herder.actor, action[:_LONGEST_ACTION], name, None, after))


def _storable(text: str) -> str:
    """Return the beginning of a text that was sent, in a form that any database accepts."""
    return text[:_LONGEST_TEXT].encode("utf-8", "replace").decode().replace("\0", "?")

"""A connector as somebody wants it, wherever it was written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from connect_core.errors import ConfigError

__all__ = ["STATES", "Definition", "chosen", "unique"]

STATES = ("RUNNING", "PAUSED", "STOPPED")


@dataclass(frozen=True, slots=True)
class Definition:
    """One connector: its name, its configuration (without ``name``), and its state where one is wanted.

    ``is_state_kept``: the state holds for good, as in a Kubernetes resource; else it is that of a new connector only.
    ``place``: where it was read, for messages. ``notes``: what was written there and has no meaning here.
    """

    name: str
    config: Mapping[str, str]
    state: str | None = None
    is_state_kept: bool = False
    place: str = ""
    notes: tuple[str, ...] = field(default=())


def unique(found: Iterable[Definition]) -> list[Definition]:
    """Return the definitions sorted by name. Raise ConfigError where two places define one connector."""
    by_name: dict[str, Definition] = {}
    for one in found:
        other = by_name.setdefault(one.name, one)
        if other is not one:
            raise ConfigError("name", one.name, f"defined in {other.place} and in {one.place}: keep one of them")
    return [by_name[name] for name in sorted(by_name)]


def chosen(found: Iterable[Definition], pattern: str | None) -> list[Definition]:
    """Return those whose name matches a pattern of the shell (``orders-*``); all without one."""
    return [one for one in found if pattern is None or fnmatchcase(one.name, pattern)]

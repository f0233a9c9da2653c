"""The wanted definition of a connector, independent of where it was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from connect_core.errors import ConfigError

__all__ = ["STATES", "Definition", "chosen", "unique"]

STATES = ("RUNNING", "PAUSED", "STOPPED")


@dataclass(frozen=True, slots=True)
class Definition:
    """One connector: its name, its configuration (without ``name``), and its wanted state, if any.

    ``is_state_kept``: the state always applies, as in a Kubernetes resource; else only to a new connector.
    ``place``: where it was read, for messages. ``notes``: fields found there that have no meaning here.
    """

    name: str
    config: Mapping[str, str]
    state: str | None = None
    is_state_kept: bool = False
    place: str = ""
    notes: tuple[str, ...] = field(default=())


def unique(found: Iterable[Definition]) -> list[Definition]:
    """Return the definitions sorted by name. Raise ConfigError if two places define the same connector."""
    by_name: dict[str, Definition] = {}
    for one in found:
        other = by_name.setdefault(one.name, one)
        if other is not one:
            raise ConfigError("name", one.name, f"defined in {other.place} and in {one.place}: keep one of them")
    return [by_name[name] for name in sorted(by_name)]


def chosen(found: Iterable[Definition], pattern: str | None) -> list[Definition]:
    """Return the definitions whose names match a shell pattern (``orders-*``); all without one."""
    return [one for one in found if pattern is None or fnmatchcase(one.name, pattern)]

"""The wanted definition of a connector, independent of where it was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from connect_core.configs.files import ensure_text
from connect_core.configs.secrets import HIDDEN
from connect_core.errors import ConfigError
from connect_core.java.strings import trim

__all__ = ["STATES", "Definition", "chosen", "hidden_keys", "unique"]

STATES = ("RUNNING", "PAUSED", "STOPPED")
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Definition:
    """One connector: its name, its configuration (without ``name``), and its wanted state, if any.

    ``is_state_kept``: the state always applies, as in a Kubernetes resource; else only to a new connector.
    ``place``: where it was read, for messages. ``notes``: what was found there and is not taken over.
    """

    name: str
    config: Mapping[str, str]
    state: str | None = None
    is_state_kept: bool = False
    place: str = ""
    notes: tuple[str, ...] = field(default=())


def unique(found: Iterable[Definition]) -> list[Definition]:
    """Return the definitions sorted by name, which is trimmed as in Connect.

    Raise ConfigError if two places define the same connector, or for text that is not Unicode.
    """
    by_name: dict[str, Definition] = {}
    for given in found:
        one = replace(given, name=trim(given.name))
        ensure_text(one.place, (("name", one.name), *one.config.items()))
        other = by_name.setdefault(one.name, one)
        if other is not one:
            raise ConfigError("name", one.name, f"defined in {other.place} and in {one.place}: keep one of them")
    return [by_name[name] for name in sorted(by_name)]


def chosen(found: Iterable[Definition], pattern: str | None) -> list[Definition]:
    """Return the definitions whose names match a shell pattern (``orders-*``); all without one.

    Raise ConfigError if there are some, and none matches.
    """
    everything = list(found)
    matching = [one for one in everything if pattern is None or fnmatchcase(one.name, pattern)]
    if everything and not matching:
        names = ", ".join(sorted(one.name for one in everything)[:_SHOWN])
        raise ConfigError("--only", pattern, f"none of {len(everything)} connectors is named so; there are {names} …")
    return matching


def hidden_keys(one: Definition) -> list[str]:
    """Return the keys whose values are hidden: they must be filled in to use the definition elsewhere."""
    return [key for key, value in one.config.items() if value == HIDDEN]

"""What only some histories have: each trait is drawn for itself, by the seed of the history."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Any

from tests.simulator.history import KINDS

__all__ = ["APART", "PAIRS", "TRAITS", "Trait", "Traits", "are_apart", "drawn", "fields_of", "may_have"]

Traits = Mapping[str, Any]
"""What is special of a history's world: fields of ``History`` by name."""
_SINKS = ("database", "files", "plain")


@dataclass(frozen=True, slots=True)
class Trait:
    """A field of ``History``, the value that is special, and how many of the histories that may have it do."""

    probability: float
    field: str
    value: Any
    kinds: tuple[str, ...] = KINDS
    """The kinds of connectors that may have it."""


TRAITS: Mapping[str, Trait] = MappingProxyType(
    {
        "production SQL": Trait(1 / 24, "store", "compared"),
        "latest": Trait(1 / 4, "reset", "latest", _SINKS),
        "held back": Trait(1 / 4, "is_held_back", True, _SINKS),
        "moves": Trait(1 / 3, "has_moves", True, ("source", "files")),
        "lines": Trait(1 / 12, "target", "lines", ("files",)),
        "folder": Trait(1 / 12, "target", "folder", ("files",)),
        "backfills": Trait(1 / 3, "has_backfills", True, ("files",)),
    }
)
"""Name → the trait. Of traits that cannot meet the one that stands first here comes first, where both are drawn."""

APART: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("lines", "folder"): "files are written by one connector",
        ("lines", "backfills"): "FileStreamSink has one file, in which nothing is replaced: it refuses backfills",
    }
)
"""Pairs of traits that cannot meet, and why."""


def are_apart(one: str, other: str) -> bool:
    """Return whether two traits cannot meet, by ``APART``."""
    return (one, other) in APART or (other, one) in APART


def _pairs() -> Iterator[tuple[str, str, str]]:
    for kind in KINDS:
        names = [name for name, trait in TRAITS.items() if kind in trait.kinds]
        yield from ((kind, *pair) for pair in combinations(names, 2) if not are_apart(*pair))


PAIRS = tuple(_pairs())
"""Kinds of connectors, and two traits each that have to meet in some history of that kind."""


def may_have(name: str, kind: str, others: Collection[str]) -> bool:
    """Return whether a history of this kind that has other traits may have one more."""
    return kind in TRAITS[name].kinds and not any(are_apart(name, other) for other in others)


def drawn(seed: int, kind: str) -> tuple[str, ...]:
    """Return the traits of the history of a seed, as they stand in ``TRAITS``."""
    chance, found = random.Random(f"traits of {seed} {kind}"), list[str]()
    for name, trait in TRAITS.items():
        # Always drawn, so that no trait's chance depends on another's kinds.
        if chance.random() < trait.probability and may_have(name, kind, found):
            found.append(name)
    return tuple(found)


def fields_of(names: Collection[str]) -> Traits:
    """Return what makes a history have these traits. Raises ValueError for two that cannot meet."""
    for pair in combinations(names, 2):
        if are_apart(*pair):
            raise ValueError(f"{' and '.join(pair)} cannot meet: see APART")
    return {TRAITS[name].field: TRAITS[name].value for name in names}

"""Waiting for the effects of live changes, and measuring how long each took."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from connect_core.cli.moved_data import has_line, orders_in, parquet_files
from connect_core.cli.waiter import ConnectorWaiter

__all__ = ["Effect", "NewFiles", "await_effects", "line_arrives", "orders_arrive"]


@dataclass(frozen=True, slots=True)
class Effect:
    """An expected effect of a connector; ``is_there`` is polled until it returns true."""

    what: str
    connector: str
    is_there: Callable[[], bool]


def await_effects(waiter: ConnectorWaiter, effects: Sequence[Effect], seconds: float) -> list[float]:
    """Wait for all effects at once → the seconds each took, in the order given.

    Raise ConnectError if a connector fails, or an effect does not come within ``seconds``.
    """
    began = time.monotonic()
    took: dict[str, float] = {}

    def missing() -> list[str]:
        for effect in effects:
            if effect.what not in took and effect.is_there():
                took[effect.what] = time.monotonic() - began
        return [effect.connector for effect in effects if effect.what not in took]

    waiter.wait(", ".join(effect.what for effect in effects), missing, seconds)
    return [took[effect.what] for effect in effects]


@dataclass(slots=True)
class NewFiles:
    """The files an export adds to a topic's folder, each returned once."""

    folder: Path
    topic: str
    seen: set[Path] = field(init=False)

    def __post_init__(self) -> None:
        self.seen = set(parquet_files(self.folder, self.topic))

    def take(self) -> list[Path]:
        """Return the files added since the last call."""
        fresh = [file for file in parquet_files(self.folder, self.topic) if file not in self.seen]
        self.seen.update(fresh)
        return fresh


def line_arrives(files: NewFiles, text: str) -> Callable[[], bool]:
    """Return a predicate: whether a file added since its last call has a line with this text."""
    return lambda: has_line(files.take(), text)


def orders_arrive(files: NewFiles, amounts: Mapping[int, Decimal]) -> Callable[[], bool]:
    """Return a predicate: whether the new files so far contain all orders with these amounts."""
    missing = set(amounts.items())

    def is_there() -> bool:
        missing.difference_update(orders_in(files.take()))
        return not missing

    return is_there

"""Decides which intervals of a connector are committed: a state that only one driver at a time can change.

A decision on an interval is a file that the state names; each decision names the previous one.
"""

from __future__ import annotations

import json
import random
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any, Protocol

from connect_core.api.sink import IntervalKey
from connect_core.errors import ConnectError, RetriableError, StaleEpochError

__all__ = ["ConflictError", "Decisions", "State", "StateStore", "Stored", "check_epoch", "plain_name", "until_first"]

_TRIES = 50
_LONGEST_PAUSE = 1.0
_PLAIN = re.compile(r"[a-z0-9_]{1,64}\Z")


class ConflictError(Exception):
    """Another writer has changed the state since it was read; nothing was done."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The content of a store. ``version``: a change is conditional on it."""

    identity: str
    """Changes when the store is removed and created again."""
    text: str | None
    version: Any


class StateStore(Protocol):
    """A place in the target for one text, and for files next to it that are written once."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    def read(self) -> Stored | None:
        """Return its content, ``None`` before ``create``."""

    def create(self) -> None:
        """Create the store, if it is absent."""

    def replace(self, stored: Stored, text: str, summary: Mapping[str, str]) -> None:
        """Replace what was read. Raises ConflictError, exactly if another writer was first."""

    def write(self, name: str, content: bytes) -> str:
        """Write a new file → its path."""

    def load(self, place: str) -> bytes:
        """Return a file's content."""

    def remove(self, place: str) -> None:
        """Remove a file, if possible."""


@dataclass(frozen=True, slots=True)
class State:
    """Who may write, and the last decision. ``decision``: the file that contains it."""

    owner: tuple[str, str] | None = None
    """Deployment and connector."""
    epoch: int = 0
    incarnation: int = 0
    sequence: int = 0
    decision: str = ""

    @property
    def last(self) -> tuple[int, int] | None:
        """The newest decided interval."""
        return (self.incarnation, self.sequence) if self.decision else None

    @classmethod
    def of(cls, text: str | None) -> State:
        """Parse a state."""
        if text is None:
            return cls()
        found = json.loads(text)
        owner = found.pop("owner")
        return cls(tuple(owner) if owner else None, **found)


@dataclass(slots=True)
class Decisions:
    """One connector's decisions in a store."""

    store: StateStore

    def ensure(self) -> None:
        """Create the store, if it is absent."""
        if self.store.read() is None:
            self.store.create()

    def state(self) -> State | None:
        """Return the state, ``None`` without a store."""
        stored = self.store.read()
        return None if stored is None else State.of(stored.text)

    def change(self, change: Callable[[State], State | None]) -> None:
        """Replace the current state by the result of ``change``; ``None``: leave it.

        ``change`` is called again if another writer was first.
        """
        until_first(self.store.name, lambda: self._replace(lambda _, state: change(state)))

    def decide(self, interval: IntervalKey, content: Mapping[str, Any]) -> dict[str, Any]:
        """Make the decision on an interval unless there is one → the valid decision. Raises StaleEpochError."""
        found: dict[str, Any] = {}
        written: list[str] = []

        def change(stored: Stored, state: State) -> State | None:
            check_epoch(state, interval.epoch)
            place = interval.incarnation, interval.sequence
            existing = self._find(state, place)
            if existing is not None:
                found.update(existing)
                return None
            if state.last is not None and state.last > place:
                raise StaleEpochError(f"interval {state.last} is decided already: {place} comes too late")
            decision = {**_head(interval), **content, "control": stored.identity, "previous": state.decision}
            written.append(self._write(interval, decision))
            found.update(decision)
            return replace(state, incarnation=place[0], sequence=place[1], decision=written[-1])

        try:
            until_first(self.store.name, lambda: self._replace(change))
        except StaleEpochError:
            self._discard(written)
            raise
        self._discard([place for place in written if found["file"] not in place])
        return found

    def decision(self, interval: IntervalKey) -> dict[str, Any] | None:
        """Return the decision on an interval, ``None`` if there is none."""
        state = self.state()
        return None if state is None else self._find(state, (interval.incarnation, interval.sequence))

    def all(self) -> Iterator[dict[str, Any]]:
        """Return all decisions, the newest first."""
        state = self.state()
        yield from () if state is None else self._chain(state.decision)

    def _replace(self, change: Callable[[Stored, State], State | None]) -> None:
        stored = self.store.read()
        if stored is None:
            raise ConnectError(f"{self.store.name} is gone while the connector runs; restart it")
        state = State.of(stored.text)
        wanted = change(stored, state)
        if wanted is None or wanted == state:
            return
        summary = {"connect-core.epoch": str(wanted.epoch), "connect-core.sequence": str(wanted.sequence)}
        self.store.replace(stored, json.dumps(asdict(wanted), separators=(",", ":")), summary)

    def _write(self, interval: IntervalKey, decision: dict[str, Any]) -> str:
        decision["file"] = f"{interval.incarnation}-{interval.sequence:010d}-{secrets.token_hex(8)}.json"
        text = json.dumps(decision, ensure_ascii=False, separators=(",", ":"))
        return self.store.write(decision["file"], text.encode())

    def _discard(self, places: list[str]) -> None:
        for place in places:
            self.store.remove(place)

    def _find(self, state: State, wanted: tuple[int, int]) -> dict[str, Any] | None:
        if state.last is None or state.last < wanted:
            return None
        for decision in self._chain(state.decision):
            place = decision["incarnation"], decision["sequence"]
            if place <= wanted:
                return decision if place == wanted else None
        return None

    def _chain(self, place: str) -> Iterator[dict[str, Any]]:
        while place:
            decision = json.loads(self.store.load(place))
            yield decision
            place = decision["previous"]


def until_first(what: str, attempt: Callable[[], None]) -> None:
    """Retry until no other writer was first. Raises RetriableError after many tries."""
    for number in range(_TRIES):
        try:
            attempt()
            return
        except ConflictError:
            time.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.02 * 2**number)))
    raise RetriableError(f"{what} was changed by others {_TRIES} times meanwhile")


def check_epoch(state: State, epoch: int) -> None:
    """Raise StaleEpochError if the state has a newer epoch."""
    if state.epoch > epoch:
        error = StaleEpochError(f"epoch {state.epoch} stands in the control table: the driver with {epoch} must stop")
        error.epoch = state.epoch
        raise error


def plain_name(name: str) -> str:
    """Return a name that every catalog and file system accepts; different names stay different."""
    if _PLAIN.match(name):
        return name
    plain = re.sub(r"[^a-z0-9_]+", "_", name.lower())[:64]
    return f"{plain}__{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _head(interval: IntervalKey) -> dict[str, Any]:
    return {
        "connector": interval.connector,
        "incarnation": interval.incarnation,
        "sequence": interval.sequence,
        "epoch": interval.epoch,
    }

"""What happens around a connector: records arrive and are retained, transactions stay open, messages come late."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from connect_core.api.records import TopicPartition
from connect_core.errors import ConnectError

if TYPE_CHECKING:
    from tests.simulator.history import History

__all__ = ["PARTS", "Surroundings"]

PARTS = (TopicPartition("t", 0), TopicPartition("t", 1))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings of one history."""

    history: History

    def disturbances(self, delayed: Sequence[Any]) -> tuple[str, ...]:
        """Return what could happen around and would change anything. ``delayed``: acts on their way."""
        found: tuple[str, ...] = ("foreign", "retain", "recreate")
        if self.history.kind == "source":
            found = (
                *(("expire",) if self.history.broker.open else ()),
                *(("compact",) if self.history.broker.is_loose else ()),
            )
        found = (*found, *self.history.disasters.possible())
        return (*found, "arrive late") if delayed or self.history.broker.late else found

    def is_pending(self, point: str) -> bool:
        """Whether a transaction is open where none should be, or the end of one is on its way."""
        return bool(self.history.broker.late) or (bool(self.history.broker.open) and point not in ("K5", "K6"))

    def disturb(self, what: str, delayed: list[Callable[[], Any]]) -> None:
        """Let it happen."""
        acts = {
            "arrive late": lambda: self._arrive_late(delayed),
            "expire": self.history.broker.expire,
            "compact": self.history.broker.compact,
            "foreign": self.open_foreign,
            "retain": self.retain,
            "recreate": self.recreate,
            **self.history.disasters.acts(),
        }
        acts[what]()

    def _arrive_late(self, delayed: list[Callable[[], Any]]) -> None:
        if delayed:
            # Whoever sent it has given up waiting, also for a refusal.
            with suppress(ConnectError):
                delayed.pop(0)()
        elif self.history.broker.late:
            self.history.broker.arrive()

    def calm(self, delayed: list[Callable[[], Any]]) -> None:
        """Let all that is on its way arrive, and open transactions end."""
        while delayed or self.history.broker.late:
            self._arrive_late(delayed)
        self.history.broker.expire()
        self.close_foreign()

    def note_ends(self) -> None:
        """With ``latest`` reading begins where a topic ended when it was first looked at."""
        for part in self.history.parts if self.history.reset == "latest" else ():
            self.history.truth.first[part].add(self.history.stable[part])

    def arrive(self) -> None:
        for place in self.history.available:
            self.history.available[place] += 1
        for part in self.history.parts:
            # Behind an open transaction nothing becomes stable.
            if self.history.stable[part] == self.history.available[part] - 1:
                self.history.stable[part] += 1
        self.note_ends()

    def open_foreign(self) -> None:
        """Let a foreign transaction hold back the last stable offset."""
        for part in self.history.parts:
            self.history.available[part] += 1

    def close_foreign(self) -> None:
        for part in self.history.parts:
            self.history.stable[part] = self.history.available[part]
        self.note_ends()

    def retain(self) -> None:
        """Remove the oldest records, read or not."""
        for part in PARTS:
            self.history.earliest[part] = min(self.history.earliest[part] + 2, self.history.stable[part])
            self.history.truth.first[part].add(self.history.earliest[part])

    def recreate(self) -> None:
        """Delete the topic that is read and create it again."""
        self.history.topic_id += 1
        for part in PARTS:
            self.history.earliest[part], self.history.available[part], self.history.stable[part] = 0, 1, 1
        self.note_ends()

"""The strips of connectors' last intervals, kept between requests: a final interval never changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from weakref import WeakKeyDictionary

from sqlalchemy import Connection

from connect_core.interval.values import IntervalState
from connect_core.store import interval_history
from connect_core.store.database import Database
from connect_core.store.interval_history import IntervalMark
from connect_core.store.statuses import ConnectorFacts

__all__ = ["Strips", "strips_of"]

_FINAL = (IntervalState.COMMITTED, IntervalState.ABANDONED)
_Seen = tuple[int, IntervalState, datetime | None]


@dataclass(slots=True)
class Strips:
    """Strips of one length, by connector, with the last interval that each was read with."""

    length: int
    _kept: dict[str, tuple[_Seen, Sequence[IntervalMark]]] = field(default_factory=dict)

    def load(self, connection: Connection, facts: Collection[ConnectorFacts]) -> Mapping[str, Sequence[IntervalMark]]:
        """Return the last intervals of connectors, the oldest first; only those that may have changed are read."""
        kept, seen = self._kept, {one.name: _seen(one) for one in facts}
        same = {name for name, last in seen.items() if last is not None and name in kept and kept[name][0] == last}
        changed = [name for name in seen if name not in same]
        found = interval_history.list_marks(connection, self.length, changed) if changed else {}
        strips = {name: kept[name][1] if name in same else found.get(name, ()) for name in seen}
        self._kept = {name: (last, strips[name]) for name, last in seen.items() if last is not None}
        return strips


def _seen(facts: ConnectorFacts) -> _Seen | None:
    """Return what tells whether a strip is as it was; ``None`` while its last interval may change."""
    last = facts.interval
    return None if last is None or last.state not in _FINAL else (last.sequence, last.state, facts.committed_at)


_OF_DATABASES: WeakKeyDictionary[Database, dict[int, Strips]] = WeakKeyDictionary()


def strips_of(database: Database, length: int) -> Strips:
    """Return what this process keeps of a database's strips of so many intervals."""
    return _OF_DATABASES.setdefault(database, {}).setdefault(length, Strips(length))

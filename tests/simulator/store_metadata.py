"""The metadata database by the production store, on SQLite in memory, recreated by each history."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, StaticPool, create_engine, event, func, select, update
from sqlalchemy.engine import make_url

from connect_core.effects.store import StoreEffects
from connect_core.errors import AlreadyExistsError, NotFoundError
from connect_core.herder.readiness import Readiness, readiness
from connect_core.interval import effects as fx
from connect_core.interval.values import ConnectorState, ConnectorType, IntervalRow, IntervalState, TargetState
from connect_core.store import Database, connectors, intents, intervals, offsets, restarts
from connect_core.store import database as databases
from connect_core.store.models import METADATA, Connector, Interval
from connect_core.store.rows import connector_state
from connect_core.store.statuses import load_facts
from tests.simulator.metadata import NAME

__all__ = ["READS", "MemoryDatabase", "StoreMetadata"]

_FINAL = (IntervalState.COMMITTED, IntervalState.ABANDONED)
READS = (
    *(fx.LoadConnector, fx.LoadUnfinished, fx.LoadResults, fx.LoadOffsets, fx.LoadOffsetStates),
    *(fx.LoadConfig, fx.LoadTimeBefore),
)
"""Effects that change no row."""
_OWN_ROW = select(Connector.__table__).where(Connector.name == NAME)
_OPEN_ROWS = select(func.count()).where(Interval.connector == NAME, Interval.state.not_in(_FINAL))


class MemoryDatabase(Database):
    """The production ``Database`` over one connection to SQLite in memory, whose whole content can be put back."""

    def __init__(self) -> None:
        self._url = make_url("sqlite://")
        self._engine = create_engine(self._url, poolclass=StaticPool, connect_args={"check_same_thread": False})
        event.listen(self._engine, "connect", databases._prepare_sqlite)
        event.listen(self._engine, "begin", databases._begin_sqlite)
        METADATA.create_all(self._engine)
        raw = self._engine.raw_connection()
        self._raw: Any = raw.driver_connection
        self.empty = self.content()
        self._pool_holds = raw

    def content(self) -> bytes:
        """Return all there is, as a backup has it."""
        return bytes(self._raw.serialize())

    def restore(self, content: bytes) -> None:
        """Put a backup in the place of all there is."""
        self._raw.deserialize(content)


@cache
def _shared(process: int) -> MemoryDatabase:
    return MemoryDatabase()


class StoreMetadata:
    """What ``Metadata`` is, by the production SQL. ``is_live`` says whether a lease's holder still renews it."""

    def __init__(self, kind: ConnectorType, is_live: Callable[[str], bool]) -> None:
        self.type, self.is_live = kind, is_live
        self.database = _shared(os.getpid())
        self.database.restore(self.database.empty)
        self._known: Any = None
        self._reading: Connection | None = None
        self._config: Mapping[str, str] = {"name": NAME}
        self.create()

    def handlers(self) -> dict[type[fx.Effect[Any]], Callable[[Any], Any]]:
        """Return what performs each effect: the production store, watched."""
        self._store = StoreEffects(self.database).handlers()
        table = {kind: (one if kind in READS else self._writing(one)) for kind, one in self._store.items()}
        return {**table, fx.TakeLease: self._take}

    @contextmanager
    def one_transaction(self) -> Iterator[None]:
        """Let all that is looked at meanwhile be read in one transaction."""
        with self.database.read() as self._reading:
            try:
                yield
            finally:
                self._reading = None

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        if self._reading is not None:
            yield self._reading
        else:
            with self.database.read() as connection:
                yield connection

    # -- what stands there

    @property
    def row(self) -> Any:
        """The connector's row, deleted or not."""
        if self._known is None:
            with self._read() as connection:
                self._known = connection.execute(_OWN_ROW).one()
        return self._known

    @property
    def state(self) -> ConnectorState:
        return connector_state(self.row, None)

    @property
    def holder(self) -> str | None:
        holder: str | None = self.row.holder
        return holder

    @property
    def deleted(self) -> bool:
        return self.row.deleted_at is not None

    @property
    def offsets(self) -> Mapping[str, Mapping[str, Any]]:
        with self._read() as connection:
            return offsets.load(connection, NAME, self.type)

    @property
    def states(self) -> Mapping[str, Mapping[str, str]]:
        with self._read() as connection:
            return offsets.load_states(connection, NAME)

    @property
    def open_intervals(self) -> int:
        """How many intervals are not final, of whatever life."""
        with self._read() as connection:
            return connection.execute(_OPEN_ROWS).scalar_one()

    @property
    def planned_version(self) -> int | None:
        version: int | None = self.row.planned_version
        return version

    @property
    def restarts(self) -> frozenset[int]:
        with self._read() as connection:
            return restarts.asked(connection, NAME)

    @property
    def is_held(self) -> bool:
        with self._read() as connection:
            facts = load_facts(connection, [NAME])
        is_started = bool(facts) and facts[0].target_state is TargetState.STARTED
        return is_started and readiness(facts[0], datetime.now(UTC)) is Readiness.HELD

    def content(self) -> bytes:
        return self.database.content()

    def restore(self, content: bytes | None) -> None:
        self._known = None
        self.database.restore(self.database.empty if content is None else content)
        if content is None:
            self._config = {"name": NAME}
            self.create()

    def unfinished(self) -> IntervalRow | None:
        with self._read() as connection:
            return intervals.load_unfinished(connection, NAME)

    # -- what operators do

    def set_target_state(self, target: TargetState) -> None:
        with suppress(NotFoundError), self._changing() as connection:
            connectors.set_target_state(connection, NAME, target)

    def configure(self, config: Mapping[str, str]) -> None:
        self._config = config
        with suppress(NotFoundError), self._changing() as connection:
            connectors.replace_config(connection, connectors.get(connection, NAME), self._new_config())

    def delete(self, forget: bool) -> None:
        with self._changing() as connection:
            connectors.delete(connection, NAME, forget_offsets=forget)

    def create(self) -> None:
        with suppress(AlreadyExistsError), self._changing() as connection:
            connectors.create(connection, NAME, self._new_config(), TargetState.STARTED)

    def ask_restart(self, task: int) -> None:
        with suppress(NotFoundError), self._changing() as connection:
            connectors.lock(connection, NAME)
            restarts.ask(connection, NAME, [task])

    def end_unasked(self) -> None:
        with self._changing() as connection:
            epoch = intents.store(connection, fx.StoreIntent(NAME, {}))
        with self._changing() as connection:
            intents.finish_unasked(connection, fx.FinishIntent(NAME, epoch, {}))

    def _new_config(self) -> connectors.NewConfig:
        return connectors.NewConfig(self.type, dict(self._config))

    def _changing(self) -> Any:
        self._known = None
        return self.database.write()

    # -- effects

    def _writing(self, handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def perform(effect: Any) -> Any:
            self._known = None
            return handler(effect)

        return perform

    def _take(self, effect: fx.TakeLease) -> ConnectorState | None:
        if self.row.holder not in (None, effect.holder) and not self.is_live(self.row.holder):
            # Nobody renews it: its time runs out.
            with self._changing() as connection:
                connection.execute(update(Connector).where(Connector.name == NAME).values(lease_until=None))
        self._known = None
        state: ConnectorState | None = self._store[fx.TakeLease](effect)
        return state

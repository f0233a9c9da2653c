"""The lease and the epoch of a connector, by the database's clock (plan/README.md#words)."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, case, func, or_, select, update

from connect_core.errors import LeaseLostError, StaleEpochError
from connect_core.interval.effects import RaiseEpoch, RaiseIncarnation, ReleaseLease, TakeLease
from connect_core.interval.values import ConnectorState, TargetState
from connect_core.store import connectors
from connect_core.store.clock import later, now
from connect_core.store.models import Connector, DagState, Restart

__all__ = ["Signals", "raise_epoch", "raise_incarnation", "read_signals", "release", "release_runs", "renew", "take"]


@dataclass(frozen=True, slots=True)
class Signals:
    """The state of a connector that its running driver must follow.

    ``is_gone``: deleted. If ``incarnation`` has changed, it was recreated.
    """

    epoch: int
    incarnation: int
    target_state: TargetState
    config_version: int
    holder: str | None
    is_gone: bool
    is_dag_paused: bool
    is_restart_asked: bool


def take(connection: Connection, effect: TakeLease) -> ConnectorState | None:
    """Take or renew the connector's lease → its state; ``None`` while another run's lease is valid.

    ``holder``: the run's id, a space, and a part that distinguishes its processes. A later
    try of the same run need not wait for the lease of a dead one, which is
    fenced by the epoch. Raises NotFoundError.
    """
    name, holder = effect.connector, effect.holder
    run = holder.partition(" ")[0]
    # "standalone" is not the id of a run, so it does not make two processes the same holder.
    mine = holder if run == "standalone" else f"{run} "
    free = or_(
        Connector.holder.is_(None),
        Connector.holder == holder,
        func.substr(Connector.holder, 1, len(mine)) == mine,
        Connector.lease_until.is_(None),
        Connector.lease_until < now(),
    )
    taken = connection.execute(
        update(Connector)
        .where(Connector.name == name, Connector.deleted_at.is_(None), free)
        .values(holder=holder, lease_until=later(effect.seconds))
    )
    state = connectors.get(connection, name)
    return state if taken.rowcount else None


def renew(connection: Connection, name: str, holder: str, seconds: float) -> bool:
    """Extend the lease → false once another holder has taken it."""
    mine = update(Connector).where(Connector.name == name, Connector.holder == holder)
    return connection.execute(mine.values(lease_until=later(seconds))).rowcount > 0


def release(connection: Connection, effect: ReleaseLease) -> None:
    """Release the lease if ``holder`` still has it; the time of its end is kept."""
    mine = update(Connector).where(Connector.name == effect.connector, Connector.holder == effect.holder)
    connection.execute(mine.values(holder=None, lease_until=later(0.0)))


def release_runs(connection: Connection, prefix: str) -> None:
    """Release the leases of all holders whose run id has this prefix: none of these runs is alive any more."""
    dead = func.substr(Connector.holder, 1, len(prefix)) == prefix
    connection.execute(update(Connector).where(dead).values(holder=None, lease_until=later(0.0)))


def raise_epoch(connection: Connection, effect: RaiseEpoch) -> int:
    """Raise the epoch above itself and ``floor`` if ``holder`` has the lease and the connector is STARTED.

    ``is_settling``: if it is not STARTED, to end unfinished work. Raises LeaseLostError or StaleEpochError.
    """
    name, holder = effect.connector, effect.holder
    higher = case((Connector.epoch < effect.floor, effect.floor), else_=Connector.epoch) + 1
    raised = connection.execute(
        update(Connector)
        .where(Connector.name == name, Connector.holder == holder, Connector.deleted_at.is_(None))
        .where((Connector.target_state == TargetState.STARTED) != effect.is_settling)
        .values(epoch=higher)
        .returning(Connector.epoch)
    ).scalar_one_or_none()
    if raised is None:
        raise _refused(connection, name, holder)
    return raised


def raise_incarnation(connection: Connection, effect: RaiseIncarnation) -> int:
    """Raise the incarnation above itself and ``floor`` if ``epoch`` is the connector's. Raises StaleEpochError."""
    row = connectors.own(connection, effect.connector, effect.epoch)
    incarnation: int = max(row.incarnation, effect.floor) + 1
    connection.execute(update(Connector).where(Connector.name == effect.connector).values(incarnation=incarnation))
    return incarnation


def _refused(connection: Connection, name: str, holder: str) -> StaleEpochError:
    row = connection.execute(
        select(Connector.holder, Connector.target_state, Connector.deleted_at).where(Connector.name == name)
    ).one_or_none()
    if row is None or row.deleted_at is not None:
        return StaleEpochError(f"Connector {name} was deleted: this run stops")
    if row.holder != holder:
        return LeaseLostError(f"Connector {name} is held by {row.holder}, no longer by {holder}: this run stops")
    return StaleEpochError(f"Connector {name} is {row.target_state.value}: this run stops")


def read_signals(connection: Connection, name: str) -> Signals | None:
    """Return a driver's signals, by one statement; ``None`` for an unknown name."""
    restart = select(Restart.task).where(Restart.connector == Connector.name).exists()
    row = connection.execute(
        select(
            Connector.epoch,
            Connector.incarnation,
            Connector.target_state,
            Connector.config_version,
            Connector.holder,
            Connector.deleted_at,
            DagState.is_paused,
            restart.label("is_restart_asked"),
        )
        .join(DagState, DagState.connector == Connector.name, isouter=True)
        .where(Connector.name == name)
    ).one_or_none()
    if row is None:
        return None
    return Signals(
        epoch=row.epoch,
        incarnation=row.incarnation,
        target_state=row.target_state,
        config_version=row.config_version,
        holder=row.holder,
        is_gone=row.deleted_at is not None,
        is_dag_paused=bool(row.is_paused),
        is_restart_asked=row.is_restart_asked,
    )

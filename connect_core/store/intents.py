"""Altered and reset offsets: the intent is stored first, SQL follows the target last (design §3)."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from connect_core.errors import IllegalWorkerStateError
from connect_core.interval.values import TargetState
from connect_core.store import connectors, intervals, offsets
from connect_core.store.clock import now
from connect_core.store.models import Connector, Intent

__all__ = ["Wish", "finish", "pending", "store"]


@dataclass(frozen=True, slots=True)
class Wish:
    """Offsets an operator wants; ``None``: all of them reset."""

    wanted: offsets.Changes | None
    actor: str = ""


def store(connection: Connection, connector: str, wish: Wish, floor: int = 0) -> int:
    """Raise the epoch above ``floor``, keep the wish and return the epoch.

    Raises NotFoundError, and IllegalWorkerStateError where the connector is not STOPPED.
    """
    row = connectors.lock(connection, connector)
    if row.target_state is not TargetState.STOPPED:
        raise IllegalWorkerStateError(
            "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the "
            f"specified connector by issuing a 'PUT' request to the '/connectors/{connector}/stop' endpoint"
        )
    epoch: int = max(row.epoch, floor) + 1
    connection.execute(update(Connector).where(Connector.name == connector).values(epoch=epoch))
    connection.execute(delete(Intent).where(Intent.connector == connector))
    wanted = None if wish.wanted is None else dict(wish.wanted)
    values = {"connector": connector, "epoch": epoch, "wanted": wanted, "actor": wish.actor, "asked_at": now()}
    connection.execute(insert(Intent).values(**values))
    return epoch


def pending(connection: Connection, connector: str) -> Wish | None:
    """Return a wish that was stored and not finished: its target may or may not have moved."""
    row = connection.execute(select(Intent.wanted, Intent.actor).where(Intent.connector == connector)).one_or_none()
    return None if row is None else Wish(row.wanted, row.actor)


def finish(connection: Connection, connector: str, epoch: int, moved: offsets.Changes) -> None:
    """Let SQL follow the target: move offsets, abandon what is unfinished, forget the intent.

    Raises StaleEpochError if the epoch was overtaken: the next plan repairs SQL.
    """
    owner = connectors.own(connection, connector, epoch)
    intent = connection.execute(
        delete(Intent)
        .where(Intent.connector == connector, Intent.epoch == epoch)
        .returning(Intent.wanted, Intent.actor)
    ).one_or_none()
    is_reset = intent is None or intent.wanted is None
    actor = None if intent is None else intent.actor
    reason = offsets.Move(connector, owner.type, "reset" if is_reset else "alter", epoch, owner.sequence, actor)
    intervals.end_unfinished(connection, owner, "offsets were altered or reset", moved)
    offsets.move(connection, reason, moved)
    # The next plan reads the whole offsets topic: also where it was recreated, and ends before what was read.
    connection.execute(update(Connector).where(Connector.name == connector).values(offsets_position=None))

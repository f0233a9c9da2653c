"""Altered and reset offsets: the intent is stored first, SQL is updated last (plan/README.md#abandoning)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, insert, update

from connect_core.errors import IllegalWorkerStateError
from connect_core.interval.effects import FinishIntent, StoreIntent
from connect_core.interval.sink_positions import sink_positions
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import connectors, intervals, offsets
from connect_core.store.clock import now
from connect_core.store.models import Connector, Intent
from connect_core.store.rows import from_start, position_json

__all__ = ["finish", "finish_unasked", "store"]


def store(connection: Connection, effect: StoreIntent) -> int:
    """Raise the epoch above ``floor``, store the wanted offsets and return the epoch.

    ``position``: the offsets topic they are written to. A connector that follows none yet follows it from now on,
    so that after a reconfiguration it is still known where offsets may be. Raises NotFoundError, and
    IllegalWorkerStateError if the connector is not STOPPED.
    """
    connector = effect.connector
    row = connectors.lock(connection, connector)
    if row.target_state is not TargetState.STOPPED:
        raise IllegalWorkerStateError(
            "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the "
            f"specified connector by issuing a 'PUT' request to the '/connectors/{connector}/stop' endpoint"
        )
    epoch: int = max(row.epoch, effect.floor) + 1
    values: dict[str, Any] = {"epoch": epoch}
    if effect.wanted is None:
        # A reset counts as work done, as a first plan adopts the offsets of a consumer group, which may still exist.
        values["sequence"] = max(row.sequence, 1)
    if effect.position is not None and row.offsets_position is None:
        values["offsets_position"] = position_json(effect.position)
    connection.execute(update(Connector).where(Connector.name == connector).values(**values))
    connection.execute(delete(Intent).where(Intent.connector == connector))
    wanted = None if effect.wanted is None else dict(effect.wanted)
    intent = {"connector": connector, "epoch": epoch, "wanted": wanted, "actor": effect.actor, "asked_at": now()}
    connection.execute(insert(Intent).values(**intent))
    return epoch


def finish(connection: Connection, effect: FinishIntent) -> None:
    """Update SQL after the target: move offsets, abandon unfinished work, delete the intent.

    ``position``: for a source, the offsets topic that now contains the offsets.
    Raises StaleEpochError if the epoch was overtaken: the next plan repairs SQL.
    """
    owner = connectors.own(connection, effect.connector, effect.epoch)
    intent = _take(connection, effect.connector, effect.epoch)
    # Otherwise it was finished before, and the result was lost.
    if intent is not None:
        intervals.end_unfinished(connection, owner, effect.reason, effect.offsets)
        _follow(connection, owner, intent, effect.offsets, position_json(effect.position))


def finish_unasked(connection: Connection, effect: FinishIntent) -> None:
    """Move offsets in SQL without asking the target. Raises StaleEpochError if the epoch was overtaken.

    A sink's unfinished interval may be committed in the target: unless all offsets are reset it stays, for the next
    plan to find out.
    """
    owner = connectors.own(connection, effect.connector, effect.epoch)
    intent = _take(connection, effect.connector, effect.epoch)
    if intent is None:
        return
    if intent.wanted is None or owner.type is ConnectorType.SOURCE:
        intervals.end_unfinished(connection, owner, effect.reason, effect.offsets)
    _follow(connection, owner, intent, effect.offsets, from_start(owner.offsets_position))


def _take(connection: Connection, connector: str, epoch: int) -> Any:
    mine = (Intent.connector == connector) & (Intent.epoch == epoch)
    return connection.execute(delete(Intent).where(mine).returning(Intent.wanted, Intent.actor)).one_or_none()


def _follow(
    connection: Connection, owner: Any, intent: Any, moved: offsets.Changes, position: dict[str, Any] | None
) -> None:
    cause = "reset" if intent.wanted is None else "alter"
    reason = offsets.Move(owner.name, owner.type, cause, owner.epoch, owner.sequence, intent.actor)
    known = offsets.load(connection, owner.name, owner.type)
    offsets.move(connection, reason, moved)
    # The next plan reads the whole offsets topic that contains these offsets, even if it lost records.
    values = {
        "offsets_position": position,
        "topic_ids": _untouched(owner, known, moved if intent.wanted is None else intent.wanted),
    }
    connection.execute(update(Connector).where(Connector.name == owner.name).values(**values))


def _untouched(owner: Any, known: Mapping[str, Any], moved: offsets.Changes) -> dict[str, str]:
    """Return the known ids of topics not moved entirely: a moved one is accepted as it is now, recreated or not."""
    if owner.type is ConnectorType.SOURCE:
        return {}
    if not moved:
        return dict(owner.topic_ids)
    kept = {part.topic for part in sink_positions({key: one for key, one in known.items() if key not in moved})}
    return {topic: identity for topic, identity in owner.topic_ids.items() if topic in kept}

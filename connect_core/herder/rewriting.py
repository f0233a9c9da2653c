"""Moving a stopped connector's offsets, and ending a connector before it is deleted."""

from __future__ import annotations

import logging

from connect_core.effects.perform import perform
from connect_core.effects.worker import ConnectorWorker
from connect_core.errors import ConnectError, IllegalWorkerStateError, NotFoundError, StaleEpochError
from connect_core.herder.context import Herder
from connect_core.interval.effects import FinishIntent, LoadConnector, ReleaseTarget, StoreIntent
from connect_core.plan.abandon import OffsetRequest, abandon
from connect_core.store import connectors, intents, offsets
from connect_core.store.offsets import Changes

__all__ = ["end_connector", "rewrite_in_database", "rewrite_offsets"]

_LOG = logging.getLogger(__name__)
_TRIES = 3


def rewrite_offsets(herder: Herder, connector: str, wanted: Changes | None, *, is_deleted: bool = False) -> None:
    """Move offsets where they are authoritative, the offsets topic, the target, or SQL; then update SQL.

    Unfinished work is committed as far as markers prove it, else abandoned;
    nothing older can commit afterwards. ``is_deleted``: the claim to the target, or to a
    source's name in its offsets topic, is released.
    Raise NotFoundError, IllegalWorkerStateError unless STOPPED, StaleEpochError
    if overtaken, RetriableError if a system does not answer.
    """
    worker = ConnectorWorker(herder.worker, herder.database, connector)
    try:
        handlers = worker.handlers()
        state = handlers[LoadConnector](LoadConnector(connector))
        request = OffsetRequest(wanted, herder.actor, is_deleted)
        keeps_offsets = perform(abandon(worker.run_of(state, "", None), request), handlers)
        # Where the target keeps the offsets, they stay for a connector of the same name.
        if is_deleted and not keeps_offsets:
            handlers[ReleaseTarget](ReleaseTarget(connector))
    except ConnectError as error:
        worker.clean(error)
        raise
    finally:
        worker.close()


def end_connector(herder: Herder, connector: str, *, forget_offsets: bool) -> None:
    """End a stopped connector's unfinished work before it is deleted.

    With ``forget_offsets`` its offsets are reset, or this fails. Without, a connector
    whose systems or configuration are broken is ended in the database only: an unfinished
    interval of a sink stays unfinished, and the first plan of a successor asks the
    target for it. Raise as ``rewrite_offsets``.
    """
    if forget_offsets:
        _rewrite(herder, connector, None)
        return
    try:
        _rewrite(herder, connector, {})
    except (NotFoundError, IllegalWorkerStateError):
        raise
    except ConnectError as error:
        _LOG.warning("Connector %s is deleted from the metadata database only: %s", connector, error)
        rewrite_in_database(herder, connector, {}, is_deleted=True)


def _rewrite(herder: Herder, connector: str, wanted: Changes | None) -> None:
    """Rewrite offsets, and try again if overtaken by a run that ends unfinished work: such a run is short."""
    for _ in range(_TRIES - 1):
        try:
            herder.rewrite_offsets(herder, connector, wanted, is_deleted=True)
        except StaleEpochError as error:
            _LOG.info("Rewriting the offsets of %s is retried: %s", connector, error)
        else:
            return
    herder.rewrite_offsets(herder, connector, wanted, is_deleted=True)


def rewrite_in_database(herder: Herder, connector: str, wanted: Changes | None, *, is_deleted: bool = False) -> None:
    """Store the intent and update SQL at once, without asking the target.

    A sink's unfinished interval stays, unless all offsets are reset: the next plan asks the target for it.

    Raise NotFoundError, IllegalWorkerStateError unless STOPPED, StaleEpochError if overtaken.
    """
    request = OffsetRequest(wanted, herder.actor, is_deleted)
    with herder.database.write() as connection:
        epoch = intents.store(connection, StoreIntent(connector, wanted, herder.actor))
    with herder.database.write() as connection:
        kind = connectors.get(connection, connector).type
        moved = dict.fromkeys(offsets.load(connection, connector, kind)) if wanted is None else wanted
        intents.finish_unasked(connection, FinishIntent(connector, epoch, moved, reason=request.reason))

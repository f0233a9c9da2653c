"""Carries out the requests stored in the database: each kind of act, for many connectors at a time."""

from __future__ import annotations

import logging
import socket
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from connect_core.dag.contact import Contact
from connect_core.dag.scheduler import AirflowScheduler, Outcomes
from connect_core.errors import ConnectError, NotFoundError, RetriableError
from connect_core.interval.values import TargetState
from connect_core.store import connectors, requests
from connect_core.store.database import Connection, Database
from connect_core.store.requests import Claimed, Kinds

__all__ = ["Serving"]

_LOG = logging.getLogger(__name__)
_CLAIM_SECONDS = 300.0
_MOST_TRIES = 20
_LONGEST_PAUSE_SECONDS = 30.0
_BACKFILLS = Kinds(("backfill",), 40)


@dataclass(frozen=True, slots=True)
class _Act:
    """Kinds of requests that are claimed together, and the function that carries them out."""

    kinds: Kinds
    carry_out: Callable[[Collection[str]], Outcomes]


class Serving:
    """Divides requests among services that do not wait for each other."""

    def __init__(self, database: Database, scheduler: AirflowScheduler, contact: Contact) -> None:
        self._database = database
        self._scheduler = scheduler
        self._contact = contact
        self._holder = f"{socket.gethostname()} {uuid.uuid4().hex[:8]}"

    def services(self) -> Sequence[Callable[[], None]]:
        """Return functions to be called repeatedly: a burst of deploys or removals delays no other act."""
        scheduler = self._scheduler
        flags = _Act(Kinds(("pause", "resume"), 500), self._follow)
        # Acts that take one call per connector are claimed a few at a time.
        triggers = _Act(Kinds(("trigger",), 40), lambda names: scheduler.each(self._stored(names), scheduler.trigger))
        retries = _Act(Kinds(("retry",), 40), lambda names: scheduler.each(self._stored(names), scheduler.retry))
        deploys = _Act(Kinds(("deploy",), 1000), lambda names: scheduler.deploy_all(self._stored(names)))
        # Each claim of removals needs a parse of the DAG file, which takes longer than many deletions.
        removals = _Act(Kinds(("remove",), 200), lambda names: scheduler.remove_all(names, self._is_stored))
        acts = (flags, triggers, retries, deploys, removals)
        known = [*_BACKFILLS.names, *(kind for act in acts for kind in act.kinds.names)]
        others = _Act(Kinds(tuple(known), 40, are_left_out=True), _refuse)
        return (
            lambda: self._serve(flags, triggers, retries, others),
            lambda: self._serve(deploys),
            lambda: self._serve(removals),
            self._serve_backfills,
        )

    def _serve(self, *acts: _Act) -> None:
        for act in acts:
            with self._database.write() as connection:
                claimed = requests.claim(connection, self._holder, _CLAIM_SECONDS, act.kinds)
            if claimed:
                with self._contact.noted():
                    self._settle(claimed, _carry_out(act, {request.asked.connector or "" for request in claimed}))

    def _serve_backfills(self) -> None:
        """Carry out backfills, which differ in their times, one by one."""
        with self._database.write() as connection:
            claimed = requests.claim(connection, self._holder, _CLAIM_SECONDS, _BACKFILLS)
        for request in claimed:
            with self._contact.noted():
                self._settle([request], _carry_out_backfill(self._scheduler, request))

    def _follow(self, names: Collection[str]) -> Outcomes:
        """Set the DAGs' pause flags by the present target states: requests may be late and out of order."""
        stored = self._stored(names)
        started = [name for name, target in stored.items() if target is TargetState.STARTED]
        others = [name for name in stored if name not in set(started)]
        return {**self._scheduler.pause_all(started, False), **self._scheduler.pause_all(others, True)}

    def _stored(self, names: Collection[str]) -> Mapping[str, TargetState]:
        with self._database.read() as connection:
            return connectors.target_states(connection, names)

    def _is_stored(self, name: str) -> bool:
        return name in self._stored([name])

    def _settle(self, claimed: Sequence[Claimed], outcomes: Outcomes) -> None:
        with self._database.write() as connection:
            for request in claimed:
                _settle(connection, request, outcomes.get(request.asked.connector or ""))
        _log(claimed, outcomes)


def _carry_out(act: _Act, names: Collection[str]) -> Outcomes:
    try:
        return act.carry_out(sorted(names))
    except ConnectError as error:
        return dict.fromkeys(names, error)
    except Exception as error:
        # An unexpected error of one request must not end the service for all others.
        _LOG.exception("Requests (%s) failed", ", ".join(act.kinds.names))
        return dict.fromkeys(names, RetriableError(f"{type(error).__name__}: {error}"))


def _carry_out_backfill(scheduler: AirflowScheduler, request: Claimed) -> Outcomes:
    name, detail = request.asked.connector or "", request.asked.detail
    try:
        scheduler.backfill(name, *(datetime.fromisoformat(str(detail[key])) for key in ("first", "last")))
    except ConnectError as error:
        return {name: error}
    return {name: None}


def _refuse(names: Collection[str]) -> Outcomes:
    return dict.fromkeys(names, ConnectError("There is no handler for this request: it comes from another version"))


def _log(claimed: Sequence[Claimed], outcomes: Outcomes) -> None:
    """Log failures: one line per reason, for any number of connectors that share it."""
    by_reason: dict[str, list[str]] = {}
    for request in claimed:
        error = outcomes.get(request.asked.connector or "")
        if error is not None:
            by_reason.setdefault(str(error), []).append(f"{request.asked.kind} {request.asked.connector}")
    for reason, asked in by_reason.items():
        others = f" and {len(asked) - 1} others" if len(asked) > 1 else ""
        _LOG.warning("Request %s%s: %s", asked[0], others, reason)


def _settle(connection: Connection, request: Claimed, error: ConnectError | None) -> None:
    if error is None:
        requests.finish(connection, request.id)
        return
    # An outage may last; a DAG that is missing may appear with the next parse of its file.
    is_early = isinstance(error, NotFoundError) and request.tries < _MOST_TRIES
    if isinstance(error, RetriableError) or is_early:
        pause = min(_LONGEST_PAUSE_SECONDS, float(request.tries))
        requests.give_back(connection, request.id, str(error), pause)
    else:
        requests.finish(connection, request.id, str(error))

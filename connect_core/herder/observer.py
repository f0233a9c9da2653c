"""Records the waiting work of all connectors, with a few statements every few seconds."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from connect_core.api.records import TopicPartition
from connect_core.errors import ConnectError
from connect_core.herder.lag import sum_of, topics_of
from connect_core.herder.topic_ends import TopicEnds
from connect_core.herder.waiting import Work, is_continuous, waits_for_more, work_of
from connect_core.interval.values import ConnectorType
from connect_core.store import Database, overviews, reports, statuses, waiting
from connect_core.store.reports import PartUpdate
from connect_core.store.statuses import ConnectorFacts
from connect_core.store.waiting import AirflowRun, Found

__all__ = ["LOOK_SECONDS", "Observer"]

Positions = Mapping[str, Mapping[TopicPartition, int]]

_LOG = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
_OVERDUE_SECONDS = 3 * LOOK_SECONDS
_TO_START = ("queued", "scheduled")
_BEGUN = ("running", "restarting", "up_for_retry")


@dataclass(frozen=True, slots=True)
class Observer:
    """Used by whichever process is available: the watcher, else one that serves the REST API, else a command.

    ``ends`` waits for Kafka for a second at most: what is not known by then is left as it is stored.
    """

    database: Database
    ends: TopicEnds | None = None

    def start(self) -> None:
        """Look every few seconds in a daemon thread, unless another process does."""
        threading.Thread(target=self._repeat, name="connect-observer", daemon=True).start()

    def look_if_nobody_does(self) -> None:
        """Look, unless another process has recently. Raise ConnectError."""
        with self.database.read() as connection:
            last = reports.load(connection).get(reports.OBSERVER)
        if last is None or last.reported_age > _OVERDUE_SECONDS:
            self.look()

    def look(
        self, runs: Mapping[str, AirflowRun] | None = None, told: Collection[PartUpdate] = ()
    ) -> list[ConnectorFacts]:
        """Store the waiting work, and the reports ``told`` → the facts of all connectors. Raise ConnectError.

        ``runs``: the unfinished task in Airflow of each connector that has one; ``None``: Airflow was not asked.
        """
        with self.database.read() as connection:
            facts = statuses.load_facts(connection)
            positions = overviews.all_sink_positions(connection)
            progress = waiting.load_progress(connection)
        lags = self._lags(facts, positions)
        due = {one.name for one in facts if _is_due(one, (runs or {}).get(one.name))}
        now = datetime.now(UTC)
        works = {one.name: work_of(one, now, lags.get(one.name), is_run_due=one.name in due) for one in facts}
        found = {
            name: Found(work.value, progress[name], lags.get(name))
            for name, work in works.items()
            if work is not None and name in progress
        }
        unknown = [one.name for one in facts if works[one.name] is None and _is_unknown(one, lags, runs is not None)]
        with self.database.write() as connection:
            waiting.store(connection, found, unknown)
            if runs is not None:
                waiting.store_runs(connection, {one.name: runs.get(one.name) for one in facts})
            reports.tell(connection, [PartUpdate(reports.OBSERVER), *self._kafka(), *told])
        return facts

    def _lags(self, facts: Collection[ConnectorFacts], positions: Positions) -> dict[str, int | None]:
        sinks = {one.name: topics_of(one.config) for one in facts if one.type is ConnectorType.SINK}
        if self.ends is None or not sinks:
            return {}
        wanted = {topic for named in sinks.values() for topic in named}
        wanted |= {part.topic for name in sinks for part in positions.get(name, ())}
        ends = self.ends.known(wanted)
        return {name: sum_of(positions.get(name, {}), named, ends) for name, named in sinks.items()}

    def _kafka(self) -> list[PartUpdate]:
        answer = None if self.ends is None else self.ends.answer
        return [] if answer is None else [PartUpdate(reports.KAFKA, answer or None)]

    def _repeat(self) -> None:
        pause = threading.Event()
        while not pause.wait(LOOK_SECONDS):
            try:
                self.look_if_nobody_does()
            except ConnectError as error:
                _LOG.warning("Whether work is waiting is unknown: %s", error)


def _is_due(facts: ConnectorFacts, run: AirflowRun | None) -> bool:
    """Whether a run in Airflow is to move something; one that has begun may also wait for more data by request."""
    if run is None:
        return False
    return run.state in _TO_START or (run.state in _BEGUN and not waits_for_more(facts))


def _is_unknown(facts: ConnectorFacts, lags: Mapping[str, int | None], is_airflow_asked: bool) -> bool:
    """Whether a connector's stored work is to stay, because the ends of its topics or its runs are not known."""
    if facts.waiting is None:
        return False
    if facts.waiting.work == Work.RECORDS.value:
        return lags.get(facts.name) is None and is_continuous(facts)
    return facts.waiting.work == Work.RUN.value and not is_airflow_asked

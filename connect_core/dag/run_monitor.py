"""Runs beside the watcher: records waiting work and Airflow's health, and has lost runs scheduled again."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from connect_core.dag.airflow_tasks import Calls, OpenTask, clear_task, last_heartbeats, open_tasks
from connect_core.dag.lost_runs import is_lost, seconds_until_lost
from connect_core.dag.naming import HOUSEKEEPING_DAG_ID, TASK_ID, dag_id_of
from connect_core.dag.threads import in_thread
from connect_core.errors import ConnectError, NotFoundError
from connect_core.herder.observer import LOOK_SECONDS, Observer
from connect_core.store import audit, connectors, reports, waiting
from connect_core.store.database import Database
from connect_core.store.reports import PartUpdate
from connect_core.store.statuses import ConnectorFacts
from connect_core.store.waiting import AirflowRun

__all__ = ["RunMonitor"]

_LOG = logging.getLogger(__name__)
_REST_AFTER_WORK = 2.0
"""Pause after a look, as a multiple of its duration: a large deployment must not keep Airflow busy."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """Airflow's last answer; ``tasks`` is ``None`` if it did not answer."""

    tasks: Mapping[str, OpenTask] | None = None
    told: Sequence[PartUpdate] = ()


@dataclass(slots=True)
class RunMonitor:
    """Looks every few seconds, with two calls to Airflow and a few statements for any number of connectors.

    Airflow is asked in a separate task: if it hangs, waiting work is still recorded, and so is that it does not answer.
    ``lost_after``: seconds a run may be queued without a sign of life.
    """

    database: Database
    api: Calls
    observer: Observer
    lost_after: float
    _answer: _Answer = field(default_factory=_Answer)
    _facts: Sequence[ConnectorFacts] = ()
    _cleared: dict[str, int] = field(default_factory=dict)

    async def work(self) -> None:
        """Look until cancelled; errors are logged."""
        async with asyncio.TaskGroup() as group:
            group.create_task(_repeat(self.ask, _REST_AFTER_WORK))
            group.create_task(_repeat(self.look))

    def look(self) -> None:
        """Record that the watcher is alive, the waiting work, and Airflow's last answer. Raises ConnectError."""
        with self.database.write() as connection:
            # First, as what follows may take long.
            reports.tell(connection, [PartUpdate(reports.WATCHER), *self._answer.told])
        tasks = self._answer.tasks
        runs = None
        if tasks is not None:
            runs = {name: AirflowRun(one.run_id, one.state, one.since, one.pool) for name, one in tasks.items()}
        self._facts = self.observer.look(runs)

    def ask(self) -> None:
        """Fetch the tasks that have not ended from Airflow, and clear those that are lost. Raises ConnectError."""
        with self.database.read() as connection:
            names = {dag_id_of(name): name for name in connectors.list_names(connection)}
        try:
            tasks = list(open_tasks(self.api, [*names, HOUSEKEEPING_DAG_ID]))
            beats = [PartUpdate(part, worked_at=at) for part, at in last_heartbeats(self.api).items() if at is not None]
        except ConnectError as error:
            self._answer = _Answer(None, [PartUpdate(reports.AIRFLOW, str(error))])
            raise
        mine = {names[task.dag_id]: task for task in tasks if task.dag_id in names and task.task_id == TASK_ID}
        self._answer = _Answer(mine, [PartUpdate(reports.AIRFLOW, worked_at=datetime.now(UTC)), *beats])
        self._let_lost_runs_go(self._facts, mine)
        self._let_lost_sweeps_go(task for task in tasks if task.dag_id == HOUSEKEEPING_DAG_ID)

    def _let_lost_runs_go(self, facts: Iterable[ConnectorFacts], tasks: Mapping[str, OpenTask]) -> None:
        for one in facts:
            task = tasks.get(one.name)
            if task is not None and one.waiting is not None and is_lost(one, task, self.lost_after):
                with self.database.write() as connection:
                    is_mine = waiting.count_cleared(connection, one.name, one.waiting.cleared)
                    if is_mine:
                        audit.record(connection, audit.Act("watcher", "clear-lost-run", one.name))
                if is_mine:
                    self._clear(task)

    def _let_lost_sweeps_go(self, tasks: Iterable[OpenTask]) -> None:
        """Clear lost sweeps: otherwise the run of housekeeping never ends, and no next run keeps the watcher alive."""
        for task in tasks:
            if task.state != "queued" or task.since is None:
                continue
            cleared = self._cleared.get(task.run_id, 0)
            if (datetime.now(UTC) - task.since).total_seconds() > seconds_until_lost(self.lost_after, cleared):
                self._cleared = {task.run_id: cleared + 1}
                self._clear(task)

    def _clear(self, task: OpenTask) -> None:
        _LOG.warning(
            "Run %s of %s has been queued since %s, and no process has shown up: it is scheduled again",
            task.run_id,
            task.dag_id,
            task.since,
        )
        try:
            clear_task(self.api, task)
        except NotFoundError:
            return
        except ConnectError as error:
            _LOG.warning("Run %s of %s could not be cleared: %s", task.run_id, task.dag_id, error)


async def _repeat(act: Callable[[], None], rest: float = 0.0) -> None:
    """Act every few seconds, and no sooner than ``rest`` times the duration of the last act."""
    while True:
        began = time.monotonic()
        try:
            await in_thread(act)
        except Exception as error:
            # Whatever it is must not end the loop, nor the watcher beside it.
            trace = None if isinstance(error, ConnectError) else error
            _LOG.warning("The run monitor continues after an error: %s", error, exc_info=trace)
        took = time.monotonic() - began
        await asyncio.sleep(max(LOOK_SECONDS - took, rest * took, 0.0))

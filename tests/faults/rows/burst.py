"""Many connectors are created, reconfigured, paused, resumed and deleted at once while lines move."""

from __future__ import annotations

import time
from dataclasses import replace

from tests.faults.airflow_world import AirflowWorld
from tests.faults.history import History
from tests.faults.rows.airflow import rest_client
from tests.faults.rows.row import Row, moving
from tests.integration.many import Many

_COUNT = 60
_STATUS_SECONDS = 60.0


def burst(history: History) -> int:
    """Do each to sixty at once, and wait until every status is right."""
    topic = history.world.topics.create(2)
    with rest_client(history) as rest:
        many = Many(rest, f"{history.name}-burst-", _COUNT, topic, history.world.folder)
        for act in many.acts():
            deadline = time.monotonic() + _STATUS_SECONDS
            many.ask(act)
            while not many.is_done(act):
                assert time.monotonic() < deadline, f"after {_STATUS_SECONDS:.0f} s not all are {act.what}"
                time.sleep(0.5)
    return 5 * _COUNT


ROWS: tuple[Row, ...] = (
    replace(moving(47, "sixty created, reconfigured, paused, resumed, deleted at once", burst), world=AirflowWorld),
)

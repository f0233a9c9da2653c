"""What happens to Airflow's processes and runs while lines move; Airflow alone starts what was ended."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import httpx

from connect_core.dag.naming import dag_id_of
from connect_core.errors import ConnectError
from connect_core.herder.connectors import list_names
from tests.faults.airflow_world import AirflowWorld
from tests.faults.history import Findings, History
from tests.faults.rows.row import Row, moving
from tests.faults.world import World

_COMPONENTS = ("airflow-scheduler", "airflow-triggerer", "airflow-dag-processor", "airflow-api-server")
_STORM = 60


def _airflow(history: History) -> AirflowWorld:
    assert isinstance(history.world, AirflowWorld)
    return history.world


def kill_tasks(history: History) -> int:
    """SIGKILL the process of an Airflow task in its job."""
    for name in (history.source, history.sink, history.source):
        _task(history, name, signal.SIGKILL)
        time.sleep(history.world.random.uniform(1, 4))
    return 3


def pause_tasks(history: History) -> int:
    """SIGSTOP the process of an Airflow task beyond its lease; somebody clears its run; then it wakes up."""
    airflow = _airflow(history)
    pid = _task(history, history.sink, signal.SIGSTOP)
    time.sleep(25)
    with suppress(ConnectError):
        (run, *_) = airflow.api.latest_runs(dag_id_of(history.sink), 1)
        airflow.api.clear(dag_id_of(history.sink), run.run_id)
    time.sleep(5)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)
    return 2


def _task(history: History, name: str, number: signal.Signals) -> int:
    interval = history.await_running(name, 120)
    pid = int(interval.worker.rpartition(":")[2])
    with suppress(ProcessLookupError):
        os.kill(pid, number)
    return pid


def kill_components(history: History) -> int:
    """SIGKILL scheduler, triggerer, DAG processor and API server; the stack's supervisor starts them again."""
    for name in _COMPONENTS:
        server = history.world.stack.service(name)
        server.kill()
        time.sleep(history.world.random.uniform(1, 3))
        server.await_healthy(120)
    return len(_COMPONENTS)


def run_at_once(history: History) -> int:
    """Runs by hand beside the scheduled ones, several at a time."""
    airflow, faults = _airflow(history), 0
    for _ in range(4):
        for name in (history.source, history.sink):
            for _ in range(2):
                with suppress(ConnectError):
                    airflow.api.trigger(dag_id_of(name))
                    faults += 1
        time.sleep(2)
    return faults


def clear_runs(history: History) -> int:
    """Runs that ended, and the one that runs, are cleared: they begin again."""
    airflow, faults = _airflow(history), 0
    for _ in range(6):
        name = airflow.random.choice((history.source, history.sink))
        for run in airflow.api.latest_runs(dag_id_of(name), 3):
            with suppress(ConnectError):
                airflow.api.clear(dag_id_of(name), run.run_id)
                faults += 1
        time.sleep(2)
    return faults


def second_scheduler(history: History) -> int:
    """A second scheduler works beside the first, and is killed."""
    process = _airflow(history).start_scheduler()
    try:
        time.sleep(30)
    finally:
        process.kill()
        process.wait()
    return 2


def database_away_from_parser(history: History) -> int:
    """The metadata database takes no connection while DAGs are parsed: they stay, and go on."""
    airflow = _airflow(history)
    with airflow.superuser() as session:
        session.execute("ALTER ROLE connect CONNECTION LIMIT 0")
        session.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'connect'")
        with suppress(ConnectError):
            file = airflow.api.file_of(dag_id_of(history.source))
            assert file is not None
            airflow.api.reparse(file)
        time.sleep(25)
        known = airflow.api.latest_runs(dag_id_of(history.source), 1)
        session.execute("ALTER ROLE connect CONNECTION LIMIT -1")
    assert known, "the DAG is gone"
    return 2


def storm(world: World) -> Findings:
    """Many clients create, read, change and delete connectors at once, while lines move: what was acknowledged is."""
    history = History(world, f"row-44-{world.random.getrandbits(24):06x}")
    history.begin()
    with history.writing(), ThreadPoolExecutor(20) as clients:
        answers = list(clients.map(lambda number: _create(history, number), range(_STORM)))
    created = {name for name, status in answers if status == 201}
    names = {name for name in list_names(world.herder) if name.startswith("storm-")}
    wrong = [f"I11: {sorted(created - names)[:5]} were acknowledged and are not there"] if created - names else []
    wrong += [] if len(created) >= _STORM // 2 else [f"only {len(created)} of {_STORM} were created"]
    with ThreadPoolExecutor(10) as clients:
        list(clients.map(lambda name: rest_client(history).delete(f"/connectors/{name}"), sorted(names)))
    history.heal()
    return history.end(_STORM).with_violations(*wrong)


def _create(history: History, number: int) -> tuple[str, int]:
    name = f"storm-{history.name}-{number}"
    config = {"connector.class": "FileStreamSource", "file": str(history.file), "topic": f"storm-{number}"}
    client = rest_client(history)
    with suppress(httpx.TransportError):
        body = {"name": name, "config": config, "initial_state": "STOPPED"}
        status = client.post("/connectors", json=body).status_code
        for path in ("/connectors?expand=status", f"/connectors/{name}/status", "/connector-plugins"):
            client.get(path)
        return name, status
    return name, 0


def rest_client(history: History) -> httpx.Client:
    """Return a client of the world's REST API."""
    found = history.world.environment
    password = history.world.herder.worker.airflow_password_file
    login = (found["CONNECT_AIRFLOW_USER"], password.read_text().strip() if password else "")
    return httpx.Client(base_url=found["CONNECT_REST_URL"], auth=login, timeout=90)


_ROWS: tuple[Row, ...] = (
    moving(7, "Airflow task process killed", kill_tasks),
    moving(7, "Airflow task process paused, its run cleared", pause_tasks),
    moving(8, "scheduler, triggerer, DAG processor, API server killed", kill_components),
    moving(9, "runs by hand beside the scheduled", run_at_once),
    moving(10, "runs cleared", clear_runs),
    moving(11, "two schedulers, one killed", second_scheduler),
    moving(43, "metadata away while DAGs are parsed", database_away_from_parser),
    Row(44, "storm of REST calls", storm),
)
ROWS: tuple[Row, ...] = tuple(replace(row, world=AirflowWorld) for row in _ROWS)

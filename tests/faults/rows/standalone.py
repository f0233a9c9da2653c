"""Machines of a Spark standalone cluster fail while lines move: a worker, the master, Spark's driver, ours."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from dataclasses import replace

from tests.faults.exports import NumberedTable
from tests.faults.history import Findings, History
from tests.faults.rows.row import Inject, Row, moving
from tests.faults.spark_cluster import MASTER, SERVER, WORKERS, SparkCluster
from tests.faults.standalone_world import StandaloneWorld
from tests.faults.world import World

_AWAY_SECONDS = (0.5, 6.0)
"""How long a machine is away before its supervisor starts it again."""
_BATCH = 400


def _cluster(world: World) -> SparkCluster:
    assert isinstance(world, StandaloneWorld)
    return world.cluster


def kill_workers(history: History) -> int:
    """A worker fails in mid-interval, with its executors and their Python; it is back later. Then the other."""
    return _kill(history, WORKERS)


def kill_all_workers(history: History) -> int:
    """Both workers fail at once: nothing moves until one is back."""
    history.await_running(history.sink)
    cluster = _cluster(history.world)
    cluster.kill(*WORKERS)
    time.sleep(history.world.random.uniform(*_AWAY_SECONDS))
    cluster.start(*WORKERS)
    return 2


def kill_master(history: History) -> int:
    """The master fails in mid-interval, and is back with what it had stored."""
    return _kill(history, (MASTER, MASTER))


def kill_server(history: History) -> int:
    """The Spark Connect server, Spark's driver, fails in mid-interval with its sessions; the next has none."""
    return _kill(history, (SERVER,))


def kill_drivers(history: History) -> int:
    """The connectors' own drivers fail in mid-interval, one after the other."""
    for name in (history.sink, history.source, history.sink):
        history.append_if_drained(name)
        history.await_running(name)
        for driver in history.world.drivers:
            if driver.connector == name:
                driver.signal(signal.SIGKILL)
                driver.process.wait()
        history.world.heal(history.source, history.sink)
    return 3


def _kill(history: History, names: Sequence[str]) -> int:
    cluster, chance = _cluster(history.world), history.world.random
    for name in names:
        history.append_if_drained(history.sink)
        history.await_running(history.sink)
        time.sleep(chance.uniform(0.0, 0.3))
        cluster.kill(name)
        time.sleep(chance.uniform(*_AWAY_SECONDS))
        cluster.start(name)
        history.heal()
    return len(names)


def fill_table(world: World) -> Findings:
    """A worker fails while a sink fills a table of PostgreSQL, which numbers its rows."""
    export = NumberedTable(world, f"row-61-{world.random.getrandbits(24):06x}")
    export.begin(4)
    world.drive(export.name)
    cluster = _cluster(world)
    export.write(0, _BATCH, 4)
    export.await_files(_BATCH)
    for number, name in enumerate(WORKERS, 1):
        export.write(number * _BATCH, _BATCH, 4)
        time.sleep(world.random.uniform(0.2, 1.5))
        cluster.kill(name)
        time.sleep(world.random.uniform(*_AWAY_SECONDS))
        cluster.start(name)
        export.await_files((number + 1) * _BATCH)
    return export.found(set(range(3 * _BATCH)), len(WORKERS))


def _row(name: str, inject: Inject) -> Row:
    return replace(moving(61, f"Spark cluster: {name}", inject), world=StandaloneWorld)


ROWS: tuple[Row, ...] = (
    _row("a worker killed, then the other", kill_workers),
    _row("both workers killed", kill_all_workers),
    _row("master killed", kill_master),
    _row("Spark Connect server killed", kill_server),
    _row("the connectors' drivers killed", kill_drivers),
    Row(61, "Spark cluster: workers killed, to a table", fill_table, StandaloneWorld),
)

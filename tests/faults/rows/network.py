"""What the network does between drivers, tasks and servers while lines move; all bytes pass proxies of ours."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.history import History
from tests.faults.proxy import Network, Proxy
from tests.faults.rows.row import Row, moving

_CUT_SECONDS = 6.0


def _proxies(history: History) -> tuple[Proxy, ...]:
    world = history.world
    return world.kafka_proxy, world.database_proxy, world.spark_proxy


def cut(history: History) -> int:
    """Nothing gets through to Kafka, to the database, to Spark; to all; then on and off, some times a second."""
    faults = 0
    for proxy in _proxies(history):
        with proxy.network(Network.CUT):
            time.sleep(_CUT_SECONDS)
        time.sleep(1)
        faults += 1
    for _ in range(10):
        proxy = history.world.random.choice(_proxies(history))
        with proxy.network(Network.CUT):
            time.sleep(history.world.random.uniform(0.1, 0.6))
        time.sleep(0.2)
        faults += 1
    return faults


def cut_one_way(history: History) -> int:
    """Requests arrive and are carried out, but no answer comes back for a while."""
    for proxy in _proxies(history):
        with proxy.network(Network.DEAF):
            time.sleep(_CUT_SECONDS)
        time.sleep(1)
    return 3


def slow(history: History) -> int:
    """Every piece is late by 50 ms, both ways; connections are reset meanwhile."""
    faults = 0
    for proxy in _proxies(history):
        with proxy.network(Network.SLOW):
            for _ in range(4):
                time.sleep(1.5)
                faults += proxy.reset()
    return faults


def no_such_host(history: History) -> int:
    """The database's name cannot be resolved any more, in the driver's own mount namespace, and then it can."""
    world = history.world
    for driver in world.drivers:
        driver.process.kill()
        driver.process.wait()
    url = world.proxied()["CONNECT_DATABASE_URL"].replace("127.0.0.1", "database.faults")
    with _hosts() as hosts:
        hosts.write_text("127.0.0.1 localhost\n127.0.0.1 database.faults\n")
        within = ("unshare", "--mount", "sh", "-c", f'mount --bind {hosts} /etc/hosts && exec "$@"', "driver")
        for name in (history.source, history.sink):
            world.drive(name, {"CONNECT_DATABASE_URL": url}, within)
        for text in ("127.0.0.1 localhost\n", "127.0.0.1 localhost\n127.0.0.9 database.faults\n"):
            time.sleep(4)
            known = hosts.read_text()
            hosts.write_text(text)
            world.database_proxy.reset()
            time.sleep(_CUT_SECONDS)
            hosts.write_text(known)
        history.await_committed(history.sink, history.committed(history.sink) + 2000)
    return 2


@contextmanager
def _hosts() -> Iterator[Path]:
    handle, name = tempfile.mkstemp(prefix="hosts-")
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink()


ROWS: tuple[Row, ...] = (
    moving(18, "network cut, whole and flapping", cut),
    moving(18, "network cut one way: no answers", cut_one_way),
    moving(19, "network slow, connections reset", slow),
    moving(20, "the database's name is unknown, then wrong", no_such_host),
)

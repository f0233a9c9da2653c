"""An object store throttles, fails, is silent or cuts connections; drivers and tasks die or wake late beside it."""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from tests.connectors.filesystem.storages.s3.faults import REQUESTS, Fault, FaultyStore, faulty
from tests.connectors.filesystem.storages.s3.servers import S3Server, seaweed_running
from tests.faults.history import Findings
from tests.faults.rows.failpoints import arm, await_taken
from tests.faults.rows.row import Row
from tests.faults.stores import DeltaExport, FilesExport, IcebergExport, StoreExport
from tests.faults.world import World

_BATCH = 400
_Start = Callable[[World, str, S3Server, FaultyStore], StoreExport]
_KINDS = ("answer", "lost", "hang", "reset", "late", "cut")
_ANSWERS = ((503, "SlowDown"), (500, "InternalError"))
_TURNS = 14
_LEAST = 5
"""So many turns must have met a request."""
_KILLED_AT = ("K4", "K7", "K8")
"""In a task; before the metadata follow; before files are published."""
_LATE_AT = ("K6",)
"""Before the commit in the target."""
_SECONDS = 180.0


@contextmanager
def _store(kind: _Start, world: World) -> Iterator[StoreExport]:
    """Start a store with a proxy before it, and a sink into it."""
    name = f"row_40_{world.random.getrandbits(24):06x}"
    with ExitStack() as open_things:
        folder = open_things.enter_context(tempfile.TemporaryDirectory(prefix="connect-store-"))
        url = open_things.enter_context(seaweed_running(Path(folder)))
        proxy = open_things.enter_context(faulty(url))
        export = kind(world, name, S3Server(url), proxy)
        export.begin(2)
        world.drive(export.name)
        open_things.callback(world.end_drivers)
        yield export


def failing(kind: _Start, world: World) -> Findings:
    """Requests of every kind fail in every way, for once or for longer than they are sent again, while lines move."""
    chance = world.random
    with _store(kind, world) as export:
        turns = chance.sample([(request, how) for request in REQUESTS for how in _KINDS], _TURNS)
        met = 0
        for request, how in turns:
            status, code = chance.choice(_ANSWERS)
            fault = export.proxy.fail(request, how, count=chance.choice((1, 2, 6)), status=status, code=code)
            export.more(_BATCH)
            _await_rows(export, fault)
            met += fault.seen > 0
        told = [] if met >= _LEAST else [f"only {met} of {_TURNS} faults met a request"]
        return export.clean(met, *told)


def killed(kind: _Start, world: World) -> Findings:
    """Drivers and tasks die on both sides of the commit; others sleep in it, are overtaken, and wake late."""
    with _store(kind, world) as export:
        faults = 0
        for point, is_late in (*((point, False) for point in _KILLED_AT), *((point, True) for point in _LATE_AT)):
            arm(world, point, export.name, "5" if is_late else "kill")
            export.more(_BATCH)
            taken = await_taken(world, f"no process of {export.name} came to {point}")
            if is_late:
                _overtake(export, taken)
            else:
                _await_death(export, taken)
                world.heal(export.name)
            export.await_files(export.written)
            faults += 1
        return export.clean(faults)


def _await_death(export: StoreExport, pid: int) -> None:
    """Wait until a driver that kills itself is gone: only then another one is started. Workers are Spark's to start."""
    for driver in export.world.drivers:
        if driver.process.pid == pid:
            driver.process.wait(_SECONDS)


def _overtake(export: StoreExport, pid: int) -> None:
    """Let a driver stand still in its commit until another one has done its work; then it goes on."""
    world = export.world
    (late,) = (driver for driver in world.drivers if driver.process.pid == pid)
    late.signal(signal.SIGSTOP)
    world.drive(export.name)
    export.await_files(export.written)
    log = world.folder / "drivers.log"
    before, end = log.stat().st_size, time.monotonic() + _SECONDS
    late.signal(signal.SIGCONT)
    while f" {pid} {export.name} ".encode() not in log.read_bytes()[before:]:
        assert time.monotonic() < end, "a driver that woke late says nothing"
        time.sleep(0.2)
    late.process.kill()
    late.process.wait()
    world.drivers.remove(late)


def _await_rows(export: StoreExport, fault: Fault) -> None:
    """Wait until the rows are there, or the fault has met all the requests it shall and lines may follow."""
    end = time.monotonic() + _SECONDS
    while len(export.rows()) < export.written and not fault.is_over:
        assert time.monotonic() < end, f"{export.name} moves no more"
        time.sleep(0.3)


_SINKS: Mapping[str, _Start] = {"files": FilesExport, "Iceberg": IcebergExport, "Delta": DeltaExport}

ROWS: tuple[Row, ...] = (
    *(Row(40, f"object store fails, {what}", partial(failing, kind)) for what, kind in _SINKS.items()),
    *(Row(40, f"killed and late at an object store, {what}", partial(killed, kind)) for what, kind in _SINKS.items()),
)

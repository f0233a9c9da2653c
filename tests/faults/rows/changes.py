"""What operators do while lines move, and replies that get lost."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from connect_core.errors import ConnectError, RetriableError
from connect_core.herder import connectors, lifecycle, offsets
from connect_core.herder.lifecycle import RestartRequest
from connect_core.interval.values import TargetState
from tests.faults.exports import TableExport
from tests.faults.history import Findings, History
from tests.faults.rows.row import Row, moving
from tests.faults.world import World


def lose_replies(history: History) -> int:
    """Cut the connection after a commit was sent and before its answer: Kafka's EndTxn and PostgreSQL's COMMIT."""
    proxies = (history.world.kafka_proxy, history.world.database_proxy)
    before = sum(proxy.lost for proxy in proxies)
    for _ in range(3):
        for proxy in proxies:
            proxy.lose_replies(1)
            end = time.monotonic() + 30
            while proxy.is_armed and time.monotonic() < end:
                time.sleep(0.05)
            history.world.heal(history.source, history.sink)
    while any(proxy.is_armed and proxy.take() for proxy in proxies):
        before += 1
    return sum(proxy.lost for proxy in proxies) - before


def change_at_will(history: History) -> int:
    """Pause, resume and reconfigure both connectors at any moment."""
    chance = history.world.random
    configs = {history.source: history.source_config(), history.sink: history.sink_config()}
    for number in range(12):
        time.sleep(chance.uniform(0.2, 1.0))
        name = chance.choice(sorted(configs))
        if number % 3 == 0:
            history.reconfigure(name, {**configs[name], "interval.max.records": str(chance.randrange(2000, 8000))})
        else:
            history.change(name, chance.choice((TargetState.PAUSED, TargetState.STARTED)))
    for name in configs:
        history.change(name, TargetState.STARTED)
    return 12


def change_tasks(history: History) -> int:
    """Let tasks.max go 1 → 8 → 3, each time with a driver killed in its interval."""
    for tasks in (1, 8, 3):
        history.reconfigure(history.sink, {**history.sink_config(), "tasks.max": str(tasks)})
        time.sleep(1.5)
        for driver in history.world.drivers:
            if driver.connector == history.sink:
                driver.signal(signal.SIGKILL)
                driver.process.wait()
        history.world.heal(history.source, history.sink)
        time.sleep(1.5)
    return 6


def delete_and_create(history: History) -> int:
    """Connectors are deleted in their runs and created again with the same names: their positions stay."""
    for _ in range(2):
        for name, config in ((history.source, history.source_config()), (history.sink, history.sink_config())):
            time.sleep(history.world.random.uniform(0.3, 1.5))
            until_done(partial(connectors.delete, history.world.herder, name))
            until_done(partial(connectors.put_config, history.world.herder, name, config))
            history.forget(name)
    return 4


def until_done(act: Callable[[], object]) -> None:
    """Act as a client does: again, while the run holds the connector or a system does not answer."""
    end = time.monotonic() + 60
    while True:
        try:
            act()
            return
        except RetriableError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def reset_offsets(world: World) -> Findings:
    """A sink is stopped in its run, its offsets reset, and it starts over: upserted rows are each there once."""
    export = TableExport(world, f"row-36-{world.random.getrandbits(24):06x}")
    export.begin(2, insert__mode="upsert", pk__mode="record_value", pk__fields="n")
    export.write(0, 4000)
    world.drive(export.name)
    refused = 0
    for _ in range(3):
        time.sleep(world.random.uniform(0.5, 3.0))
        try:
            offsets.reset(world.herder, export.name)
        except ConnectError:
            refused += 1
        lifecycle.stop(world.herder, export.name)
        until_done(partial(offsets.reset, world.herder, export.name))
        lifecycle.resume(world.herder, export.name)
    wrong = [] if refused == 3 else ["I4: offsets of a running connector were reset"]
    return export.found(set(range(4000)), 6, *wrong)


def moods(world: World) -> Findings:
    """``task_configs`` raises, hangs, returns no task: failed by name, and on when it is well again."""
    history = History(world, f"row-38-{world.random.getrandbits(24):06x}")
    mood = Path(f"{history.file}.mood")
    history.begin(**{"connector.class": "MoodySource", "hook.timeout.ms": "2000"})
    with history.writing():
        history.await_committed(history.source, 1000)
        for wish, text in (("raise", "in a bad mood"), ("hang", "task_configs did not return within 2 s")):
            mood.write_text(wish)
            history.await_failure(history.source, text)
            mood.unlink()
            # As in Connect: what a connector itself raised waits for a person.
            again = RestartRequest(only_failed=False, include_tasks=False)
            until_done(partial(lifecycle.restart, world.herder, history.source, again))
            time.sleep(2)
        mood.write_text("none")
        time.sleep(4)
        mood.unlink()
    history.heal()
    return history.end(3)


ROWS: tuple[Row, ...] = (
    moving(15, "reply to a commit lost", lose_replies),
    moving(36, "paused, resumed, configured in a run", change_at_will),
    moving(36, "deleted and created again in a run", delete_and_create),
    Row(36, "offsets reset in a run", reset_offsets),
    Row(38, "task_configs raises, hangs, returns nothing", moods),
    moving(37, "tasks.max 1 → 8 → 3", change_tasks),
)

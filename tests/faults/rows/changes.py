"""What operators do while lines move, and replies that get lost."""

from __future__ import annotations

import signal
import time

from connect_core.interval.values import TargetState
from tests.faults.history import History
from tests.faults.rows.row import Row, moving


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
            history.heal()
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
        history.heal()
        time.sleep(1.5)
    return 6


ROWS: tuple[Row, ...] = (
    moving(15, "reply to a commit lost", lose_replies),
    moving(36, "paused, resumed, configured in a run", change_at_will),
    moving(37, "tasks.max 1 → 8 → 3", change_tasks),
)

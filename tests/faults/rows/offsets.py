"""What happens to a source's offsets topic: it is another and the first again; it is lost and there again, empty."""

from __future__ import annotations

import signal
import time

from confluent_kafka.admin import AdminClient, NewTopic

from connect_core.interval.values import IntervalState, TargetState
from tests.faults.history import Findings, History
from tests.faults.rows.row import Row
from tests.faults.world import World

_SECONDS = 120.0


def changed(world: World) -> Findings:
    """``offsets.storage.topic`` changes and changes back, each time with the source's driver killed."""
    history, topics = _history(world), [_offsets_topic(world), _offsets_topic(world)]
    history.begin(**{"offsets.storage.topic": topics[0]})
    with history.writing():
        for number in (1, 0, 1, 0):
            _more(history, 2000)
            config = {**history.source_config(), "offsets.storage.topic": topics[number]}
            history.reconfigure(history.source, config)
            for driver in world.drivers:
                if driver.connector == history.source:
                    driver.signal(signal.SIGKILL)
                    driver.process.wait()
            history.heal()
    return history.end(4)


def lost(world: World) -> Findings:
    """The topic is deleted while the source is paused, and there again, empty: the metadata give the offsets back."""
    history, topic = _history(world), _offsets_topic(world)
    history.begin(**{"offsets.storage.topic": topic})
    with history.writing():
        for _ in range(2):
            _more(history, 2000)
            history.change(history.source, TargetState.PAUSED)
            _await_finished(history)
            admin = AdminClient({"bootstrap.servers": world.topics.bootstrap})
            admin.delete_topics([topic])[topic].result()
            time.sleep(2)
            _offsets_topic(world, topic)
            history.change(history.source, TargetState.STARTED)
            history.heal()
    return history.end(2)


def _history(world: World) -> History:
    return History(world, f"row-52-{world.random.getrandbits(24):06x}")


def _more(history: History, records: int) -> None:
    """Wait until the source has moved so many records more, or all there are."""
    wanted = history.committed(history.source) + records
    history.await_committed(history.source, min(wanted, history.world.batches * 1000))


def _await_finished(history: History) -> None:
    end = time.monotonic() + _SECONDS
    final = {IntervalState.COMMITTED, IntervalState.ABANDONED}
    while any(one.row.state not in final for one in history.intervals(history.source)):
        assert time.monotonic() < end, "an interval of a paused source does not end"
        time.sleep(0.2)
    # What had begun before the pause may still plan.
    time.sleep(2)


def _offsets_topic(world: World, name: str | None = None) -> str:
    """Create a compacted topic."""
    name = name or f"offsets-{world.random.getrandbits(32):08x}"
    admin = AdminClient({"bootstrap.servers": world.topics.bootstrap})
    admin.create_topics([NewTopic(name, 3, 1, config={"cleanup.policy": "compact"})])[name].result()
    return name


ROWS: tuple[Row, ...] = (
    Row(52, "offsets topic changed and changed back, drivers killed", changed),
    Row(52, "offsets topic lost and there again, empty", lost),
)

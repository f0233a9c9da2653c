"""What happens to three brokers while lines move: one after the other goes, one of them, two; leaders move."""

from __future__ import annotations

import time
from collections.abc import Callable

from connect_core.herder.status import State, list_statuses
from connect_core.kafka.ids import transactional_id
from tests.faults.brokers import Broker, Brokers
from tests.faults.brokers_world import AirflowBrokersWorld, BrokersWorld, seeing
from tests.faults.fan import Fan
from tests.faults.history import Findings
from tests.faults.rows.row import Row
from tests.faults.world import World

_NUMBER = 57
_TOO_FEW_SECONDS = 45.0
_STALL_SECONDS = 240.0
_INTERNAL = ("__consumer_offsets", "__transaction_state")


def brokers_of(history: Fan) -> Brokers:
    """Return the brokers of a history's world."""
    world = history.world
    assert isinstance(world, BrokersWorld | AirflowBrokersWorld)
    return world.brokers


def roll(history: Fan) -> int:
    """Stop and start every broker, the next when all replicas have caught up: as in an upgrade."""
    brokers = brokers_of(history)
    for broker in brokers.all:
        broker.stop()
        time.sleep(history.world.random.uniform(0.5, 3))
        brokers.start()
    return len(brokers.all)


def move_leaders(history: Fan) -> int:
    """Move all partitions of the data, of the offsets and of Kafka's own topics to other leaders, again and again."""
    brokers, faults = brokers_of(history), 0
    topics = (history.topic, history.world.herder.worker.offsets_topic.name, *_INTERNAL)
    for _ in range(3):
        brokers.reassign(topics)
        faults += brokers.elect_preferred() + len(topics)
        time.sleep(history.world.random.uniform(1, 4))
    return faults


def kill_one(history: Fan) -> int:
    """SIGKILL the brokers that coordinate the source's transactions and a sink's group, and one at random."""
    brokers, deployment = brokers_of(history), history.world.herder.worker.deployment
    choices: tuple[Callable[[], Broker], ...] = (
        lambda: brokers.transaction_coordinator(transactional_id(deployment, history.source, 0)),
        lambda: brokers.group_coordinator(f"connect-{history.sink}"),
        lambda: history.world.random.choice(brokers.all),
    )
    for choose in choices:
        history.await_running(history.source)
        choose().kill()
        time.sleep(history.world.random.uniform(12, 20))
        brokers.start()
    return len(choices)


def stop_two(history: Fan) -> int:
    """Two brokers are stopped, one after the other: the third knows, and refuses writes (NOT_ENOUGH_REPLICAS)."""
    return _two_away(history, Broker.stop)


def kill_two(history: Fan) -> int:
    """SIGKILL two brokers at once: the third has no controller, and writes wait for replicas that are gone."""
    return _two_away(history, Broker.kill)


def _two_away(history: Fan, end: Callable[[Broker], None]) -> int:
    brokers = brokers_of(history)
    for broker in history.world.random.sample(brokers.all, 2):
        end(broker)
    time.sleep(_TOO_FEW_SECONDS)
    brokers.start()
    return 2


def stop_two_until_shown(history: Fan) -> int:
    """Two brokers are away until source and sinks, or what is left to them, are shown as stalled."""
    brokers, herder = brokers_of(history), history.world.herder
    for broker in history.world.random.sample(brokers.all, 2):
        broker.stop()
    end = time.monotonic() + _STALL_SECONDS
    try:
        while list_statuses(herder, [history.source])[history.source].stall is None:
            assert time.monotonic() < end, "the source is not shown as stalled"
            time.sleep(1)
    finally:
        brokers.start()
    return 2


def _row(name: str, inject: Callable[[Fan], int], world: type[World] = BrokersWorld) -> Row:
    return Row(_NUMBER, name, lambda here: run(here, inject), world)


def run(world: World, inject: Callable[[Fan], int]) -> Findings:
    """Inject while lines move; statuses may show a stall meanwhile, but nothing as FAILED."""
    history = Fan(world, f"row-{_NUMBER}-{world.random.getrandbits(24):06x}")
    history.begin()
    with seeing(world.herder, history.connectors) as seen:
        with history.writing():
            for connector in history.connectors:
                history.await_committed(connector, 1000)
            faults = inject(history)
            history.heal()
        history.await_moved()
        # Before the connectors are stopped.
        left = _left(history)
        found = history.end(faults)
    print(f"  seen: {sorted(seen.states)} {seen.stalls}", flush=True)
    return found.with_violations(*_untrue(seen.states, seen.traces), *left)


def _untrue(states: set[State], traces: set[str]) -> list[str]:
    return [f"I9: shown as FAILED, though nobody had to restart it: {sorted(traces)}"] if State.FAILED in states else []


def _left(history: Fan) -> list[str]:
    now = list_statuses(history.world.herder, history.connectors).values()
    return [
        f"I9: {one.name} is {one.connector.state}, {one.stall}"
        for one in now
        if one.connector.state is not State.RUNNING or one.stall
    ]


ROWS: tuple[Row, ...] = (
    _row("three brokers restarted one after the other", roll),
    _row("leaders moved, replicas reassigned", move_leaders),
    _row("one broker of three killed, coordinators among them", kill_one),
    _row("two brokers of three stopped: too few replicas", stop_two),
    _row("two brokers of three killed: no controller", kill_two),
    _row("two brokers of three away until it is shown", stop_two_until_shown, AirflowBrokersWorld),
)

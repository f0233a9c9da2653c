"""What waits is written down once, keeps its time without progress, and is gone when done."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from connect_core.api.records import TopicPartition
from connect_core.errors import RetriableError
from connect_core.herder.observer import Observer
from connect_core.herder.overview import summarize
from connect_core.herder.status import State, get_status
from connect_core.herder.topic_ends import TopicEnds
from connect_core.interval.values import IntervalState, PartitionEnds
from connect_core.store import reports
from connect_core.store.attempts import TaskProgress
from connect_core.store.clock import now
from connect_core.store.intervals import beat
from connect_core.store.models import Report, Waiting
from connect_core.store.reports import PartUpdate
from connect_core.store.statuses import WaitingFacts, load_facts
from connect_core.store.waiting import AirflowRun
from tests.herder.harness import SINK, SOURCE, Harness

pytestmark = pytest.mark.slow

LINES = TopicPartition("lines", 0)
QUEUED = AirflowRun("run-1", "queued", None, "default_pool")


@dataclass
class Topics:
    """Where the topic ends; ``error`` is raised; may be made to hang."""

    end: int = 0
    error: str = ""
    gate: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    def partition_ends(
        self, topics: Collection[str], regex: str | None = None
    ) -> Mapping[TopicPartition, PartitionEnds]:
        self.gate.wait(30)
        if self.error:
            raise RetriableError(self.error)
        return {LINES: PartitionEnds("id", 0, self.end, self.end)}

    def first_offsets(self, partitions: Collection[TopicPartition], millis: int) -> Mapping[TopicPartition, int]:
        raise NotImplementedError


@dataclass
class Scene:
    harness: Harness
    topics: Topics

    def look(self, runs: Mapping[str, AirflowRun] | None = None, *told: PartUpdate) -> None:
        # Anew each time: what is remembered of topics would be seconds old.
        Observer(self.harness.database, TopicEnds(self.topics)).look(runs, told)

    def waiting(self, name: str = "a") -> WaitingFacts | None:
        with self.harness.database.read() as connection:
            return load_facts(connection, [name])[0].waiting

    def age(self, seconds: float, table: Any = Waiting) -> None:
        """Let what was written down have been written so long ago."""
        with self.harness.database.write() as connection:
            for row in connection.execute(select(table.__table__)).mappings().all():
                names = [name for name in ("since", "worked_at", "told_at") if row.get(name) is not None]
                earlier = {name: row[name] - timedelta(seconds=seconds) for name in names}
                key = next(iter(table.__table__.primary_key))
                connection.execute(update(table.__table__).where(key == row[key.name]).values(**earlier))


@pytest.fixture
def scene(harness: Harness) -> Scene:
    """A planned sink whose topic is empty."""
    harness.create(config=SINK)
    driver = harness.driver()
    driver.commit(driver.begin(), positions={LINES: 0})
    return Scene(harness, Topics())


def test_records_wait_until_they_are_moved(scene: Scene) -> None:
    scene.look()
    assert scene.waiting() is None
    scene.topics.end = 7
    scene.look()
    found = scene.waiting()
    assert found is not None
    assert (found.work, found.records) == ("records", 7)
    driver = scene.harness.driver()
    driver.commit(driver.begin(), positions={LINES: 7})
    scene.look()
    assert scene.waiting() is None


def test_time_stands_without_progress_and_begins_anew_with_a_commit(scene: Scene) -> None:
    scene.topics.end = 7
    scene.look()
    scene.age(100)
    scene.topics.end = 9
    scene.look()
    found = scene.waiting()
    assert found is not None
    assert found.age > 99
    assert found.records == 9
    driver = scene.harness.driver()
    driver.commit(driver.begin(), positions={LINES: 5})
    scene.look()
    found = scene.waiting()
    assert found is not None
    assert (found.age < 50, found.records) == (True, 4)


def test_progress_of_a_running_interval_counts_and_a_new_try_does_not(scene: Scene) -> None:
    driver = scene.harness.driver()
    key = driver.begin()
    scene.topics.end = 7

    def moved(records: int) -> None:
        with scene.harness.database.write() as connection:
            assert beat(connection, key, driver.epoch, [TaskProgress(0, records, {"lines": records})])

    scene.look()
    for records, is_progress in ((3, True), (3, False), (4, True), (1, False), (4, False), (5, True)):
        scene.age(100)
        moved(records)
        scene.look()
        found = scene.waiting()
        assert found is not None
        assert (found.work, found.age < 50) == ("interval", is_progress), records


def test_work_stays_known_while_kafka_is_deaf(scene: Scene) -> None:
    scene.topics.end = 7
    scene.look()
    scene.age(100)
    scene.topics.error = "no broker responds"
    scene.look()
    found = scene.waiting()
    assert found is not None
    assert found.age > 99
    with scene.harness.database.read() as connection:
        kafka = reports.load(connection)[reports.KAFKA]
    assert kafka.error == "no broker responds"
    assert kafka.worked_at is not None


def test_hanging_kafka_does_not_hold_up_what_is_shown(scene: Scene) -> None:
    scene.topics.end = 7
    scene.look()
    scene.age(100)
    scene.topics.gate.clear()
    try:
        looked = threading.Thread(target=scene.look, daemon=True)
        looked.start()
        looked.join(10)
        assert not looked.is_alive()
        assert get_status(scene.harness.herder, "a").is_stalled
    finally:
        scene.topics.gate.set()


def test_run_that_is_due_is_work_of_a_source(scene: Scene) -> None:
    scene.harness.create("b", SOURCE)
    driver = scene.harness.driver("b")
    driver.commit(driver.begin())
    scene.look({"b": QUEUED})
    found = scene.waiting("b")
    assert found is not None
    assert (found.work, found.run_id, found.run_state) == ("run", "run-1", "queued")
    # Whoever looks without Airflow leaves it alone.
    scene.look()
    assert scene.waiting("b") is not None
    scene.look({})
    assert scene.waiting("b") is None


@pytest.mark.parametrize("state", ["running", "up_for_retry"])
def test_plan_without_an_answer_is_a_stall_of_a_source(scene: Scene, state: str) -> None:
    """Its run has begun, and has started no interval: nobody knows what is in the file, but nothing moves."""
    scene.harness.create("b", SOURCE)
    driver = scene.harness.driver("b")
    driver.commit(driver.begin())
    run = {"b": AirflowRun("run-1", state, None)}
    scene.look(run)
    assert not get_status(scene.harness.herder, "b").is_stalled
    scene.age(100)
    scene.look(run)
    assert get_status(scene.harness.herder, "b").is_stalled
    # A commit is progress.
    driver.commit(driver.begin())
    scene.look(run)
    assert not get_status(scene.harness.herder, "b").is_stalled


@pytest.mark.parametrize(("linger", "stalls"), [("29000", True), ("60000", False)])
def test_run_that_waits_for_more_data_is_no_stall(scene: Scene, linger: str, stalls: bool) -> None:
    scene.harness.create("b", {**SOURCE, "run.linger.ms": linger})
    driver = scene.harness.driver("b")
    driver.commit(driver.begin())
    run = {"b": AirflowRun("run-1", "running", None)}
    scene.look(run)
    scene.age(100)
    scene.look(run)
    assert get_status(scene.harness.herder, "b").is_stalled is stalls


def test_deleted_connectors_wait_for_nothing(scene: Scene) -> None:
    scene.topics.end = 7
    scene.look()
    connectors_before = scene.waiting()
    assert connectors_before is not None
    from connect_core.herder import connectors

    connectors.delete(scene.harness.herder, "a")
    scene.look()
    with scene.harness.database.read() as connection:
        assert connection.execute(select(Waiting.connector)).all() == []


def test_two_may_look_at_once(scene: Scene) -> None:
    scene.topics.end = 7
    lookers = [threading.Thread(target=scene.look) for _ in range(4)]
    for one in lookers:
        one.start()
    for one in lookers:
        one.join()
    found = scene.waiting()
    assert found is not None
    assert found.records == 7


def test_only_one_looks_while_somebody_does(scene: Scene) -> None:
    observer = Observer(scene.harness.database, TopicEnds(scene.topics))
    observer.look_if_nobody_does()
    scene.topics.end = 7
    Observer(scene.harness.database, TopicEnds(scene.topics)).look_if_nobody_does()
    assert scene.waiting() is None
    scene.age(16, Report)
    Observer(scene.harness.database, TopicEnds(scene.topics)).look_if_nobody_does()
    assert scene.waiting() is not None


def test_part_that_stopped_working_keeps_its_last_time(harness: Harness) -> None:
    with harness.database.write() as connection:
        reports.tell(connection, [PartUpdate("airflow")])
        worked = reports.load(connection)["airflow"].worked_at
        reports.tell(connection, [PartUpdate("airflow", "refused")])
        found = reports.load(connection)["airflow"]
        assert (found.worked_at, found.error) == (worked, "refused")
        at = connection.execute(select(now())).scalar_one() - timedelta(minutes=5)
        reports.tell(connection, [PartUpdate("scheduler", worked_at=at)])
        age = reports.load(connection)["scheduler"].worked_age
    assert age is not None
    assert 299 < age < 310


def test_list_tells_the_reason(scene: Scene) -> None:
    scene.topics.end = 7
    scene.look()
    (line,) = summarize(scene.harness.herder)
    assert (line.is_stalled, line.stalled_reason) == (False, None)
    scene.age(61)
    (line,) = summarize(scene.harness.herder)
    assert (line.is_stalled, line.stalled_cause) == (True, "unknown")
    assert line.stalled_reason is not None
    assert line.stalled_reason.startswith("7 records wait since")
    assert line.state is State.RUNNING
    assert IntervalState.COMMITTED.value == line.strip[-1].state.value

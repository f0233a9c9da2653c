"""The model adds up what it is given, and names the part that is full first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from connect_core.capacity import KINDS_OF_WORK, MEASURED, Deployment, Part, Workload, figures_with, plan_capacity
from connect_core.capacity.model import Plan
from connect_core.errors import ConfigError

FIGURES = dict.fromkeys(MEASURED, 0.0) | {
    "records.parquet.executors": 2.0,
    "interval.executors": 0.5,
    "interval.server": 0.25,
    "start.scheduler": 0.1,
    "start.task": 2.0,
    "start.seconds": 3.0,
    "broker.read": 100.0,
    "broker.written": 50.0,
    "database.commits": 1_000.0,
    "interval.commits": 20.0,
    "start.commits": 30.0,
    "base.parse": 1.0,
    "idle.parse": 0.005,
    "idle.import": 0.001,
}
WORK = Workload(connectors=1_200, busy=0.1, records=1_000_000, record_bytes=150, interval=60)


def plan(work: Workload = WORK, figures: dict[str, float] = FIGURES, **has: Any) -> Plan:
    return plan_capacity(work, Deployment(**has), figures)


def part(of: Plan, name: str) -> Part:
    (found,) = [one for one in of.parts if one.name == name]
    return found


@pytest.mark.parametrize(
    ("name", "need", "wanted"),
    [
        ("Spark executors", 1 * 2.0 + 2 * 0.5, 2),
        ("Spark Connect server", 2 * 0.25, 1),
        ("Kafka brokers", 150.0, 3),
        ("Airflow schedulers", 2.0, 1),
        ("Airflow slots", 6.0, 1),
        ("Airflow workers", 4.0, 2),
        ("Airflow triggerers, waits", 1_200, 2),
        ("Airflow DAG processor", 7.0, 1),
        ("Airflow DAG file", 1.2, 1),
        ("PostgreSQL, commits", 2 * 50.0, 1),
    ],
)
def test_parts_add_up(name: str, need: float, wanted: int) -> None:
    found = part(plan(), name)
    assert found.need == pytest.approx(need)
    assert found.wanted == wanted


def test_intervals_of_one_task_save_airflow_only() -> None:
    few = plan(replace(WORK, intervals_per_run=4))
    assert part(few, "Airflow schedulers").need == pytest.approx(0.5)
    assert part(few, "Airflow workers").need == pytest.approx(1.0)
    assert part(few, "Spark executors").need == part(plan(), "Spark executors").need
    assert part(few, "Airflow slots").need == pytest.approx(0.5 * (3 + 3 * 60))


def test_replicas_are_written_but_read_once() -> None:
    figures = FIGURES | {"records.file-to-kafka.executors": 1.0}
    written = plan(replace(WORK, kind="file-to-kafka"), figures, replication=3)
    assert part(written, "Kafka brokers").need == pytest.approx(3 * part(plan(), "Kafka brokers").need)


def test_databases_of_connectors_are_counted_where_there_are_any() -> None:
    found = plan(replace(WORK, kind="kafka-to-table"), FIGURES | {"records.kafka-to-table.database": 1.5})
    assert part(found, "The connectors' databases").need == pytest.approx(1.5)
    assert not [one for one in plan().parts if one.name == "The connectors' databases"]


def test_the_limit_is_a_part_that_is_fixed() -> None:
    found = plan()
    assert found.limit.name == "Airflow DAG processor"
    assert found.limit.used == pytest.approx(7 / 30)
    assert found.too_small == ()
    assert all(one.used <= 0.7 for one in found.parts)


def test_what_there_is_can_be_the_limit() -> None:
    found = plan(brokers=1, executors=1)
    assert found.limit.name == "Kafka brokers"
    assert [one.name for one in found.too_small] == ["Kafka brokers", "Spark executors"]


def test_a_scheduler_that_is_full_is_named_with_a_remedy() -> None:
    found = plan(replace(WORK, interval=5))
    assert found.limit.name == "Airflow schedulers"
    assert found.limit.used == pytest.approx(24 * 0.1)
    assert "run.linger.ms" in found.limit.remedy
    assert plan(replace(WORK, interval=5), schedulers=4).limit.name != "Airflow schedulers"


def test_each_unit_is_used_to_the_share_that_is_wanted() -> None:
    assert part(plan(utilisation=1.0), "Airflow workers").wanted == 1
    assert part(plan(utilisation=0.5), "Airflow workers").wanted == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "excel"},
        {"busy": 5},
        {"busy": -0.1},
        {"connectors": 0},
        {"records": -1},
        {"interval": 0},
        {"intervals_per_run": 0.5},
        {"records": float("nan")},
        {"records": float("inf")},
        {"record_bytes": 1e308},
        {"interval": float("inf")},
    ],
)
def test_impossible_work_is_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(ConfigError, match=name):
        Workload(**wrong)


@pytest.mark.parametrize("wrong", [{"utilisation": 0}, {"utilisation": 1.5}, {"brokers": 0}, {"cores": 0}])
def test_impossible_deployments_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(ConfigError, match=name):
        Deployment(**wrong)


@pytest.mark.parametrize("kind", KINDS_OF_WORK)
@pytest.mark.parametrize("connectors", [1, 10_000, 1_000_000])
def test_more_work_never_needs_less(kind: str, connectors: int) -> None:
    figures = figures_with({})
    work = Workload(connectors, kind=kind)
    less = plan(work, figures)
    for more in (
        replace(work, connectors=2 * connectors),
        replace(work, records=2 * work.records),
        replace(work, interval=30),
    ):
        found = plan(more, figures)
        pairs = zip(less.parts, found.parts, strict=True)
        assert [one.name for one, other in pairs if other.used * other.wanted < one.used * one.wanted * 0.999] == []

"""Heartbeats through a real status topic."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey
from connect_core.effects.kafka import KafkaEffects
from connect_core.interval.values import ConnectorType, IntervalCaps, TaskPlan
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.heartbeat import StatusTail, TaskHeartbeat
from tests.kafka.cluster import Cluster, await_that

pytestmark = pytest.mark.servers

KEY = IntervalKey("lines", 0, 5, 2)
PLAN = TaskPlan(KEY, ConnectorType.SINK, 1, "dep", "2-abc", 1, {}, {}, {}, IntervalCaps())


def test_driver_hears_progress_and_task_hears_stop(cluster: Cluster) -> None:
    status = cluster.create(3, cleanup_policy="compact")
    driver = KafkaEffects(cluster.clients(), "dep", "any", status)
    other = replace(KEY, sequence=4)
    assert driver.progress(KEY) == []
    stopping = threading.Event()
    with TaskHeartbeat(cluster.clients(), status, PLAN, stopping, seconds=0.5) as heartbeat:
        heartbeat.beat(100, {TopicPartition("t", 0): 100})
        await_that(lambda: driver.progress(KEY))
        (report,) = driver.progress(KEY)
        assert (report.task, report.attempt, report.records, report.is_ended) == (1, "2-abc", 100, False)
        assert report.positions == {TopicPartition("t", 0): 100}
        heartbeat.beat(150, {})
        await_that(lambda: driver.progress(KEY)[0].records == 150)
        driver.ask_to_stop(other)
        assert not stopping.wait(1)
        driver.ask_to_stop(KEY)
        assert stopping.wait(10)
    await_that(lambda: driver.progress(KEY)[0].is_ended)
    assert driver.progress(other) == []
    driver.close()


def test_short_task_says_nothing(cluster: Cluster) -> None:
    status = cluster.create(cleanup_policy="compact")
    with TaskHeartbeat(cluster.clients(), status, PLAN, threading.Event()) as heartbeat:
        heartbeat.beat(1, {})
    assert cluster.read(status) == []


def test_trouble_never_fails_the_task(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    silent = KafkaClients({"bootstrap.servers": "127.0.0.1:1", "admin.request.timeout.ms": "500"})
    with TaskHeartbeat(silent, "status", PLAN, threading.Event(), seconds=0.5) as heartbeat:
        heartbeat.beat(1, {})
        assert heartbeat._thread is not None
        heartbeat._thread.join(20)
    assert "No more heartbeats from task lines-1" in caplog.text


def test_foreign_records_are_passed_over(cluster: Cluster) -> None:
    status = cluster.create()
    tail = StatusTail(cluster.clients(), status)
    tail.open()
    for key in (b"status-task-lines-0", b"[]", b"\xff", b'["progress","lines",0]'):
        cluster.produce(status, [b'{"state":"RUNNING"}'], key=key)
    assert list(tail.poll(1.0)) == []
    tail.close()

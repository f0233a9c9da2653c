"""The simulator, ``connect standalone`` and the distributed worker run the same protocol: the same objects."""

from __future__ import annotations

import sys

import pytest

from connect_core.commit import interval as committing
from connect_core.effects import kafka as kafka_effects
from connect_core.herder import rewriting
from connect_core.kafka import control, markers, transactional_writer
from connect_core.plan import abandon, interval, run
from connect_core.run import driver, loop
from connect_core.spark import remote
from connect_core.standalone import loop as standalone
from connect_core.task import planned_source
from tests.simulator import attempts, broker, history, operators, runs

pytestmark = pytest.mark.simulator


def test_plan_commit_and_recovery_are_the_same_objects() -> None:
    assert vars(runs)["plan_interval"] is vars(driver)["plan_interval"] is interval.plan_interval
    assert vars(runs)["commit_interval"] is vars(loop)["commit_interval"] is committing.commit_interval
    assert vars(operators)["abandon"] is vars(rewriting)["abandon"] is abandon.abandon
    assert vars(runs)["begin_run"] is vars(driver)["begin_run"] is run.begin_run
    assert vars(runs)["end_run"] is vars(driver)["end_run"] is run.end_run


def test_standalone_and_distributed_run_the_same_loop() -> None:
    assert vars(standalone)["work_off"] is loop.work_off
    assert vars(remote)["drive"] is loop.drive


def test_markers_transactions_and_the_control_producer_are_the_same_objects() -> None:
    assert vars(attempts)["check_start"] is vars(planned_source)["check_start"] is markers.check_start
    assert (
        vars(attempts)["TransactionalWriter"]
        is vars(planned_source)["TransactionalWriter"]
        is transactional_writer.TransactionalWriter
    )
    assert vars(history)["control"].ControlProducer is control.ControlProducer
    assert vars(kafka_effects)["write_epoch"] is control.write_epoch
    assert vars(kafka_effects)["write_offsets"] is control.write_offsets


def test_only_the_messages_of_the_offsets_topic_are_simulated() -> None:
    own = {name for name, value in vars(broker.Topic).items() if callable(value) and not name.startswith("__")}
    assert issubclass(broker.Topic, markers.OffsetsTopic)
    assert own == {"_high_watermarks", "_ids", "_messages", "_take"}


def test_the_protocol_imports_no_system() -> None:
    """``plan`` and ``commit`` know effects only: what performs them is chosen from outside."""
    for name, module in sys.modules.items():
        if name.startswith(("connect_core.plan", "connect_core.commit")):
            known = {getattr(value, "__module__", None) or "" for value in vars(module).values()}
            assert not [one for one in known if one.startswith(("connect_core.store", "connect_core.kafka"))]

"""One DAG per stored connector, a function of what shapes it."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from airflow import __version__
from airflow.sdk import DAG, Asset, AssetAlias
from airflow.serialization import serialized_objects

from connect_core.dag.factory import connector_dags
from connect_core.dag.naming import HOUSEKEEPING_DAG_ID, VERIFICATION_DAG_ID, dag_id_of
from connect_core.dag.operators import ConnectorRunOperator
from connect_core.dag.submit import ConnectorSubmitOperator
from connect_core.interval.values import ConnectorType
from connect_core.store.schedules import ScheduledConnector

# Airflow 3.1 has one class for the DAG and how it is written.
FACTOR = 1.0 if __version__.startswith("3.1.") else 2.0
"""By how much pauses grow; Airflow 3.1 has a switch in its place, and doubles them."""
DagSerialization: Any = (
    getattr(serialized_objects, "DagSerialization", None) or vars(serialized_objects)["SerializedDAG"]
)


def source(name: str, schedule: str = "@continuous", **others: object) -> ScheduledConnector:
    return ScheduledConnector(name, ConnectorType.SOURCE, schedule, **others)  # type: ignore[arg-type]


def dag_of(connector: ScheduledConnector, spark_mode: str = "connect") -> DAG:
    return connector_dags([connector], spark_mode)[dag_id_of(connector.name)]


def test_factory_makes_a_dag_per_connector_and_housekeeping() -> None:
    dags = connector_dags([source("b"), source("a")])
    assert list(dags) == [*sorted([dag_id_of("a"), dag_id_of("b")]), HOUSEKEEPING_DAG_ID]
    assert {dag_id: dag.dag_id for dag_id, dag in dags.items()} == {dag_id: dag_id for dag_id in dags}


def test_factory_makes_housekeeping_without_any_connector() -> None:
    assert list(connector_dags([])) == [HOUSEKEEPING_DAG_ID]


def test_factory_makes_only_the_dag_a_task_needs() -> None:
    assert list(connector_dags([source("a"), source("b")], only=dag_id_of("b"))) == [dag_id_of("b")]
    assert list(connector_dags([source("a")], only=HOUSEKEEPING_DAG_ID)) == [HOUSEKEEPING_DAG_ID]


def test_verification_has_a_dag_where_it_has_a_schedule() -> None:
    dags = connector_dags([source("a")], verification="30 3 * * *")
    assert list(dags) == [dag_id_of("a"), HOUSEKEEPING_DAG_ID, VERIFICATION_DAG_ID]
    assert str(dags[VERIFICATION_DAG_ID].schedule) == "30 3 * * *"
    assert list(connector_dags([source("a")], only=VERIFICATION_DAG_ID, verification="@daily")) == [VERIFICATION_DAG_ID]
    assert list(connector_dags([source("a")], only=HOUSEKEEPING_DAG_ID, verification="@daily")) == [HOUSEKEEPING_DAG_ID]
    unreadable = connector_dags([], verification="61 * * * *")[VERIFICATION_DAG_ID]
    assert unreadable.schedule is None
    assert "61 * * * *" in (unreadable.doc_md or "")


def test_factory_makes_equal_dags_each_time() -> None:
    connectors = [source("a"), source("b", "PT5M", outlets=("kafka://c/z", "kafka://c/a")), source("c", "0 3 * * *")]
    made = [
        {dag_id: DagSerialization.to_dict(dag) for dag_id, dag in connector_dags(order).items()}
        for order in (connectors, connectors[::-1], connectors)
    ]
    assert all(one == other for one, other in pairwise(made))


def test_dag_shows_the_true_name() -> None:
    dag = dag_of(source("my sink/äöü"))
    assert dag.dag_display_name == "my sink/äöü"
    assert {"connect", "source", "my sink/äöü"} == set(dag.tags)
    assert dag.doc_md is not None
    assert "my sink\\/äöü" in dag.doc_md


def test_dag_shows_an_overlong_name() -> None:
    dag = dag_of(source("x" * 3000))
    assert len(dag.dag_display_name) == 2000
    assert max(map(len, dag.tags)) == 100


@pytest.mark.parametrize("schedule", ["@continuous", "*/5 * * * *", "PT5M", "@none", "asset:kafka://c/t"])
def test_dag_works_on_one_task_at_a_time_from_now_on(schedule: str) -> None:
    dag = dag_of(source("a", schedule))
    task = dag.get_task("run")
    assert isinstance(task, ConnectorRunOperator)
    assert (task.max_active_tis_per_dag, task.start_from_trigger) == (1, False)
    assert (dag.catchup, dag.is_paused_upon_creation) == (False, False)
    assert dag.start_date == dag_of(source("b")).start_date


def test_continuous_dag_is_scheduled_on_what_the_watcher_finds() -> None:
    dags = [dag_of(source("a")), dag_of(source("b"))]
    assets: list[Any] = [dag.schedule for dag in dags]
    assert [asset.name for asset in assets] == [f"work-{dag_id_of(name)}" for name in "ab"]
    assert [watcher.trigger.connector for asset in assets for watcher in asset.watchers] == ["a", "b"]


def test_only_a_continuous_dag_may_have_a_run_made_before_another_has_ended() -> None:
    assert [dag_of(source("a", schedule)).max_active_runs for schedule in ("@continuous", "PT5M")] == [3, 1]


@pytest.mark.parametrize("spark_mode", ["connect", "submit"])
def test_task_has_no_template_and_backs_off(spark_mode: str) -> None:
    task = dag_of(source("{{ 7 * 7 }}", retries=4, pool="etl"), spark_mode).get_task("run")
    assert tuple(task.template_fields) == ()
    assert (task.retries, task.pool) == (4, "etl")
    assert (task.retry_delay, float(task.retry_exponential_backoff)) == (timedelta(seconds=5), FACTOR)
    assert task.max_retry_delay == timedelta(minutes=10)


def test_task_is_the_submit_operator_in_that_mode() -> None:
    assert isinstance(dag_of(source("a"), "submit").get_task("run"), ConnectorSubmitOperator)


def test_task_has_outlets_and_an_alias_for_those_it_finds() -> None:
    task = dag_of(source("a", outlets=("kafka://c/t", "file:///out"))).get_task("run")
    assert task.outlets == [AssetAlias(dag_id_of("a")), Asset(uri="file:///out"), Asset(uri="kafka://c/t")]


@pytest.mark.parametrize("broken", [source("a", "junk"), source("a", outlets=("airflow://x",))])
def test_dag_that_cannot_be_scheduled_takes_no_other_down(broken: ScheduledConnector) -> None:
    dags = connector_dags([broken, source("b")])
    doc = dags[dag_id_of("a")].doc_md
    assert dags[dag_id_of("a")].schedule is None
    assert doc is not None
    assert "only when triggered" in doc
    scheduled: Any = dags[dag_id_of("b")].schedule
    assert scheduled.name == f"work-{dag_id_of('b')}"


def test_dag_holds_no_config() -> None:
    text = str(DagSerialization.to_dict(dag_of(source("a"))))
    assert "connector.class" not in text


def test_dag_makes_up_for_runs_missed_since_its_connector_was_made() -> None:
    dag = dag_of(source("a", "@hourly", catchup_since="2026-11-23T10:30:00+00:00"))
    assert (dag.catchup, dag.start_date) == (True, datetime(2026, 11, 23, 10, 30, tzinfo=UTC))
    assert not dag_of(source("a", "@hourly")).catchup

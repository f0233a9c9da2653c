"""What the API offers beyond Connect's: every answer fits the shape OpenAPI describes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from fastapi import FastAPI
from pydantic import TypeAdapter
from sqlalchemy import update

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey, PartitionRange
from connect_core.herder import (
    connectors,
    history,
    intervals,
    lag,
    lifecycle,
    offsets,
    overview,
    rewind,
    schemas,
    verification,
)
from connect_core.interval.effects import InsertInterval, LoadConnector, RaiseEpoch
from connect_core.interval.values import (
    Counts,
    IntervalRow,
    IntervalState,
    TaskError,
    TaskOutcome,
    TaskResult,
)
from connect_core.rest import Links, LoopbackAuthorizer
from connect_core.rest.v1 import entities
from connect_core.store import silences
from connect_core.store.models import OffsetHistory
from connect_core.store.retention import Retention, sweep
from tests.herder.exports import Export, world_of
from tests.herder.harness import SINK, SOURCE, Harness
from tests.rest.conftest import Client, app_of
from tests.schema_registry.fault_server import Answer, fault_server, schema

pytestmark = pytest.mark.slow

LINES = TopicPartition("lines", 0)


def done(records: int, task: int = 0) -> TaskResult:
    return TaskResult(task, TaskOutcome.DONE, counts=Counts(records=records), host="spark:1")


def commit_sink(harness: Harness, start: int, end: int, name: str = "a") -> int:
    """Commit one interval of a sink that read lines-0 from start to end."""
    driver = harness.driver(name)
    assert driver.plan()
    driver.epoch = driver.do(RaiseEpoch(name, "driver"))
    state = driver.do(LoadConnector(name))
    key = IntervalKey(name, state.incarnation, state.sequence + 1, driver.epoch)
    ranges = (PartitionRange("lines", 0, start, end),)
    row = IntervalRow(key, IntervalState.PLANNED, state.config_version, "assignment", tasks=1, ranges=ranges)
    driver.do(InsertInterval(row))
    driver.commit(key, [done(end - start)], positions={LINES: end})
    return key.sequence


def fits(shape: Any, value: Any) -> Mapping[str, Any]:
    """Check that an answer is what its description makes of it, no field more or less."""
    assert orjson.loads(orjson.dumps(TypeAdapter(shape).validate_python(value))) == value
    return dict(value)


@pytest.fixture
def sink(harness: Harness) -> Harness:
    """A sink that has committed [0, 10), [10, 25) and [25, 30)."""
    harness.create(config={**SINK, "tags": "night, files"})
    for start, end in ((0, 10), (10, 25), (25, 30)):
        commit_sink(harness, start, end)
    return harness


def test_list_shows_each_connector_at_a_glance(sink: Harness, call: Client) -> None:
    sink.create("b")
    answer = call("GET", "/v1/connectors")
    found = fits(overview.ConnectorSummaryList, answer.json)["connectors"]
    assert [one["name"] for one in found] == ["a", "b"]
    first = found[0]
    assert first["state"] == "RUNNING"
    assert first["tasks"] == {"RUNNING": 1}
    assert [mark["records"] for mark in first["strip"]] == [10, 15, 5]
    assert first["tags"] == ["files", "night"]
    assert (first["guarantee"], first["schedule"], first["lag"]) == ("exactly-once", "@continuous", None)
    assert first["last_success_at"] is not None
    assert (found[1]["state"], found[1]["strip"]) == ("UNASSIGNED", [])


def test_failed_connector_says_why_in_a_line(harness: Harness, call: Client) -> None:
    harness.create()
    driver = harness.driver()
    error = TaskError(
        "ValueError",
        "no such table",
        'Traceback (most recent call last):\n  File "x"\nValueError: no such table\n',
        False,
    )
    driver.fail(driver.begin(), [TaskResult(0, TaskOutcome.FAILED, error=error)])
    (found,) = call("GET", "/v1/connectors").json["connectors"]
    assert found["trace_line"] == "ValueError: no such table"
    shown = fits(overview.ConnectorOverview, call("GET", "/v1/connectors/a").json)
    assert shown["task_views"][0]["trace"].startswith("Traceback")


def test_intervals_come_in_pages(sink: Harness, call: Client) -> None:
    first = fits(intervals.IntervalPage, call("GET", "/v1/connectors/a/intervals?limit=2").json)
    assert [one["sequence"] for one in first["intervals"]] == [3, 2]
    assert first["intervals"][0]["ranges"] == [{"topic": "lines", "partition": 0, "start": 25, "end": 30}]
    assert first["intervals"][0]["counts"]["records"] == 5
    last = call("GET", f"/v1/connectors/a/intervals?limit=2&before={first['next']}").json
    assert ([one["sequence"] for one in last["intervals"]], last["next"]) == ([1], None)


def test_interval_shows_its_tasks(sink: Harness, call: Client) -> None:
    found = fits(intervals.IntervalWithTasks, call("GET", "/v1/connectors/a/intervals/2").json)
    assert [(task["outcome"], task["counts"]["records"]) for task in found["tasks"]] == [("DONE", 15)]
    assert call("GET", "/v1/connectors/a/intervals/9").status == 404
    assert call("GET", "/v1/connectors/a/intervals/x").status == 400
    assert call("GET", "/v1/connectors/b/intervals").status == 404


def test_links_lead_to_airflow(harness: Harness, serve: Callable[[FastAPI], Client]) -> None:
    harness.create()
    harness.driver().begin()
    links = Links(lambda name: f"dag-{name}", "http://airflow:8080/", "http://spark:4040")
    call = serve(app_of(harness, LoopbackAuthorizer(), links=links, deployment="rest"))
    (found,) = call("GET", "/v1/connectors/a/intervals").json["intervals"]
    assert found["run_url"] == "http://airflow:8080/dags/dag-a/runs/run-1"
    assert found["spark_url"] == "http://spark:4040"
    assert call("GET", "/v1/connectors/a").json["dag_url"] == "http://airflow:8080/dags/dag-a"
    worker = fits(entities.WorkerInfo, call("GET", "/v1/worker").json)
    assert (worker["deployment"], worker["airflow_url"]) == ("rest", "http://airflow:8080")


def test_rewind_reads_again_what_the_preview_said(sink: Harness, call: Client) -> None:
    preview = fits(rewind.OffsetsPreview, call("POST", "/v1/connectors/a/offsets/preview", {"to": 2}).json)
    assert (preview["intervals"], preview["records"]) == ([3, 2], 20)
    assert [(one["before"], one["after"], one["again"]) for one in preview["changes"]] == [
        ({"kafka_offset": 30}, {"kafka_offset": 10}, 20)
    ]
    assert "stopped" in preview["obstacle"]
    refused = call("POST", "/v1/connectors/a/rewind", {"to": 2})
    assert refused.status == 400
    lifecycle.stop(sink.herder, "a")
    done = fits(rewind.Rewound, call("POST", "/v1/connectors/a/rewind", {"to": 2}).json)
    assert done["preview"]["records"] == 20
    assert call("GET", "/connectors/a/offsets").json["offsets"][0]["offset"] == {"kafka_offset": 10}
    assert "Nothing has changed" not in done["message"]


def test_reset_and_altered_offsets_have_a_preview(sink: Harness, call: Client) -> None:
    reset = call("POST", "/v1/connectors/a/offsets/preview", {"reset": True}).json
    assert (reset["intervals"], reset["records"]) == ([3, 2, 1], 30)
    partition = {"kafka_topic": "lines", "kafka_partition": 0}
    wanted = {"offsets": [{"partition": partition, "offset": {"kafka_offset": 12}}]}
    altered = call("POST", "/v1/connectors/a/offsets/preview", wanted).json
    assert (altered["changes"][0]["again"], altered["records"]) == (18, None)
    wanted["offsets"][0]["offset"] = {"kafka_offset": 25}
    assert call("POST", "/v1/connectors/a/offsets/preview", wanted).json["records"] == 5


@pytest.mark.parametrize("body", [{}, {"to": 0}, {"to": 1, "reset": True}, {"upto": 1}, [], b"", b"{", {"to": "x"}])
def test_unclear_previews_are_refused(sink: Harness, call: Client, body: Any) -> None:
    assert call("POST", "/v1/connectors/a/offsets/preview", body).status == 400
    assert call("POST", "/v1/connectors/a/rewind", {"to": 9}).status == 404


@pytest.mark.parametrize("forgotten", [1, 2, 3])
def test_rewind_beyond_the_history_of_offsets_is_refused(sink: Harness, call: Client, forgotten: int) -> None:
    """The last 100 intervals stay in the history, however old; moves of offsets do not."""
    lifecycle.stop(sink.herder, "a")
    with sink.database.write() as connection:
        mine = update(OffsetHistory).where(OffsetHistory.sequence <= forgotten)
        connection.execute(mine.values(moved_at=datetime.now(UTC) - timedelta(days=40)))
    assert sweep(sink.database, Retention(timedelta(days=30), 10_000))["offset moves"] == forgotten
    for path in ("rewind", "offsets/preview"):
        refused = call("POST", f"/v1/connectors/a/{path}", {"to": forgotten})
        assert (refused.status, "does not reach back" in refused.text) == (400, True), path
    assert call("GET", "/connectors/a/offsets").json["offsets"][0]["offset"] == {"kafka_offset": 30}


def test_rewind_to_the_first_interval(sink: Harness, call: Client) -> None:
    lifecycle.stop(sink.herder, "a")
    assert call("POST", "/v1/connectors/a/rewind", {"to": 1}).json["preview"]["records"] == 30
    assert call("GET", "/connectors/a/offsets").json["offsets"] == []


def test_rewound_offsets_are_in_the_history(sink: Harness, call: Client) -> None:
    lifecycle.stop(sink.herder, "a")
    call("POST", "/v1/connectors/a/rewind", {"to": 3})
    moves = fits(offsets.OffsetMoveList, call("GET", "/v1/connectors/a/offsets/history?limit=2").json)
    assert [(one["cause"], one["after"]) for one in moves["moves"]] == [
        ("alter", {"kafka_offset": 25}),
        ("interval", {"kafka_offset": 30}),
    ]
    acts = fits(history.ActRecordList, call("GET", "/v1/connectors/a/acts").json)["acts"]
    assert acts[0]["action"] == "alter offsets"


def test_config_history_shows_what_changed(harness: Harness, call: Client) -> None:
    harness.create(config={**SOURCE, "some.password": "one"})
    connectors.put_config(harness.herder, "a", {**SOURCE, "topic": "other", "some.password": "two"})
    versions = fits(history.ConfigVersionList, call("GET", "/v1/connectors/a/config/history").json)["versions"]
    assert [one["version"] for one in versions] == [2, 1]
    changes = {one["key"]: (one["before"], one["after"]) for one in versions[0]["changes"]}
    assert changes == {"topic": ("lines", "other"), "some.password": ("[hidden]", "[hidden]")}
    assert {one["key"] for one in versions[1]["changes"]} == {*SOURCE, "name", "some.password"}


def test_lag_says_why_it_is_not_known(harness: Harness, call: Client) -> None:
    harness.create()
    found = fits(lag.Lag, call("GET", "/v1/connectors/a/lag").json)
    assert found["lag"] is None
    assert "source" in found["reason"]


AVRO = {"value.converter": "io.confluent.connect.avro.AvroConverter", "value.converter.schema.registry.url": "URL"}


def test_schemas_of_topics_are_shown(harness: Harness, call: Client) -> None:
    with fault_server() as registry:
        registry.answers["/subjects/lines-value/versions/latest"] = [schema(id=8, version=3)]
        avro = {key: value.replace("URL", registry.url) for key, value in AVRO.items()}
        harness.create("s", {**SINK, **avro, "topics": "lines,new"})
        found = fits(schemas.TopicSchemaList, call("GET", "/v1/connectors/s/schemas").json)
    first, second = found["schemas"]
    assert (first["topic"], first["part"], first["subject"], first["id"]) == ("lines", "value", "lines-value", 8)
    assert (first["version"], first["language"], first["registry"]) == (3, "AVRO", registry.url)
    assert (second["subject"], second["id"], second["error"]) == ("new-value", None, "not registered yet")


def test_a_registry_that_hangs_costs_some_seconds_and_shows_no_login(harness: Harness, call: Client) -> None:
    with fault_server() as registry:
        registry.answers["/subjects/lines-value/versions/latest"] = [Answer(seconds=4)]
        login = registry.url.replace("http://", "http://somebody:s3cret-word@")
        avro = {key: value.replace("URL", login) for key, value in AVRO.items()}
        harness.create("s", {**SINK, **avro, "topics": "lines,other"})
        began = time.monotonic()
        answered = call("GET", "/v1/connectors/s/schemas")
        took = time.monotonic() - began
    errors = [one["error"] for one in fits(schemas.TopicSchemaList, answered.json)["schemas"]]
    assert "timed out" in errors[0]
    assert errors[1] == "not queried: the registry took more than 2 s"
    assert "s3cret-word" not in answered.text
    assert took < 10


def test_without_a_registry_there_are_no_schemas(harness: Harness, call: Client) -> None:
    harness.create("s", SINK)
    assert call("GET", "/v1/connectors/s/schemas").json == {"schemas": [], "reason": None}
    assert call("GET", "/v1/connectors/nobody/schemas").status == 404


def test_nothing_skipped_is_an_empty_list(harness: Harness, call: Client) -> None:
    harness.create("s", {**SINK, "errors.deadletterqueue.topic.name": "dead"})
    found = fits(history.SkippedRecords, call("GET", "/v1/connectors/s/skipped").json)
    assert (found["lines"], found["records"], found["dead_letter_topic"]) == ([], 0, "dead")


def test_run_now_asks_the_scheduler(harness: Harness, call: Client) -> None:
    harness.create()
    answer = call("POST", "/v1/connectors/a/run")
    assert (answer.status, fits(entities.RunStarted, answer.json)["run_id"]) == (202, "manual-1")
    assert harness.scheduler.calls[-1] == ("trigger", "a")
    assert call("POST", "/v1/connectors/b/run").status == 404


@pytest.mark.parametrize("path", ["/metrics", "/v1/metrics"])
def test_metrics_are_prometheus(sink: Harness, call: Client, path: str) -> None:
    answer = call("GET", path, headers={"Accept": "text/plain"})
    assert answer.headers["content-type"].startswith("text/plain")
    lines = answer.text.splitlines()
    assert 'connect_connector_state{connector="a",state="RUNNING"} 1.0' in lines
    assert 'connect_tasks{connector="a",state="RUNNING"} 1.0' in lines
    assert 'connect_records_total{connector="a"} 30.0' in lines
    assert 'connect_intervals_total{connector="a",state="COMMITTED"} 3.0' in lines


def test_list_says_since_when_airflow_has_not_answered(sink: Harness, call: Client) -> None:
    assert call("GET", "/v1/connectors").json["scheduler_silences"] == []
    since = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    with sink.database.write() as connection:
        silences.note(connection, silences.Silence("watcher", since, "ReadTimeout: timed out"))
    found = fits(overview.ConnectorSummaryList, call("GET", "/v1/connectors").json)
    (told,) = found["scheduler_silences"]
    assert (told["observer"], told["reason"]) == ("watcher", "ReadTimeout: timed out")
    assert datetime.fromisoformat(told["since"]) == since
    with sink.database.write() as connection:
        silences.forget(connection, "watcher")
    assert call("GET", "/v1/connectors").json["scheduler_silences"] == []


def test_sink_is_recounted(harness: Harness, tmp_path: Path, serve: Callable[[FastAPI], Client]) -> None:
    export = Export(world_of(harness, tmp_path), tmp_path).create()
    export.run([{"n": 1}, {"n": 2}])
    export.run([{"n": 3}])
    call = serve(app_of(export.harness, LoopbackAuthorizer()))
    found = fits(verification.Verification, call("POST", "/v1/connectors/a/verify").json)
    assert (found["rows"], found["found"], found["difference_count"]) == (3, 3, 0)
    export.files()[0].unlink()
    found = fits(verification.Verification, call("POST", "/v1/connectors/a/verify").json)
    assert [(one["kind"], one["interval"]) for one in found["differences"]] == [("missing", 1)]
    later = fits(verification.Verification, call("POST", "/v1/connectors/a/verify?from=2&to=9&seconds=5").json)
    assert (later["first"], later["last"], later["differences"]) == (2, 2, [])
    assert call("POST", "/v1/connectors/a/verify?from=2&to=1").status == 400
    assert call("POST", "/v1/connectors/b/verify").status == 404

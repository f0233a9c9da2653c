"""How a run's end becomes the end of Airflow's task."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException, AirflowSkipException
from airflow.sdk import DAG, Asset, AssetAlias
from airflow.sdk.execution_time.context import OutletEventAccessors

from connect_core.dag.connector_task import ConnectorTask
from connect_core.errors import ConnectError, LeaseLostError, RetriableError
from connect_core.interval.runs import RunOutcome, RunRequest, RunStatus

MOVED = RunOutcome(RunStatus.DRAINED, intervals=2, records=7, outlets=("kafka://c/found", "kafka://c/told"))
IDLE = RunOutcome(RunStatus.IDLE, wait=True)
BOUND = datetime(2026, 1, 1, tzinfo=UTC)
LATER = BOUND + timedelta(days=1)


class ScriptedTask(ConnectorTask):
    """Ends each run as it was told."""

    def __init__(self, *, end: RunOutcome | ConnectError, **others: Any) -> None:
        super().__init__(**others)
        self.end = end
        self.requests: list[RunRequest] = []

    def drive(self, request: RunRequest, context: Any) -> RunOutcome:
        """Remember the request and end."""
        self.requests.append(request)
        if isinstance(self.end, ConnectError):
            raise self.end
        return self.end


def task(end: RunOutcome | ConnectError, continuous: bool = True) -> ScriptedTask:
    outlets = [AssetAlias("alias"), Asset(uri="kafka://c/told")]
    with DAG("dag", schedule=None):
        return ScriptedTask(task_id="run", connector="a", continuous=continuous, outlets=outlets, end=end)


def context(run_type: str = "scheduled", try_number: int = 1, schedule: Any = "0 * * * *") -> Any:
    return {
        "dag": SimpleNamespace(schedule=schedule),
        "ti": SimpleNamespace(try_number=try_number, max_tries=3),
        "dag_run": SimpleNamespace(
            run_type=run_type,
            run_id=f"{run_type}__1",
            data_interval_start=BOUND,
            data_interval_end=BOUND,
            start_date=LATER,
            run_after=LATER,
        ),
        "outlet_events": OutletEventAccessors(),
    }


def test_request_carries_ids_only() -> None:
    made = task(MOVED)
    made.execute(context())
    assert made.requests == [RunRequest("a", "scheduled__1", True, False, False, BOUND)]


@pytest.mark.parametrize(("run_type", "try_number"), [("manual", 1), ("asset_triggered", 2)])
def test_request_of_a_wanted_run_or_another_try_is_asked(run_type: str, try_number: int) -> None:
    made = task(MOVED)
    made.execute(context(run_type, try_number))
    assert made.requests[0].asked


@pytest.mark.parametrize("run_type", ["scheduled", "asset_triggered"])
def test_request_of_a_run_that_airflow_made_by_itself_is_not_asked(run_type: str) -> None:
    made = task(MOVED)
    made.execute(context(run_type))
    assert not made.requests[0].asked


@pytest.mark.parametrize(
    ("schedule", "begin", "since"),
    [
        ("0 * * * *", BOUND, BOUND - timedelta(hours=1)),
        ("@daily", BOUND, BOUND - timedelta(days=1)),
        (timedelta(minutes=5), BOUND, BOUND - timedelta(minutes=5)),
        ("0 * * * *", BOUND - timedelta(hours=2), BOUND - timedelta(hours=2)),
    ],
)
def test_backfill_asks_for_the_time_before_its_data_interval_ends(
    schedule: Any, begin: datetime, since: datetime
) -> None:
    made, where = task(MOVED, continuous=False), context("backfill", 2, schedule)
    where["dag_run"].data_interval_start = begin
    made.execute(where)
    asked = RunRequest("a", "backfill__1", asked=False, last_try=False, bound_time=BOUND, since=since, begun_at=LATER)
    assert made.requests == [asked], "a connector that has failed is not tried by it"


def test_backfill_of_a_schedule_that_names_no_time_fails() -> None:
    made = task(MOVED)
    with pytest.raises(AirflowFailException, match="does not define when"):
        made.execute(context("backfill", schedule=None))
    assert made.requests == []


def test_run_without_a_data_interval_ends_by_its_own_time() -> None:
    made, where = task(MOVED), context("manual")
    where["dag_run"].data_interval_end = None
    made.execute(where)
    assert made.requests[0].bound_time == LATER


def test_run_of_assets_ends_by_the_time_all_of_them_have_reached() -> None:
    def event(hours: int, told: object = None) -> Any:
        return SimpleNamespace(timestamp=BOUND + timedelta(hours=hours), extra={"bound_time": told} if told else None)

    made, where = task(MOVED, continuous=False), context("asset_triggered")
    where["dag_run"].data_interval_end = None
    sent = {"a": [event(1), event(5)], "b": [event(9, (BOUND + timedelta(hours=3)).isoformat()), event(2, "soon")]}
    where["triggering_asset_events"] = sent
    made.execute(where)
    assert made.requests[0].bound_time == BOUND + timedelta(hours=3)


def test_request_knows_the_last_try() -> None:
    made = task(MOVED)
    made.execute(context(try_number=4))
    assert made.requests[0].last_try


def test_run_that_moved_ends_with_asset_events() -> None:
    made, where = task(MOVED), context()
    summary = made.execute(where)
    events, metadata = where["outlet_events"], {"connector": "a", **summary}
    assert summary == {"status": "drained", "reason": "", "intervals": 2, "records": 7}
    assert events[Asset(uri="kafka://c/told")].extra == metadata
    found = events[AssetAlias("alias")].asset_alias_events
    assert [(event.dest_asset_key.uri, event.extra) for event in found] == [("kafka://c/found", metadata)]


def test_events_tell_what_was_finished_also_by_an_earlier_try() -> None:
    told = {"records": 5, "bound_time": BOUND.isoformat(), "paths": ["/lake/a.parquet"]}
    made, where = task(RunOutcome(RunStatus.IDLE, finished=told), continuous=False), context(try_number=2)
    assert made.execute(where)["records"] == 0
    extra = where["outlet_events"][Asset(uri="kafka://c/told")].extra
    assert {key: extra[key] for key in told} == told


def test_run_that_moved_nothing_has_no_asset_events() -> None:
    made = task(IDLE, continuous=False)
    assert made.execute(context()) == {"status": "idle", "reason": "", "intervals": 0, "records": 0}
    assert made.outlets == []


def test_idle_run_of_a_continuous_connector_ends() -> None:
    assert task(IDLE).execute(context("asset_triggered"))["status"] == "idle"


def test_run_of_a_failed_connector_fails_with_the_reason() -> None:
    with pytest.raises(AirflowFailException, match="a wrong key"):
        task(RunOutcome(RunStatus.FAILED, reason="a wrong key", wait=True)).execute(context())


HELD = RunOutcome(RunStatus.SKIPPED, reason="another run holds a")


def test_run_of_a_held_connector_is_skipped_with_the_reason() -> None:
    with pytest.raises(AirflowSkipException, match="another run holds a"):
        task(HELD, continuous=False).execute(context())
    with pytest.raises(AirflowSkipException, match="another run holds a"):
        task(HELD).execute(context("manual"))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ConnectError("no such topic"), AirflowFailException),
        (RetriableError("broker down"), AirflowException),
        (LeaseLostError("taken"), AirflowSkipException),
    ],
)
def test_error_says_whether_another_try_helps(error: ConnectError, expected: type[Exception]) -> None:
    with pytest.raises(AirflowException, match=str(error)) as raised:
        task(error).execute(context())
    assert type(raised.value) is expected

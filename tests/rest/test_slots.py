"""The time slots of an export and exporting them again, over REST."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI

from connect_core.errors import IllegalWorkerStateError
from connect_core.herder import backfills, slot_calendar
from connect_core.rest import LoopbackAuthorizer
from connect_core.rest.auth import Method
from tests.benchmarks.rest import statements
from tests.herder.exports import world_of
from tests.herder.harness import Harness
from tests.herder.hours import FULL, HOUR, HourlyExport
from tests.rest.conftest import Client, app_of
from tests.rest.test_v1 import fits

pytestmark = pytest.mark.slow


class Readers(LoopbackAuthorizer):
    """Lets everybody read, and nothing else."""

    def allows(self, caller: Any, method: Method, connector: str | None) -> bool:
        return method == "GET"


SLOTS, BACKFILL = "/v1/connectors/hourly/slots", "/v1/connectors/hourly/backfill"


@pytest.fixture
def export(harness: Harness, tmp_path: Path) -> HourlyExport:
    made = HourlyExport(world_of(harness, tmp_path)).create()
    made.live(FULL - 2 * HOUR)
    made.live(FULL - HOUR, late=1)
    return made


def period(hours: int, until: int = 0) -> dict[str, str]:
    return {"from": (FULL - hours * HOUR).isoformat(), "to": (FULL - until * HOUR).isoformat()}


def query(given: dict[str, str]) -> str:
    return "&".join(f"{key}={quote(value)}" for key, value in given.items())


def test_slots_of_a_period(export: HourlyExport, call: Client) -> None:
    found = fits(slot_calendar.SlotCalendar, call("GET", f"{SLOTS}?{query(period(3))}").json)
    assert [slot["state"] for slot in found["slots"]] in (["finished", "late", "missing"], ["finished", "late", "due"])
    assert (found["schedule"], found["timezone"], found["obstacle"]) == ("0 * * * *", "UTC", None)
    assert len(call("GET", SLOTS).json["slots"]) in (167, 168, 169)


def test_refused_periods(export: HourlyExport, call: Client) -> None:
    assert call("GET", f"{SLOTS}?{query(period(32 * 24))}").status == 400
    assert call("GET", f"{SLOTS}?from=yesterday").status == 400
    assert call("GET", f"{SLOTS}?from=2026-01-01T00:00:00").status == 400, "a time needs a zone"
    assert call("GET", "/v1/connectors/nobody/slots").status == 404


def test_number_of_statements_does_not_depend_on_the_history(export: HourlyExport, call: Client) -> None:
    counts = []
    for hours in range(3):
        export.live(FULL + hours * HOUR)
        with statements(export.harness.database) as seen:
            assert call("GET", f"{SLOTS}?{query(period(48))}").status == 200
        counts.append(len([one for one in seen if one.startswith(("SELECT", "WITH"))]))
    assert counts == [11, 11, 11]


def test_a_slot_is_exported_again(export: HourlyExport, harness: Harness, call: Client) -> None:
    answer = call("POST", BACKFILL, period(2, 1))
    assert answer.status == 202
    assert fits(backfills.BackfillStarted, answer.json)["slots"] == 1
    end = (FULL - HOUR).isoformat()
    assert harness.scheduler.calls[-1] == (f"backfill {end} {end}", "hourly")
    assert call("GET", "/v1/connectors/hourly/acts").json["acts"][0]["action"] == "backfill"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"from": "2026-01-01T00:00:00", "to": "2026-01-01T01:00:00"}, 400),
        ({**period(2, 1), "more": 1}, 400),
        (period(1), 409),
        (period(1, 2), 400),
    ],
)
def test_refused_backfills(export: HourlyExport, call: Client, body: dict[str, str], status: int) -> None:
    assert call("POST", BACKFILL, body).status == status


def test_what_the_scheduler_refuses_is_answered(
    export: HourlyExport, harness: Harness, call: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.scheduler.is_down = True
    assert call("POST", BACKFILL, period(2, 1)).status == 503

    def refuse(*_: object) -> None:
        raise IllegalWorkerStateError("A backfill of this connector is running in Airflow: wait for its end")

    monkeypatch.setattr(type(harness.scheduler), "backfill", refuse)
    answer = call("POST", BACKFILL, period(2, 1))
    assert (answer.status, answer.json["message"]) == (
        409,
        "A backfill of this connector is running in Airflow: wait for its end",
    )


def test_who_may_only_read_sees_slots_and_exports_nothing(
    export: HourlyExport, harness: Harness, serve: Callable[[FastAPI], Client]
) -> None:
    call = serve(app_of(harness, Readers()))
    assert call("GET", f"{SLOTS}?{query(period(2))}").status == 200
    assert call("POST", BACKFILL, period(2, 1)).status == 403
    assert not [act for act, _ in harness.scheduler.calls if act.startswith("backfill")]

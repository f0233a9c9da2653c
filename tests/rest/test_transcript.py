"""Every step of the real worker's transcript, over HTTP; what moves records is the integration tests'."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connect_core.herder import connectors
from tests.herder.harness import Harness
from tests.herder.test_transcript import MOVING
from tests.rest import replay
from tests.rest.conftest import Client
from tests.rest.described import undescribed

pytestmark = pytest.mark.slow


TRANSCRIPT = Path(__file__).with_name("transcript.json")
RESTARTED = ("restart-190-failed-now-running",)
"""Steps that wait for a task which nothing here has made fail."""


@pytest.fixture
def info_level() -> Iterator[None]:
    """Let the root logger have the level a worker gives it."""
    before = logging.getLogger().level
    logging.getLogger().setLevel(logging.INFO)
    yield
    logging.getLogger().setLevel(before)


def plan_all(harness: Harness) -> None:
    """Let the drivers of all connectors see what is wanted by now."""
    for name in connectors.list_names(harness.herder):
        harness.scheduler.plan(name)


def outcome(base: str, step: dict[str, Any]) -> list[Any]:
    status, headers, text = replay.exchange(base, step, step["expect"]["status"])
    request = step["request"]
    is_json = "json" in headers.get("content-type", "")
    shape = undescribed(request["method"], request["path"], status, text) if is_json and status < 300 else ()
    return [*replay.check(step, status, headers, text, False), *shape]


@pytest.mark.timeout(120)
@pytest.mark.usefixtures("info_level")
def test_every_step_is_answered_as_by_the_real_worker(call: Client, harness: Harness, tmp_path: Path) -> None:
    differing = {}
    for raw in json.loads(TRANSCRIPT.read_text("utf-8"))["steps"]:
        step = replay.subst(raw, {"DIR": str(tmp_path), "BASE": call.base})
        plan_all(harness)
        if step["id"] in (*MOVING, *RESTARTED):
            step.pop("wait_until", None)
            replay.exchange(call.base, step, step["expect"]["status"])
        elif found := outcome(call.base, step):
            differing[step["id"]] = found
    assert differing == {}

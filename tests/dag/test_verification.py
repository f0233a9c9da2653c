"""The task that recounts all sinks: one that differs, does not answer or is gone holds up no other."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException

from connect_core.dag import verification
from connect_core.dag.verification import VerifyOperator, recount_sinks
from connect_core.errors import RetriableError
from connect_core.herder import verification as recounting
from connect_core.herder.context import Herder
from connect_core.herder.verification import Verification, VerificationRequest
from tests.herder.conftest import harness
from tests.herder.exports import EXPORT, Export, world_of
from tests.herder.harness import SOURCE, Harness
from tests.store.databases import sqlite_template

__all__ = ["harness", "sqlite_template"]

pytestmark = pytest.mark.slow


@pytest.fixture
def world(harness: Harness, tmp_path: Path) -> Harness:
    """Two sinks, and a source, which has nothing to recount."""
    made = world_of(harness, tmp_path)
    made.create("lines", SOURCE)
    for name in ("good", "harmed"):
        Export(made, tmp_path, {**EXPORT, "path": name}, name).create().run([{"n": number} for number in range(3)])
    return made


def harm(folder: Path) -> str:
    """Delete a file that a manifest of the sink ``harmed`` names → its name."""
    file = min(place for place in (folder / "harmed").rglob("*.parquet") if "_connect" not in place.parts)
    file.unlink()
    return file.name


def execute(herder: Herder, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    @contextmanager
    def opened(actor: str) -> Iterator[Herder]:
        yield herder

    monkeypatch.setattr(verification, "opened_herder", opened)
    return VerifyOperator(task_id="verify").execute(SimpleNamespace())  # type: ignore[arg-type]


def test_sinks_without_a_difference(world: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    assert execute(world.herder, monkeypatch) == {"verified": 2, "incomplete": [], "not recountable": []}


def test_differences_fail_the_task_for_good_and_are_in_its_log(
    world: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file = harm(tmp_path)
    with (
        caplog.at_level(logging.ERROR),
        pytest.raises(AirflowFailException, match=r"^Sinks that differ from .*: 1\. harmed: missing"),
    ):
        execute(world.herder, monkeypatch)
    assert file in caplog.text
    assert recount_sinks(world.herder, 60).verified == ["good"]


def test_a_target_that_does_not_answer_is_tried_again_and_holds_up_no_other(
    world: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = recounting.verify

    def verify(herder: Herder, name: str, wanted: VerificationRequest) -> Verification:
        if name == "good":
            raise RetriableError("the store is away")
        return real(herder, name, wanted)

    monkeypatch.setattr(recounting, "verify", verify)
    with pytest.raises(
        AirflowException, match=r"^Sinks that could not be recounted: 1\. good: the store is away$"
    ) as raised:
        execute(world.herder, monkeypatch)
    assert not isinstance(raised.value, AirflowFailException)
    harm(tmp_path)
    with pytest.raises(AirflowFailException, match="harmed"):
        execute(world.herder, monkeypatch)


def test_time_that_runs_out_is_no_difference(world: Harness) -> None:
    assert recount_sinks(world.herder, 0).incomplete == ["good", "harmed"]

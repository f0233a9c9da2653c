"""The waits of deferred runs."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.triggers.base import TriggerEvent

from connect_core.dag.trigger import ConnectorWaitTrigger, is_asked


def trigger(run_type: str, try_number: int = 1) -> ConnectorWaitTrigger:
    made = ConnectorWaitTrigger("a")
    run = {"dag_run": SimpleNamespace(run_type=run_type)}
    made._task_instance = SimpleNamespace(try_number=try_number, get_template_context=lambda: run)
    return made


def first_event(made: ConnectorWaitTrigger) -> TriggerEvent:
    async def run() -> Any:
        return await anext(aiter(made.run()))

    return asyncio.run(run())  # type: ignore[no-any-return]


@pytest.mark.parametrize(("run_type", "try_number"), [("manual", 1), ("scheduled", 2)])
def test_trigger_of_a_wanted_run_does_not_wait(run_type: str, try_number: int) -> None:
    assert first_event(trigger(run_type, try_number)).payload == {"reason": "asked"}


def test_trigger_can_be_made_again_from_what_is_stored() -> None:
    path, arguments = ConnectorWaitTrigger("a").serialize()
    assert path == "connect_core.dag.trigger.ConnectorWaitTrigger"
    assert ConnectorWaitTrigger(**arguments).connector == "a"


def test_first_scheduled_run_waits() -> None:
    assert not is_asked("scheduled", 1)

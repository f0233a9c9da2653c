"""What waits in the triggerer for work of an idle connector."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest

from connect_core.dag import trigger as triggers
from connect_core.dag.trigger import WorkTrigger


def test_trigger_can_be_made_again_from_what_is_stored() -> None:
    path, arguments = WorkTrigger("a").serialize()
    assert path == "connect_core.dag.trigger.WorkTrigger"
    assert WorkTrigger(**arguments).connector == "a"


def test_trigger_of_each_connector_is_another_one_for_airflow() -> None:
    hashes = [WorkTrigger.hash(*WorkTrigger(name).serialize()) for name in ("a", "b", "a")]
    assert [one == other for one, other in pairwise(hashes)] == [False, False]
    assert hashes[0] == hashes[2]


def test_trigger_gives_an_event_for_each_time_there_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class OneWatcher:
        """Has work twice, then none."""

        async def wait(self, connector: str) -> None:
            asked.append(connector)
            if len(asked) > 2:
                await asyncio.Event().wait()

    @asynccontextmanager
    async def shared() -> AsyncIterator[OneWatcher]:
        yield OneWatcher()

    monkeypatch.setattr(triggers, "shared_watcher", shared)

    async def run() -> list[object]:
        events = aiter(WorkTrigger("a").run())
        payloads: list[object] = [(await anext(events)).payload for _ in range(2)]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(events), 0.05)
        return payloads

    assert asyncio.run(run()) == [{"connector": "a"}] * 2
    assert asked == ["a"] * 3

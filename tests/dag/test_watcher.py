"""One watcher serves every wait."""

import asyncio
from datetime import UTC, datetime

import pytest

from connect_core.dag import watcher as watching
from connect_core.dag.watcher import Watcher
from connect_core.interval.waits import Check, WaitState
from tests.dag.watching import LONG, TICK, Harness, stays, watch

pytestmark = pytest.mark.slow


def test_wait_ends_when_a_sink_has_data() -> None:
    harness = Harness()
    harness.checks = {"a": WaitState(Check.SINK), "b": WaitState(Check.SINK)}

    async def body(watcher: Watcher) -> None:
        one, other = (asyncio.create_task(watcher.wait(name)) for name in "ab")
        assert await stays(one)
        harness.data = {"a"}
        await one
        assert await stays(other)
        assert ["a", "b"] in harness.batches
        other.cancel()

    watch(harness, body)


def test_wait_ends_at_once_when_work_is_unfinished() -> None:
    harness = Harness()
    harness.checks = {"a": WaitState(Check.NOW)}

    async def body(watcher: Watcher) -> None:
        await watcher.wait("a")

    watch(harness, body)


def test_wait_of_a_failed_connector_goes_on_until_it_is_restarted() -> None:
    harness = Harness()
    harness.checks = {"a": WaitState(Check.NEVER)}
    harness.data = {"a"}

    async def body(watcher: Watcher) -> None:
        wait = asyncio.create_task(watcher.wait("a"))
        assert await stays(wait)
        harness.checks = {"a": WaitState(Check.NOW)}
        await wait

    watch(harness, body)


def test_wait_of_a_deleted_connector_goes_on() -> None:
    async def body(watcher: Watcher) -> None:
        wait = asyncio.create_task(watcher.wait("gone"))
        assert await stays(wait)
        wait.cancel()

    watch(Harness(), body)


def test_wait_goes_on_while_a_run_holds_the_connector() -> None:
    harness = Harness()
    harness.data = {"a"}
    harness.checks = {"a": WaitState(Check.SINK, since_run=-5.0)}

    async def body(watcher: Watcher) -> None:
        wait = asyncio.create_task(watcher.wait("a"))
        assert await stays(wait)
        harness.checks = {"a": WaitState(Check.SINK, since_run=0.0)}
        await wait

    watch(harness, body)


def test_next_wait_ends_once_the_run_that_was_asked_for_is_over() -> None:
    harness = Harness()
    harness.data = {"a"}
    harness.checks = {"a": WaitState(Check.SINK, since_run=100.0)}

    async def body(watcher: Watcher) -> None:
        await watcher.wait("a")
        again = asyncio.create_task(watcher.wait("a"))
        assert await stays(again), "the run has not begun"
        harness.checks = {"a": WaitState(Check.SINK, since_run=-5.0)}
        assert await stays(again), "the run is under way"
        harness.checks = {"a": WaitState(Check.SINK, since_run=0.0)}
        await again

    watch(harness, body)


def test_next_wait_ends_when_the_run_that_was_asked_for_has_not_been_seen_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watching, "_START_SECONDS", 20 * TICK)
    harness = Harness()
    harness.data = {"a"}
    harness.checks = {"a": WaitState(Check.SINK)}

    async def body(watcher: Watcher) -> None:
        await watcher.wait("a")
        again = asyncio.create_task(watcher.wait("a"))
        assert await stays(again)
        await again

    watch(harness, body)


@pytest.mark.parametrize("is_seen", [True, False])
def test_next_wait_ends_though_the_dag_was_paused_before_its_run_was_made(is_seen: bool) -> None:
    harness = Harness()
    harness.data = {"a"}
    harness.checks = {"a": WaitState(Check.SINK)}

    async def body(watcher: Watcher) -> None:
        await watcher.wait("a")
        again = asyncio.create_task(watcher.wait("a"))
        if is_seen:
            harness.checks = {"a": WaitState(Check.NEVER)}
        assert await stays(again)
        if not is_seen:
            again.cancel()
            await asyncio.wait({again})
            again = asyncio.create_task(watcher.wait("a"))
        harness.checks = {"a": WaitState(Check.SINK)}
        await again

    watch(harness, body)


def test_next_wait_after_a_run_that_committed_asks_airflow_nothing() -> None:
    harness = Harness()
    harness.data = {"a"}
    harness.checks = {"a": WaitState(Check.SINK, since_run=0.0, committed_at=datetime(2026, 1, 1, tzinfo=UTC))}

    async def body(watcher: Watcher) -> None:
        await watcher.wait("a")
        harness.left_alone = {"a": 60.0}
        asked = len(harness.asked)
        harness.checks = {"a": WaitState(Check.SINK, since_run=0.0, committed_at=datetime(2026, 1, 2, tzinfo=UTC))}
        await watcher.wait("a")
        assert len(harness.asked) == asked

    watch(harness, body)


def test_hold_that_is_over_is_asked_about_again() -> None:
    harness = Harness()
    harness.data = {"a"}
    harness.checks = {"a": WaitState(Check.SINK)}
    harness.left_alone = {"a": 0.1}

    async def body(watcher: Watcher) -> None:
        wait = asyncio.create_task(watcher.wait("a"))
        await asyncio.sleep(5 * TICK)
        harness.left_alone = {"a": 0.2}
        assert await stays(wait, 12), "the run that had not ended has failed"
        harness.left_alone = {}
        await wait

    watch(harness, body)


def test_next_wait_is_held_back_when_the_run_that_was_asked_for_failed() -> None:
    harness = Harness()
    harness.data = {"a"}
    harness.checks = {"a": WaitState(Check.SINK)}

    async def body(watcher: Watcher) -> None:
        await watcher.wait("a")
        harness.left_alone = {"a": 0.3}
        harness.checks = {"a": WaitState(Check.SINK, since_run=0.0)}
        again = asyncio.create_task(watcher.wait("a"))
        assert await stays(again, 20)
        harness.left_alone = {}
        await again

    watch(harness, body)


def test_wait_of_a_polled_source_ends_after_its_interval() -> None:
    harness = Harness()
    harness.checks = {"a": WaitState(Check.POLL, poll_seconds=0.1), "b": WaitState(Check.POLL, poll_seconds=60)}

    async def body(watcher: Watcher) -> None:
        one, other = (asyncio.create_task(watcher.wait(name)) for name in "ab")
        await one
        assert await stays(other)
        other.cancel()

    watch(harness, body)


def test_a_plugin_that_ends_the_process_ends_no_wait_of_others() -> None:
    harness = Harness()
    harness.checks = {name: WaitState(Check.LATEST) for name in ("ending", "a")}

    async def body(watcher: Watcher) -> None:
        waits = [asyncio.create_task(watcher.wait(name)) for name in ("ending", "a")]
        await asyncio.sleep(20 * TICK)
        harness.data = {"a"}
        await waits[1]
        waits[0].cancel()

    watch(harness, body)


def test_wait_of_a_source_is_not_held_up_by_hanging_ones() -> None:
    harness = Harness()
    harness.hang.clear()
    names = [f"hanging-{number}" for number in range(3)]
    harness.checks = {name: WaitState(Check.LATEST) for name in (*names, "a")}
    harness.data = {"a"}

    async def body(watcher: Watcher) -> None:
        waits = [asyncio.create_task(watcher.wait(name)) for name in names]
        await watcher.wait("a")
        harness.data = set(names)
        harness.hang.set()
        await asyncio.gather(*waits)

    watch(harness, body)


def test_wait_is_held_back_while_runs_keep_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine an answer takes longer than data waits for one.
    monkeypatch.setattr("connect_core.dag.watcher._UNKNOWN_HOLD_TICKS", 1000)
    harness = Harness()
    harness.checks = {"a": WaitState(Check.SINK), "b": WaitState(Check.SINK)}
    harness.data = {"a", "b"}
    harness.left_alone = {"a": 0.3, "b": 60.0}

    async def body(watcher: Watcher) -> None:
        one, other = (asyncio.create_task(watcher.wait(name)) for name in "ab")
        assert await stays(one)
        del harness.left_alone["a"]
        await one
        assert await stays(other)
        # Blocked and no longer: it was restarted.
        harness.checks["b"] = WaitState(Check.NEVER)
        assert await stays(other)
        harness.checks["b"] = WaitState(Check.SINK)
        await other

    watch(harness, body)


def test_watcher_survives_an_outage() -> None:
    harness = Harness()
    harness.checks = {"a": WaitState(Check.NOW)}
    harness.broken = True

    async def body(watcher: Watcher) -> None:
        wait = asyncio.create_task(watcher.wait("a"))
        assert await stays(wait)
        harness.broken = False
        await wait

    watch(harness, body)


def test_watcher_serves_requests_without_any_wait() -> None:
    harness = Harness()

    async def body(watcher: Watcher) -> None:
        await asyncio.to_thread(harness.served.wait)

    watch(harness, body)


def test_waits_end_while_airflow_answers_nothing() -> None:
    harness = Harness()
    harness.answers = False
    harness.checks = {"a": WaitState(Check.SINK), "b": WaitState(Check.SINK), "c": WaitState(Check.NOW)}

    async def body(watcher: Watcher) -> None:
        one, other, due = (asyncio.create_task(watcher.wait(name)) for name in "abc")
        harness.data = {"a"}
        await asyncio.gather(one, due)
        assert await stays(other)
        harness.data = {"b"}
        await other
        assert harness.served.is_set()

    try:
        watch(harness, body)
    finally:
        harness.unresponsive.set()


def test_waits_of_many_connectors_are_asked_about_in_one_call() -> None:
    harness = Harness()
    names = sorted(f"c{number}" for number in range(300))
    harness.checks = {name: WaitState(Check.NOW) for name in names}

    async def body(watcher: Watcher) -> None:
        waits = [asyncio.create_task(watcher.wait(name)) for name in names]
        await asyncio.gather(*waits)
        assert harness.asked == [names]

    watch(harness, body)


def test_burst_of_new_connectors_starts_some_at_a_time_beside_one_with_data() -> None:
    harness = Harness()
    new = [f"new-{number:03}" for number in range(100)]
    harness.checks = {**{name: WaitState(Check.NOW) for name in new}, "busy": WaitState(Check.SINK)}
    harness.data = {"busy"}

    async def body(watcher: Watcher) -> None:
        waits = {name: asyncio.create_task(watcher.wait(name)) for name in new}
        await watcher.wait("busy")
        done, left = await asyncio.wait(waits.values(), timeout=20 * TICK)
        assert len(done) == 4, "the rest wait until these have started"
        started = [name for name, wait in waits.items() if wait in done]
        for name in started:
            harness.checks[name] = WaitState(Check.NEVER, since_run=0.0)
        again = [asyncio.create_task(watcher.wait(name)) for name in started]
        done, left = await asyncio.wait(left, timeout=20 * TICK)
        assert len(done) == 4
        for wait in (*left, *again):
            wait.cancel()

    watch(harness, body, starts_at_once=4)


def test_tasks_of_a_burst_of_new_connectors_are_assigned_without_a_run_and_a_few_at_a_time() -> None:
    harness = Harness()
    names = [f"new-{number:03}" for number in range(60)]
    harness.checks = dict.fromkeys(names, WaitState(Check.ASSIGN))

    async def body(watcher: Watcher) -> None:
        waits = [asyncio.create_task(watcher.wait(name)) for name in names]
        while len(harness.assigned) < len(names):
            await asyncio.sleep(TICK)
        assert await stays(waits[0])
        assert sorted(harness.assigned) == names, "each once"
        assert 1 < harness.most_assigning <= 8
        harness.data = {"new-007"}
        await waits[7]
        for wait in waits:
            wait.cancel()

    watch(harness, body)


def test_connector_whose_tasks_a_run_must_assign_gets_one_and_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watching, "_SLOW_SECONDS", 2 * TICK)
    monkeypatch.setattr(watching, "_HUNG_SECONDS", 4 * TICK)
    harness = Harness()
    harness.hang.clear()
    names = [*(f"hanging-{number}" for number in range(20)), "failing", "run", "well"]
    harness.checks = dict.fromkeys(names, WaitState(Check.ASSIGN))

    async def body(watcher: Watcher) -> None:
        waits = {name: asyncio.create_task(watcher.wait(name)) for name in names}
        done, left = await asyncio.wait(waits.values(), timeout=LONG / 2, return_when=asyncio.ALL_COMPLETED)
        assert [name for name, wait in waits.items() if wait in left] == ["well"]
        assert all(wait.exception() is None for wait in done)
        assert harness.checks["well"].check is Check.SINK
        waits["well"].cancel()

    try:
        watch(harness, body)
    finally:
        harness.hang.set()
